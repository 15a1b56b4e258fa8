"""From a line to the runner it ends in, and to the line that makes that runner report."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path, PurePosixPath

import msgspec

from untilproven.checks import line as lines
from untilproven.checks.runners import scripts
from untilproven.checks.runners.reporting import Also, Call, Reporting, apply, text_in
from untilproven.checks.wrappers import base, program_at
from untilproven.contract import Exchange, Room

_RUNNERS: dict[str, str] = {
    "pytest": "pytest:reporting",
    "py.test": "pytest:reporting",
    "unittest": "pyunit:reporting",
    "go": "gotest:reporting",
    "cargo": "cargo:reporting",
    "jest": "jest:reporting",
    "vitest": "jest:vitest",
    "mocha": "mocha:reporting",
    "node": "node:reporting",
    "mvn": "java:maven",
    "mvnw": "java:maven",
    "gradle": "java:gradle",
    "gradlew": "java:gradle",
    "ctest": "others:ctest",
    "rspec": "others:rspec_",
    "phpunit": "others:phpunit",
    "dotnet": "others:dotnet",
}
"""Where each is asked; only the one that is used is loaded."""

_RUNS_NOTHING = frozenset({"--no-run", "--collect-only", "--co", "--list", "--listTests", "--help", "--version"})
_NOWHERE = Exchange(Path("/dev/null"), Path("/dev/null"))  # nothing lies beneath it


class Asked(msgspec.Struct, frozen=True):
    """A line that makes its runner report, and how."""

    line: str
    reporting: Reporting


class Way(msgspec.Struct, frozen=True):
    """From a line to the runner that it ends in: at once, or by the script of a package manager."""

    line: lines.Line
    call: Call
    manager: str = ""


def is_test_runner(text: str) -> bool:
    """Whether a line ends in a program that is there to run tests."""
    line = lines.read(text)
    if line is None:
        return False
    words = tuple(word.text for word in line.words)
    if scripts.script_named(words[lines.after_assignments(words) :]):
        return True
    call = _call(line)
    return call is not None and _reporting(call, _NOWHERE) is not None


def way_of(text: str, room: Room) -> Way | None:
    """None if the line, or the script that it names, ends in something unknown."""
    line = lines.read(text)
    if line is None:
        return None
    there = _inside(line.directory)
    words = tuple(word.text for word in line.words)
    first = lines.after_assignments(words)
    name = scripts.script_named(words[first:])
    if not name:
        call = _call(line, room, there)
        return Way(line, call) if call else None
    inner = lines.read(scripts.scripts(text_in(room, there / "package.json")).get(name, ""))
    call = _call(inner, room, there / _inside(inner.directory)) if inner else None
    return Way(line, call, base(words[first])) if call else None


def ask(text: str, room: Room, scratch: Exchange, also: Also = Also()) -> Asked | None:  # noqa: B008  immutable
    """None for a runner that cannot be asked: a script that ends in something unknown."""
    way = way_of(text, room)
    asked = _reporting(way.call, scratch) if way else None
    if way is None or asked is None or (way.manager and not asked.only_adds):
        return None
    asked = asked.with_also(also)
    if not way.manager:
        return Asked(apply(way.call, asked), asked)
    line = way.line
    start = line.words[0].start
    return Asked(line.text[:start] + scripts.passed_on(line.text[start:], way.manager, asked.last, asked.before), asked)


def _reporting(call: Call, scratch: Exchange) -> Reporting | None:
    if _RUNS_NOTHING.intersection(call.arguments):
        return None
    module, _, name = _RUNNERS[call.runner].partition(":")
    asking: Callable[[Call, Exchange], Reporting | None] = getattr(
        import_module(f"untilproven.checks.runners.{module}"), name
    )
    return asking(call, scratch)


def _call(line: lines.Line, room: Room | None = None, directory: PurePosixPath = PurePosixPath()) -> Call | None:  # noqa: B008  immutable
    words = [word.text for word in line.words]
    at = program_at(words)
    if at is None:
        return None
    if base(words[at]) in {"yarn", "pnpm"} and at + 1 < len(words):
        at += 1
    return Call(line, at, room, directory) if base(words[at]) in _RUNNERS else None


def _inside(directory: str) -> PurePosixPath:
    named = PurePosixPath(directory)
    return PurePosixPath() if named.is_absolute() or ".." in named.parts else named
