"""`.claude/ralph-loop.local.md`: the loop that Claude Code's own plugin was given. It becomes one task."""

import re
from pathlib import PurePath

from msgspec import UNSET

from untilproven.core.naming import quoted
from untilproven.model.task import Origin, Task, TaskLimits
from untilproven.queue.formats import node, plain_yaml
from untilproven.queue.formats.contract import Imported, Misread

NAME = "claude-loop"
ABOUT = ".claude/ralph-loop.local.md"
_TITLE_LENGTH = 100
_WHOLE = re.compile(r"\ufeff?---[ \t]*\r?\n(?P<head>[\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)(?P<body>[\s\S]*)")


def recognises(path: PurePath, text: str) -> bool:
    return path.name == "ralph-loop.local.md" or bool(
        re.match(r"\ufeff?---\r?\n(?:[\w-]+:.*\r?\n)*completion_promise:", text)
    )


def read(text: str) -> Imported:
    whole = _WHOLE.fullmatch(text)
    if not whole:
        raise Misread("it does not begin with settings between two lines of ---")
    try:
        head = plain_yaml.parse(whole["head"])
        most, promise = node.number(head, "max_iterations") or 0, node.text(head, "completion_promise")
    except Misread as wrong:
        raise Misread(wrong.why, wrong.line + 1) from None
    body = whole["body"].replace("\r\n", "\n").strip()
    if not body:
        raise Misread("there is no prompt under its settings", text.count("\n") + 1)
    first = " ".join(body.split("\n")[0].lstrip("# ").split())
    claim = f"its promise {quoted(promise)} is a claim of the agent, and proves nothing here"
    return Imported(
        tasks=(
            Task(
                id="loop",
                title=first[:_TITLE_LENGTH] or "The loop of Claude Code",
                description=body,
                limits=TaskLimits(max_iterations=int(most)) if most >= 1 else UNSET,
                source=Origin(type="spec", line=1),
            ),
        ),
        warnings=(claim,) if promise else (),
    )
