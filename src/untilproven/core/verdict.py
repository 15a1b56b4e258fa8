"""What the checks of an iteration amount to, seen against the control."""

from untilproven.core import proof
from untilproven.core.course import Checks, Course, Lap
from untilproven.model import events
from untilproven.model.iteration import Complete
from untilproven.model.plan import Plan, PlannedCheck


def wanted(plan: Plan, done: Checks) -> tuple[str, ...]:
    """The checks that are still to be run: the user's first, the project's own tests only once those are green."""
    asked = [check.line for check in plan.checks if check.role == "until"]
    if left := tuple(line for line in asked if line not in done):
        return left
    if not all(done[line].passed for line in asked):
        return ()
    return tuple(check.line for check in plan.checks if check.role == "auto_test" and check.line not in done)


def control_wanted(course: Course) -> tuple[str, ...]:
    """In the control every check runs once, whatever the others say."""
    return tuple(check.line for check in course.plan.checks if check.line not in course.control)


def broken(course: Course, checks: Checks, task: str) -> events.CheckFinished | None:
    """The first of the user's checks that cannot be run, so that going on would prove nothing.

    A program that belongs in the tree is different: it may be what the task asks for, and once it has been there,
    an agent that removed it has not finished.
    """
    for planned in course.plan.checks:
        check = checks.get(planned.line)
        if check and planned.role == "until" and check.broken and not _may_come(course, check, task):
            return check
    return None


def _may_come(course: Course, check: events.CheckFinished, task: str) -> bool:
    if not check.missing:
        return False
    control = course.control.get(check.check)
    was_there = control is not None and not control.broken
    return was_there or check.missing.rpartition("/")[2] in task


def judge(course: Course, lap: Lap) -> proof.Verdict:
    """May the work of this iteration be called done, and by what kind of proof?"""
    tree = lap.observed.tree if lap.observed else None
    ran = [planned for planned in course.plan.checks if planned.line in lap.checks]
    owed = [planned for planned in course.plan.checks if _counts(course, planned)]
    return proof.judge(
        {planned.line: _before(course, planned) for planned in owed},
        {planned.line: _now(course, planned, lap.checks[planned.line]) for planned in ran},
        claimed=claim(lap) is not None,
        changed=course.touched and bool(tree) and tree != course.start_tree,
        new_tests=any(check.new_tests for check in lap.checks.values()),
        trust_promise=course.plan.trust_promise,
    )


def claim(lap: Lap) -> str | None:
    """The words with which the agent said that it is done, if it did."""
    if lap.observed is None:
        return None
    if lap.observed.claim:
        return lap.observed.claim
    return "complete" if isinstance(lap.observed.result, Complete) else None


def _counts(course: Course, planned: PlannedCheck) -> bool:
    """The project's tests bind only if they could be run before the work."""
    control = course.control.get(planned.line)
    return planned.role == "until" or bool(control and not control.broken)


def _before(course: Course, planned: PlannedCheck) -> proof.Outcome:
    control = course.control.get(planned.line)
    if planned.role == "auto_test" or control is None:
        return proof.Outcome(passed=True)
    return proof.Outcome(passed=control.passed, broken=bool(control.broken))


def _now(course: Course, planned: PlannedCheck, check: events.CheckFinished) -> proof.Outcome:
    if planned.role == "until":
        # A missing program of the tree is work that is not there yet, not a check that cannot be relied on.
        return proof.Outcome(
            passed=check.passed, broken=bool(check.broken and not check.missing), lost=check.lost or ""
        )
    control = course.control.get(planned.line)
    if control is None or control.broken:
        return proof.Outcome(passed=True)
    stays = check.passed or not control.passed
    return proof.Outcome(passed=stays and not check.lost, lost=check.lost or "")
