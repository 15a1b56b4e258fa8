"""`report.md`."""

import re
from collections.abc import Iterable, Sequence

from untilproven.watch.console.lines import first_line, one_line
from untilproven.watch.report import figures
from untilproven.watch.report.material import Material

_MEANS_SOMETHING = re.compile(r"([\\`*_{}\[\]<>|~#&!])")


def markdown(material: Material) -> str:
    parts = [
        f"# {safe(material.state.loop_id)}",
        safe(first_line(material.state.task or "")),
        table(("What", "Said"), material.words),
        "## In numbers",
        table(("What", "Value"), figures.summary(material.analytics)),
        "## Iterations",
        table(figures.HEAD, rows) if (rows := figures.rows(material)) else "None has finished.",
    ]
    if earlier := figures.left_out(material):
        parts.append(f"{earlier} earlier iterations are in analytics.json.")
    for heading, lines in figures.story(material):
        parts += [f"## {heading}", "\n".join(f"- {safe(line)}" for line in lines)]
    return "\n\n".join(part for part in parts if part) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([safe(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def safe(raw: str) -> str:
    """Text from outside as one line in which nothing means anything to Markdown."""
    return _MEANS_SOMETHING.sub(r"\\\1", one_line(raw))
