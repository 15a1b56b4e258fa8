"""A failing test that is planted into a run: only who reports it can be believed about the others.

It tells a runner that reports from one that was made silent: by a hook, by a module that ends the process or rewrites
results, by a report that was written beforehand. What only the exit code says, such as a threshold of coverage, is not
seen in a run with a canary, and what it prints is not for the agent: a plain run comes first.
"""

import secrets
from collections.abc import Callable
from importlib import import_module

import msgspec

from untilproven.checks import ending
from untilproven.checks.plants.plant import Plant
from untilproven.checks.reported import Reported, reported
from untilproven.checks.reports.results import FAILED
from untilproven.checks.runners.known import way_of
from untilproven.checks.runners.reporting import Call
from untilproven.checks.tests import TestsCheck, judged
from untilproven.contract import Check, Evidence, Room

_PLANTS = {
    "pytest": "python:pytest",
    "py.test": "python:pytest",
    "unittest": "python:unittest",
    "go": "compiled:go",
    "cargo": "compiled:cargo",
    "jest": "javascript:jest",
    "vitest": "javascript:vitest",
    "mocha": "javascript:mocha",
    "node": "javascript:node",
}
_NOT_READ = "results are not read test by test"
_SECONDS = 30.0
_PUT = """
set -Cu
umask 022
here=$(pwd -P)
if [ "$1" != . ]; then
    if [ -n "$4" ] && ! [ -e "$1" ] && ! [ -h "$1" ]; then command -p mkdir -- "$1" || exit 3; fi
    cd -P -- "$1" || exit 3
    [ "$(pwd -P)" = "$here/$1" ] || exit 4
fi
printf %s "$3" > "$2"
"""
"""Nothing but what the shell does itself, and what the system has: no program of the tree is asked."""
_TAKE_AWAY = 'command -p rm -f -- "$1"; [ -z "$2" ] || command -p rmdir -- "$2"'


class Canary(msgspec.Struct, frozen=True, kw_only=True):
    """A run with a canary. Where none could be planted, it is a run without, and `why` says so."""

    evidence: Evidence
    """Without the canary's own result. One that was planted and not seen to fail makes it no success."""
    planted: bool
    seen: bool = False
    why: str = ""


def with_canary(check: Check, room: Room, *, timeout: float) -> Canary:
    """Run a check with one more test that must fail; for rooms whose tree is thrown away."""
    plant = _plant_for(check, room)
    if isinstance(plant, str) or not isinstance(check, TestsCheck):
        return Canary(evidence=check.run(room, timeout=timeout), planted=False, why=str(plant))
    makes = plant.makes_directory and not room.find(f"{plant.path.parent}/**")
    if why := _put(room, plant):
        return Canary(evidence=check.run(room, timeout=timeout), planted=False, why=why)
    try:
        found = reported(check.line, room, timeout=timeout, also=plant.also)
    finally:
        above = str(plant.path.parent) if makes else ""
        room.run(["/bin/sh", "-c", _TAKE_AWAY, "sh", f"./{plant.path}", above], timeout=_SECONDS)
    if found is None:
        return Canary(evidence=check.run(room, timeout=timeout), planted=False, why=_NOT_READ)
    if broken := ending.could_not_run(room, check.line, found.ran):
        return Canary(evidence=broken, planted=True, why="the check could not be run")
    return _judged(check, found, plant, timeout)


def _plant_for(check: Check, room: Room) -> Plant | str:
    """Or why there can be none."""
    way = way_of(check.line, room) if isinstance(check, TestsCheck) else None
    if way is None:
        return _NOT_READ
    where = _PLANTS.get(way.call.runner)
    if where is None:
        return f"nothing is known of how {way.call.runner} finds its tests"
    module, _, name = where.partition(":")
    plant: Callable[[Call, str], Plant | None] = getattr(import_module(f"untilproven.checks.plants.{module}"), name)
    made = plant(way.call, secrets.token_hex(6))
    if made is None:
        return "it cannot be told where this line looks for tests"
    if way.manager and not made.also.without.isdisjoint(way.call.arguments):
        return "the script that the line names ends at the first failure"
    return made


def _put(room: Room, plant: Plant) -> str:
    """Why it could not be planted; empty if it was."""
    parent, name = str(plant.path.parent), plant.path.name
    may_make = "yes" if plant.makes_directory else ""
    ran = room.run(["/bin/sh", "-c", _PUT, "sh", parent, f"./{name}", plant.content, may_make], timeout=_SECONDS)
    found = room.look(plant.path)
    if ran.exit_code == 0 and found and found.st_size == len(plant.content.encode()):
        return ""
    if ran.exit_code == 4:
        return f"a link is on the way to {parent}"
    return f"nothing can be written to {parent}"


def _judged(check: TestsCheck, found: Reported, plant: Plant, timeout: float) -> Canary:
    ours = [test for test in found.tests or () if test.name.endswith(plant.test)]
    others = tuple(test for test in found.tests or () if test not in ours)
    found = msgspec.structs.replace(found, tests=None if found.tests is None else others)
    if [test.outcome for test in ours] != [FAILED]:
        how = f"was reported as {ours[0].outcome}" if ours else found.unread or "is not in the report"
    elif found.ran.exit_code == 0:
        how = "was reported, and still the runner exited with 0"
    else:
        silent = msgspec.structs.replace(found, ran=msgspec.structs.replace(found.ran, output=""), printed="")
        evidence = judged(silent, check.grep, timeout, discounted=found.ran.exit_code in plant.exits)
        return Canary(evidence=evidence, planted=True, seen=True)
    output = f"no evidence: a test that was planted to fail {how}\n{found.printed}{found.ran.output}"
    evidence = Evidence(passed=False, output=output, seconds=found.ran.seconds, tests=found.tests)
    return Canary(evidence=evidence, planted=True, why=how)
