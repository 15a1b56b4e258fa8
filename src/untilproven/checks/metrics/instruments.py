"""The type checkers and linters that a project uses: which they are, and what they say."""

import shlex
from collections.abc import Collection

import msgspec

from untilproven.checks import ending
from untilproven.checks.metrics.tools import go, javascript, python, rust
from untilproven.checks.metrics.tools.tool import Counts, Kind, Tool
from untilproven.checks.metrics.tools.tree import Tree
from untilproven.checks.metrics.unmeasured import Unmeasured, because
from untilproven.checks.reports.results import Unreadable
from untilproven.contract import Exchange, Room
from untilproven.errors import Damaged, Foreign
from untilproven.store import files

_TOOLS = {tool.name: tool for tool in (*python.TOOLS, *javascript.TOOLS, *rust.TOOLS, *go.TOOLS)}
_OF_THE_PROJECT = (".venv/bin", "venv/bin", "node_modules/.bin")
_LOOK = 30.0
_OFFLINE = {
    "CARGO_NET_OFFLINE": "true",
    "GOPROXY": "off",
    "GOTOOLCHAIN": "local",
    "npm_config_offline": "true",
    "PIP_NO_INDEX": "1",
}
_CACHES = {"CARGO_TARGET_DIR": "target", "GOLANGCI_LINT_CACHE": "golangci-lint"}
"""For tools that are told by a variable to keep theirs in the scratch directory."""


class Instrument(msgspec.Struct, frozen=True):
    name: str
    kind: Kind
    command: tuple[str, ...]


def find_instruments(room: Room) -> tuple[Instrument, ...]:
    """Decided once, on the tree as it was at the start: what an agent configures later measures nothing."""
    tree = Tree(room)
    used = [tool for tool in _TOOLS.values() if tool.is_used(tree)]
    found = _programs(room, used) if used else {}
    return tuple(
        Instrument(tool.name, tool.kind, (found[tool.program], *tool.words(tree)))
        for tool in used
        if tool.program in found and (not tool.needs or tool.needs in found)
    )


def _programs(room: Room, used: Collection[Tool]) -> dict[str, str]:
    """Where each program is: in the project's own environment, or else wherever a shell in the room finds it."""
    names = sorted({name for tool in used for name in (tool.program, tool.needs) if name})
    places = [(name, f"{place}/{name}") for place in _OF_THE_PROJECT for name in names]
    asked = room.run(
        f"for path in {shlex.join(path for _, path in places)}; do test -f $path && test -x $path && echo $path; done\n"
        f"for name in {shlex.join(names)}; do command -v $name >/dev/null && echo $name; done\ntrue",
        timeout=_LOOK,
    )
    there = set(asked.output.splitlines())
    found = {name: name for name in names if name in there}
    return found | {name: path for name, path in reversed(places) if path in there}


def take(instrument: Instrument, room: Room, scratch: Exchange, *, timeout: float) -> Counts | Unmeasured:
    """Ask one instrument. Its answer goes to a file, because what a room keeps of an output has its middle cut out."""
    tool = _TOOLS[instrument.name]
    answer = f"{instrument.name.replace(' ', '-')}.answer"
    line = f"{shlex.join(instrument.command)} >{shlex.quote(str(scratch.inside / answer))}"
    caches = {variable: str(scratch.inside / name) for variable, name in _CACHES.items()}
    ran = room.run(f"{line} 2>&1" if tool.on_stderr else line, timeout=timeout, env={**_OFFLINE, **caches})
    try:
        report = files.read(scratch.outside / answer)
    except (OSError, Damaged, Foreign):
        report = b""
    if ran.not_started:
        return because(f"{tool.name} cannot be run: {ran.not_started}")
    if ran.exit_code not in tool.answers:
        said = ran.output.strip() or report.decode("utf-8", "replace")
        return because(f"{tool.name} {ending.why_not(ran, timeout)}: {said}")
    try:
        counts = tool.read(report)
    except Unreadable as unreadable:
        return because(f"{tool.name}: {unreadable}")
    failing = {"errors": counts.errors, "anything": counts.errors + counts.warnings, "nothing": 0}[tool.fails_on]
    if bool(failing) != bool(ran.exit_code):
        return because(f"{tool.name} exited with {ran.exit_code} and names {failing} problems")
    return counts
