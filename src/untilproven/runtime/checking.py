"""Running the checks of an iteration, and saying what came of them."""

from typing import TYPE_CHECKING

from untilproven.checks.ending import missing_inside
from untilproven.contract import Evidence
from untilproven.core import evidence
from untilproven.core.decide import remaining
from untilproven.model.events import CheckFinished

if TYPE_CHECKING:
    from untilproven.runtime.driver import Driver

SECONDS = 600.0
"""How long a check may take, unless the user says otherwise or its control took long."""

_TIMES_CONTROL = 5.0
GRACE = 10.0


def run(driver: "Driver", iteration: int, names: tuple[str, ...]) -> None:
    """One after the other on the tree as it is; one that was interrupted leaves no word."""
    room = driver.cast.workspace.checking(driver.supervision())
    for name in names:
        check, control = driver.cast.checks[name], driver.course.control.get(name)
        found = check.run(room, timeout=min(_timeout(driver, control), _left(driver, control)))
        if driver.wishes.current().now:
            return
        broken = found.broken or _cannot_work(control, found)
        driver.record(evidence.finished(iteration, check, found, control, broken=broken))


def _timeout(driver: "Driver", control: CheckFinished | None) -> float:
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
