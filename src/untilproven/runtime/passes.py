"""The clean room: how often, and on which version of which file, a check must pass before it is believed.

First with the agent's version of everything. If that is green, with tests and their configuration as they were when
the loop began, and with a failing test planted that must be seen to fail. Where the checks were green all along, new
tests are also run on the code as it was: there they must fail.
"""

import contextlib
import re
import time
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from untilproven.checks.again import again
from untilproven.checks.canary import Canary, with_canary
from untilproven.checks.factory import line_of
from untilproven.checks.mixed import about_tests, can_be_about_tests
from untilproven.checks.protected import MARKS, Views, kinds_of, views_of
from untilproven.checks.reports.results import ERROR, PASSED, RED
from untilproven.checks.scripts import lines_of, scripts_in
from untilproven.checks.tests import TestsCheck
from untilproven.contract import Check, Evidence, Room
from untilproven.core import verdict
from untilproven.core.proof import lost
from untilproven.core.text import text
from untilproven.model.events import CheckFinished
from untilproven.process import beneath
from untilproven.runtime import checking
from untilproven.store.files import MIB

if TYPE_CHECKING:
    from untilproven.runtime.driver import Driver

_FLAKY = 20
"""If more tests than this fail that passed before, it is no matter of chance."""
_LISTED, _NAMED = 50, 5
_LARGEST = 4 * MIB
_HIDDEN = "no evidence: a failing test that was planted among the others was not reported as failing"
_DEEP = 3
_RECIPES = ("Makefile", "makefile", "GNUmakefile", "package.json")
_SELECTS = re.compile(r"::|\s(-k|-t|-run|--run|-g|--grep|--filter|--testNamePattern|--deselect)\b")
"""Signs of a line that runs only some of the tests it finds."""


class _Interrupted(Exception):
    """Somebody cannot wait, or the work is refused: what was found so far is no verdict."""


