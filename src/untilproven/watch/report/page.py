"""`report.html`: one file that needs no network and runs no script."""

from collections.abc import Iterable, Sequence
from html import escape

from msgspec import UNSET, UnsetType

from untilproven.model.analytics import IterationAnalytics
from untilproven.model.fields import Severity
from untilproven.watch.console.lines import first_line, one_line
from untilproven.watch.report import figures, plots
from untilproven.watch.report.material import Material
from untilproven.watch.report.style import STYLE

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_NUMBERS = frozenset({"Iteration", "Quality", "Tests", "Time", "Cost", "Tokens"})


def page(material: Material) -> str:
    title = _safe(material.state.loop_id)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p class="task">{_safe(first_line(material.state.task or ""))}</p>
<p><span class="status {_safe(material.state.status)}">{_safe(material.state.status)}</span></p>
</header>
<main>
<div class="pair">
<section><h2>In words</h2>{_pairs(material.words)}</section>
<section><h2>In numbers</h2>{_pairs(figures.summary(material.analytics))}</section>
</div>
<section><h2>By iteration</h2><div class="plots">{"".join(_plots(material.analytics.iterations))}</div></section>
<section><h2>Iterations</h2>{_iterations(material)}</section>
{"".join(_listed(heading, lines) for heading, lines in figures.story(material))}
</main>
<footer>untilproven, {material.made_at:%Y-%m-%d %H:%M} UTC</footer>
</body>
</html>
"""


def _plots(iterations: Sequence[IterationAnalytics]) -> list[str]:
    return [
        plots.line("Quality, of 100", _points(iterations, "quality_score"), top=100),
        plots.bars("Tests", ("passed", "failed"), _points(iterations, "tests_passed", "tests_failed"), add=False),
        plots.bars("Cost in dollars", ("cost",), _points(iterations, "token_cost_usd"), money=True),
        plots.bars("Findings of the guard", tuple(Severity), [_found(one) for one in iterations]),
    ]


def _points(iterations: Sequence[IterationAnalytics], *names: str) -> list[plots.Point]:
    return [
        plots.Point(str(one.iteration_number), tuple(_known(getattr(one, name)) for name in names))
        for one in iterations
    ]


def _found(one: IterationAnalytics) -> plots.Point:
    counts = [None if one.findings is UNSET else one.findings.get(severity, 0) for severity in Severity]
    return plots.Point(str(one.iteration_number), tuple(counts))


def _known(value: float | UnsetType) -> float | None:
    return None if value is UNSET else value


def _iterations(material: Material) -> str:
    rows = figures.rows(material)
    if not rows:
        return '<p class="none">None has finished.</p>'
    head = "".join(f'<th scope="col"{_aligned(name)}>{name}</th>' for name in figures.HEAD)
    body = "".join(f"<tr{_marked(row)}>{_cells(row)}</tr>\n" for row in rows)
    earlier = figures.left_out(material)
    note = f"<p>{earlier} earlier iterations are in analytics.json.</p>" if earlier else ""
    return f'{note}<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cells(row: Sequence[str]) -> str:
    named = zip(figures.HEAD, row, strict=True)
    return "".join(f"<td{_aligned(name)}>{_safe(cell)}</td>" for name, cell in named)


def _aligned(name: str) -> str:
    return ' class="number"' if name in _NUMBERS else ""


def _marked(row: Sequence[str]) -> str:
    return "" if row[figures.HEAD.index("Fate")] == "kept" else ' class="dropped"'


def _pairs(lines: Iterable[tuple[str, str]]) -> str:
    told = "".join(f"<dt>{_safe(label)}</dt><dd>{_safe(text)}</dd>" for label, text in lines)
    return f"<dl>{told}</dl>" if told else ""


def _listed(heading: str, lines: Sequence[str]) -> str:
    items = "".join(f"<li>{_safe(line)}</li>\n" for line in lines)
    return f"<section><h2>{heading}</h2><ul>{items}</ul></section>\n"


def _safe(raw: str) -> str:
    """Text from outside: one line, without control characters, in which nothing is markup."""
    return escape(one_line(raw))
