"""Running the checks of an iteration, and saying what came of them."""

import contextlib
import select
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from untilproven.checks.ending import missing_inside
from untilproven.contract import Check, Evidence, Room
from untilproven.core import evidence
from untilproven.core.course import verdict_on
from untilproven.core.decide import remaining
from untilproven.errors import Busy
from untilproven.model.events import CheckFinished
from untilproven.model.program import Stop
from untilproven.store.lock import FileLock

if TYPE_CHECKING:
    from untilproven.runtime.driver import Driver

SECONDS = 600.0
"""How long a check may take, unless the user says otherwise or its control took long."""

_TIMES_CONTROL = 5.0
GRACE = 10.0
Beside = Callable[[], Stop | None]
"""What is done while a check runs, once, however often it is called; it may know why the check is not worth its end."""

_LOCK = "checks.lock"
_NAP = 0.1


def run(driver: "Driver", iteration: int, names: tuple[str, ...], beside: Beside | None = None) -> None:
    """One after the other; one that was interrupted leaves no word.

    With something to be done beside the first of them, they are only run if that can begin at once.
    """
    known = _known(driver, iteration, names)
    if known and beside:
        return
    if known:
        driver.record(*known)
    names = tuple(name for name in names if name not in {check.check for check in known})
    if not names:
        return
    with _alone(driver, waits=beside is None) as alone:
        if alone:
            _run(driver, iteration, names, beside or _nothing)


def _nothing() -> None:
    """There is nothing to be done beside a check."""


@contextlib.contextmanager
def _alone(driver: "Driver", *, waits: bool) -> Iterator[bool]:
    """While no other loop of this repository runs checks; False if somebody could not wait for that."""
    lock = FileLock(driver.writer.directory.path / _LOCK, timeout=0, what="checks of this repository")
    poll = select.poll()
    for fd in driver.wishes.fds:
        poll.register(fd, select.POLLIN)
    while True:
        with contextlib.suppress(Busy):
            lock.acquire()
            break
        if not waits or driver.hurry():
            yield False
            return
        poll.poll(_NAP * 1000)
    try:
        yield True
    finally:
        lock.release()


def _run(driver: "Driver", iteration: int, names: tuple[str, ...], beside: Beside) -> None:
    if iteration and driver.cast.workspace.can_discard:
        from untilproven.runtime.passes import Passes  # noqa: PLC0415  not loaded before the agent's first turn

        Passes(driver, iteration, names, beside).run()
        return
    room = driver.cast.workspace.checking(driver.supervision())
    for name in names:
        check = driver.cast.checks[name]
        found = look(driver, check, room)
        if driver.wishes.current().now:
            return
        tell(driver, iteration, check, found)


def look(driver: "Driver", check: Check, room: Room) -> Evidence:
    """Run a check in a room, and see what the tests in it covered, if it left word of that."""
    began = time.time()
    found = check.run(room, timeout=timeout(driver, check.name))
    if found.tests and driver.course.plan.measure:
        from untilproven.checks.metrics.coverage import Coverage, find_coverage  # noqa: PLC0415  only where tests are told apart

        covered = find_coverage(room, began)
        if isinstance(covered, Coverage) or driver.gauges.coverage is None:
            driver.gauges.coverage = covered
    return found


def tell(driver: "Driver", iteration: int, check: Check, found: Evidence) -> None:
    """Record what a check found."""
    control = _without_allowed(driver, driver.course.control.get(check.name))
    broken = found.broken or _cannot_work(control, found)
    driver.record(evidence.finished(iteration, check, found, control, broken=broken))


def _without_allowed(driver: "Driver", control: CheckFinished | None) -> CheckFinished | None:
    """Tests that the user allowed to be changed need not be there any more."""
    allowed = driver.state.allowance.test_edits if driver.state.allowance else ()
    if not allowed or control is None or not control.outcomes:
        return control
    from untilproven.checks.protected import is_allowed  # noqa: PLC0415  few loops are given any

    kept = {name: ended for name, ended in control.outcomes.items() if not is_allowed(_file_of(name), allowed)}
    return replace(control, outcomes=kept)


def _file_of(test: str) -> str:
    """The file that a test is in, where its name says so: `tests/test_a.py::test_b`, `tests.test_a.Case.test_b`."""
    if "::" in test:
        return test.partition("::")[0]
    parts = test.split(".")
    at = next((at for at, part in enumerate(parts) if part.startswith("test")), 0)
    while at + 1 < len(parts) and parts[at] == "tests":
        at += 1
    return "/".join(parts[: at + 1]) + ".py"


def _known(driver: "Driver", iteration: int, names: tuple[str, ...]) -> list[CheckFinished]:
    """A verdict on a tree is not computed twice: in a room nothing else can have changed, and whoever asks a flaky
    check often enough gets the answer he wants."""
    lap = driver.course.lap
    tree = (lap.observed.tree or "") if lap and lap.observed and lap.number == iteration else ""
    if not tree or not driver.cast.workspace.can_discard:
        return []
    found = [verdict_on(driver.course, tree, name) for name in names]
    return [replace(one, iteration=iteration, same_as=one.same_as or one.iteration) for one in found if one]


def timeout(driver: "Driver", name: str) -> float:
    """How long this check may take now."""
    control = driver.course.control.get(name)
    return min(_allowed(driver, control), _left(driver, control))


def _allowed(driver: "Driver", control: CheckFinished | None) -> float:
    given = driver.course.plan.check_timeout_seconds
    if given:
        return given
    return max(SECONDS, _TIMES_CONTROL * ((control.duration_seconds or 0.0) if control else 0.0))


def _left(driver: "Driver", control: CheckFinished | None) -> float:
    """What the loop's time limit leaves. Work that is done when time is up may still be shown to be: a check gets as
    long as it took before the work, and a little more."""
    left, lap = remaining(driver.state).seconds, driver.course.lap
    if left is None:
        return float("inf")
    if lap and lap.observed:
        left -= (lap.observed.duration_seconds or 0.0) + sum(one.duration_seconds or 0.0 for one in lap.checks.values())
    before = (control.duration_seconds or 0.0) if control else 0.0
    return max(left, GRACE + 2 * before if driver.course.lap else left, 0.001)


def _cannot_work(control: CheckFinished | None, found: Evidence) -> bool:
    """Something that the check calls was missing before the work and is missing still."""
    if control is None or not missing_inside(found):
        return False
    return missing_inside(Evidence(passed=control.passed, output=control.output or ""))
