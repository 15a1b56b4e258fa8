"""Variables by which a tool that verifies is told to do less, set where commands are run."""

import re
import shlex
from collections.abc import Iterator

from untilproven.guard.comparison import Comparison, Side
from untilproven.guard.finding import Signal
from untilproven.guard.signals.commands import Command
from untilproven.guard.signals.documents import line_of
from untilproven.guard.signals.verifiers import Check
from untilproven.guard.signals.weakening import narrowed, verifies_nothing

_TOOLS = {"PYTEST_ADDOPTS": "pytest", "GOFLAGS": "go test", "MAVEN_ARGS": "mvn test", "MAVEN_OPTS": "mvn test"}
_SET = re.compile(
    rf"(?m)\b({'|'.join(_TOOLS)})\b['\"]?\]?[ \t]*[:?+]*[=:][ \t]*(\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'][^\n]*)"
)
_ARE_RUN = frozenset({"ci", "configuration", "mixed", "script"})


def environment(comparison: Comparison) -> Iterator[Signal]:
    pairs = [
        pair for pair in comparison.pairs if pair.kind in _ARE_RUN or pair.path.endswith((".sh", ".bash", "justfile"))
    ]
    known = {told for pair in pairs for told in _told(pair.before)}
    for pair in pairs:
        for name, less, nothing in _told(pair.after) if pair.before and pair.after else ():
            if (name, less, nothing) not in known:
                explained = () if nothing else ("on-condition",)
                line = line_of(pair.after.text if pair.after else "", name)
                yield Signal("collection-narrowed", pair.path, line, name, was="", now=less, explained=explained)


def _told(side: Side | None) -> Iterator[tuple[str, str, bool]]:
    """The variable, what is left out by it, and whether that is everything."""
    for name, value in _SET.findall(side.text) if side else ():
        tool = _TOOLS[name]
        was, now = (Check("tests", tool, _command(tool, words)) for words in ([], _words(value)))
        if nothing := verifies_nothing(now):
            yield name, nothing, True
        elif less := narrowed(was, now):
            yield name, less, False


def _command(tool: str, words: list[str]) -> Command:
    return Command((*tool.split(), *words), 0, is_swallowed=False)


def _words(value: str) -> list[str]:
    plain = value[1:-1] if value[0] in "\"'" else value
    try:
        return shlex.split(plain)
    except ValueError:
        return plain.split()