class Passes:
    """The checks of one iteration."""

    def __init__(self, driver: "Driver", iteration: int, names: tuple[str, ...], beside: "checking.Beside") -> None:
        self._driver = driver
        self._beside = beside
        self._iteration = iteration
        self._checks = [driver.cast.checks[name] for name in names]
        self._seconds = dict.fromkeys(names, 0.0)
        self._differing = driver.cast.workspace.since_start()
        allowance = driver.state.allowance
        self._edits = allowance.test_edits if allowance else ()
        self._may_install = bool(allowance and allowance.dependency_changes)
        self._marks = self._marks_above() if self._differing else frozenset()
        self._mixed = self._about_tests()
        self._lines = self._lines_run()
        self._views = self._views_with(installed=self._may_install)

    def run(self) -> None:
        """What is red is told at once; what is green is looked at closely, if all of it is."""
        with contextlib.suppress(_Interrupted):
            found = self._first()
            green = [check for check in self._checks if found[check.name].passed]
            for check in self._checks:
                if check not in green:
                    self._tell(check, found[check.name])
            for check in green:
                is_all = len(green) == len(self._checks)
                self._tell(check, self._believed(check, found[check.name]) if is_all else found[check.name])

    def _first(self) -> dict[str, Evidence]:
        """The agent's version of everything, but for what it installed."""
        room = self._room(self._views.first)
        found = {check.name: self._unless_flaky(check, room, self._run(check, room)) for check in self._checks}
        red = [check for check in self._checks if not found[check.name].passed]
        if red and self._views.dependencies and not self._may_install:
            # Only for want of what the agent installed? Then a human can allow it.
            room = self._room(self._views_with(installed=True).first)
            places = tuple(dict.fromkeys(path.partition("/")[0] for path in self._views.dependencies))
            for check in red:
                if self._run(check, room).passed:
                    found[check.name] = _only_with(found[check.name], places)
        return found

    def _believed(self, check: Check, found: Evidence) -> Evidence:
        """What is left of a green check when it is looked at closely."""
        held = self._views.second
        if not isinstance(check, TestsCheck):
            second = found if held is None else self._run(check, self._room(held))
            return found if second.passed else self._refused(second)
        canary = self._with_canary(check, self._views.first if held is None else held)
        state = self._state_of(check, canary)
        if state == "hidden":
            return Evidence(passed=False, output=_HIDDEN, canary=state)
        second = self._without_bystanders(check, canary, held)
        if canary.planted and not canary.seen:
            second = found if held is None else self._run(check, self._room(held))
        elif held is not None and second.passed and self._lost(check, second):
            second = self._run(check, self._room(held))  # a runner that stops at the first failure left some out
        if not second.passed or (held is not None and self._lost(check, second)):
            return replace(self._refused(second), canary=state)
        return replace(found, canary=state, new_tests=self._new_tests(check, found))

    def _without_bystanders(self, check: Check, canary: Canary, held: frozenset[str] | None) -> Evidence:
        """Some tests mind that there is one more file in the tree. Only those that mind it on the tree as it was, too,
        may: what fails with the canary alone could have seen it."""
        second = canary.evidence
        if second.passed or not canary.seen:
            return second
        red = {test.name for test in second.tests or () if test.outcome in RED}
        start = self._with_canary(check, frozenset(self._differing)).evidence
        if not red or not red <= {test.name for test in start.tests or () if test.outcome in RED}:
            return second
        if any(self._control(check).get(name) != PASSED for name in red):
            return second
        return self._run(check, self._room(self._views.first if held is None else held))

    def _refused(self, second: Evidence) -> Evidence:
        """Green at first, and not when it was run once more."""
        held = self._views.second
        if held is not None:
            protected = tuple(one.path for one in self._views.protected)
            return _only_with(second, protected or tuple(sorted(held - self._views.first)))
        output = f"it passed, and failed when it was run once more on the same tree\n{second.output}"
        return replace(second, passed=False, output=output)

    def _state_of(self, check: Check, canary: Canary) -> Literal["seen", "hidden", "impossible"]:
        """A canary that is not seen on the tree as it was either cannot be seen here at all."""
        if canary.seen:
            return "seen"
        if check.name in self._driver.without_canary:
            return "impossible"
        start = self._with_canary(check, frozenset(self._differing))
        if start.seen:
            return "hidden"
        if canary.planted and start.evidence.tests is None and not _SELECTS.search(check.name):
            return "hidden"  # the start could not be run, and a runner that looks at all its tests would see it
        self._driver.without_canary.add(check.name)
        return "impossible"

    def _new_tests(self, check: Check, found: Evidence) -> tuple[str, ...]:
        """Where nothing else can prove the work: tests that pass now and fail on the code as it was."""
        course, before = self._driver.course, self._control(check)
        asked = [planned.line for planned in course.plan.checks if planned.role == "until"]
        green_all_along = all(name in course.control and course.control[name].passed for name in asked)
        lap = course.lap or course.last
        claimed = lap is not None and verdict.claim(lap) is not None
        new = [test.name for test in found.tests or () if test.outcome == PASSED and test.name not in before]
        if not (green_all_along and claimed and new) or self._views.baseline is None:
            return ()
        ran = self._run(check, self._room(self._views.baseline))
        then = {test.name: test.outcome for test in ran.tests or ()}
        cannot_load = not ran.passed and ERROR in then.values()
        failing = [name for name in new if then.get(name, ERROR if cannot_load else PASSED) in RED]
        return tuple(failing[:_LISTED])

    def _unless_flaky(self, check: Check, room: Room, found: Evidence) -> Evidence:
        """Tests that passed before the work and fail now are run once more, by themselves if that can be done."""
        before = self._control(check)
        red = {test.name for test in found.tests or () if test.outcome in RED}
        if not isinstance(check, TestsCheck) or found.passed or not red or len(red) > _FLAKY:
            return found
        if any(before.get(name) != PASSED for name in red):
            return found
        with self._timed(check):
            passed = again(check, room, red, timeout=checking.timeout(self._driver, check.name)).passed
        if passed != red:
            return found
        tests = tuple(replace(test, outcome=PASSED) if test.name in red else test for test in found.tests or ())
        return replace(found, passed=True, tests=tests, flaky=tuple(sorted(red)))

    def _run(self, check: Check, room: Room) -> Evidence:
        with self._timed(check):
            return checking.look(self._driver, check, room)

    def _with_canary(self, check: Check, as_it_was: Collection[str]) -> Canary:
        room = self._room(as_it_was)
        with self._timed(check):
            return with_canary(check, room, timeout=checking.timeout(self._driver, check.name))

    @contextlib.contextmanager
    def _timed(self, check: Check) -> Iterator[None]:
        began = time.monotonic()
        yield
        self._seconds[check.name] += time.monotonic() - began
        if self._beside() or self._driver.wishes.current().now:
            raise _Interrupted

    def _tell(self, check: Check, found: Evidence) -> None:
        checking.tell(self._driver, self._iteration, check, replace(found, seconds=self._seconds[check.name]))

    def _room(self, as_it_was: Collection[str]) -> Room:
        supervision = replace(self._driver.supervision(), beside=self._beside)
        return self._driver.cast.workspace.checking(supervision, as_it_was)

    def _control(self, check: Check) -> dict[str, str]:
        control = self._driver.course.control.get(check.name)
        return (control.outcomes or {}) if control else {}

    def _lost(self, check: Check, found: Evidence) -> str:
        return lost(self._control(check), {test.name: test.outcome for test in found.tests or ()})

    def _views_with(self, *, installed: bool) -> Views:
        return views_of(
            self._differing,
            lines=self._lines,
            marks=self._marks,
            about_tests=self._mixed,
            allow_test_edits=self._edits,
            allow_dependency_changes=installed,
            had_tests=any(_could_tell(check) for check in self._driver.course.control.values()),
        )

    def _lines_run(self) -> list[str]:
        """The lines of the checks, and those of the scripts and recipes that they run, a few levels deep. What these
        said when the loop began counts: by what they say now, an agent could first hide what they call."""
        root = self._driver.cast.project.root
        lines = [line_of(check).replace(f"{root}/", "") for check in self._driver.course.plan.checks]
        seen: set[str] = set()
        new = lines
        for _ in range(_DEEP):
            called = {*scripts_in(new), *(path for path in _RECIPES if not seen)} - seen
            seen |= called
            texts = self._at_start(sorted(called))
            new = [line for path, text in texts.items() if text for line in lines_of(path, text)]
            lines = [*lines, *new]
        return lines

    def _at_start(self, paths: list[str]) -> dict[str, bytes | None]:
        root = self._driver.cast.project.root
        texts = {path: beneath.read(root, PurePosixPath(path), _LARGEST) for path in paths}
        if changed := [path for path in paths if path in self._differing]:
            before = self._room(changed)
            texts |= {path: before.read(PurePosixPath(path), _LARGEST) for path in changed}
        return texts

    def _about_tests(self) -> frozenset[str]:
        """Mixed files that say something else about tests than when the loop began."""
        kinds = kinds_of(self._differing)
        mixed = [path for path, kind in kinds.items() if kind == "mixed" and can_be_about_tests(path)]
        if not mixed:
            return frozenset()
        now, then = self._room(()), {}
        found = {path: now.read(PurePosixPath(path), _LARGEST) for path in mixed}
        before = self._room(mixed)
        then = {path: before.read(PurePosixPath(path), _LARGEST) for path in mixed}
        return frozenset(path for path in mixed if self._says_else(path, then[path], found[path]))

    def _says_else(self, path: str, then: bytes | None, now: bytes | None) -> bool:
        """What is there and cannot be read, a link for one, may say anything."""
        differs = self._differing[path]
        if (then is None and differs.was_there) or (now is None and differs.is_there):
            return True
        return about_tests(path, then) != about_tests(path, now)

    def _marks_above(self) -> frozenset[str]:
        """What marks a directory as a tool's own, above anything that differs."""
        root = self._driver.cast.project.root
        above = {parent for path in self._differing for parent in PurePosixPath(path).parents} - {PurePosixPath()}
        there = {str(one / mark) for one in above for mark in MARKS if (root / one / mark).is_file()}
        return frozenset(there | {path for path in self._differing if path.endswith(MARKS)})


def _could_tell(control: CheckFinished) -> bool:
    """Whether a check had anything to say before the work."""
    return not control.broken and (control.kind != "tests" or bool(control.outcomes))


def _only_with(found: Evidence, paths: tuple[str, ...]) -> Evidence:
    named = tuple(text(path) for path in paths)
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    why = f"it passes only with the agent's version of {', '.join(named[:_NAMED])}{more}, which was to stay as it was"
    return replace(found, passed=False, only_with=named[:_LISTED], output=f"{why}\n{found.output}")
