"""From a line to the runner it ends in, and to the line that makes that runner report."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path, PurePosixPath

import msgspec

from untilproven.checks import line as lines
from untilproven.checks.runners import scripts
from untilproven.checks.runners.reporting import Call, Reporting, apply
from untilproven.checks.wrappers import base, program_at

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
_NOWHERE = Path("/dev/null")  # nothing lies beneath it


class Asked(msgspec.Struct, frozen=True):
    """A line that makes its runner report, and how."""

    line: str
    reporting: Reporting


def is_test_runner(text: str) -> bool:
    """Whether a line ends in a program that is there to run tests."""
    line = lines.read(text)
    if line is None:
        return False
    words = tuple(word.text for word in line.words)
    if scripts.script_named(words[lines.after_assignments(words) :]):
        return True
    call = _call(line, _NOWHERE)
    return call is not None and _reporting(call, _NOWHERE) is not None


def ask(text: str, root: Path, scratch: Path) -> Asked | None:
    """None for a runner that cannot be asked: a script that ends in something unknown."""
    line = lines.read(text)
    if line is None:
        return None
    there = root / _inside(line.directory)
    words = tuple(word.text for word in line.words)
    first = lines.after_assignments(words)
    if name := scripts.script_named(words[first:]):
        return _ask_script(line, words[first], scripts.scripts(there).get(name, ""), there, scratch)
    call = _call(line, there)
    asked = _reporting(call, scratch) if call else None
    return Asked(apply(call, asked), asked) if call and asked else None


def _ask_script(line: lines.Line, manager: str, script: str, there: Path, scratch: Path) -> Asked | None:
    inner = lines.read(script)
    call = _call(inner, there) if inner else None
    asked = _reporting(call, scratch) if call else None
    if asked is None or not asked.only_adds:
        return None
    start = line.words[0].start
    return Asked(
        line.text[:start] + scripts.passed_on(line.text[start:], base(manager), asked.last, asked.before), asked
    )


def _reporting(call: Call, scratch: Path) -> Reporting | None:
    if _RUNS_NOTHING.intersection(call.arguments):
        return None
    module, _, name = _RUNNERS[base(call.line.words[call.at].text)].partition(":")
    asking: Callable[[Call, Path], Reporting | None] = getattr(
        import_module(f"untilproven.checks.runners.{module}"), name
    )
    return asking(call, scratch)


def _call(line: lines.Line, root: Path) -> Call | None:
    words = [word.text for word in line.words]
    at = program_at(words)
    if at is None:
        return None
    if base(words[at]) in {"yarn", "pnpm"} and at + 1 < len(words):
        at += 1
    return Call(line, at, root) if base(words[at]) in _RUNNERS else None


def _inside(directory: str) -> str:
    named = PurePosixPath(directory)
    return "." if named.is_absolute() or ".." in named.parts else directory
