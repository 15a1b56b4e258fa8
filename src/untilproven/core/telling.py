"""What the agent is told about the past: what the checks said, which claim was refused, what was thrown away."""

from collections.abc import Mapping

from untilproven.core import recovery, reinforcement, verdict
from untilproven.core.course import Course, Lap
from untilproven.core.prompt import Briefing, CheckReport
from untilproven.core.stuck import Verdict
from untilproven.model.events import CheckFinished
from untilproven.model.persistence import Reinforcement
from untilproven.model.state import LoopState

_STUCK = {
    Verdict.NO_PROGRESS: "Your last iterations changed nothing. Try something else.",
    Verdict.OSCILLATING: "The tree is back where it was before. Stop going back and forth; try another way.",
    Verdict.SAME_ERROR: "The same failure came up several times in a row. Your approach does not work; find the cause.",
}
_CUT = {
    "wall": "it took too long",
    "idle": "it was silent for too long",
    "output": "it printed too much",
}


def briefing(
    state: LoopState,
    course: Course,
    *,
    task: str,
    index: Mapping[str, str],
    conflict: Mapping[str, str] = {},
    can_discard: bool = True,
    advice: tuple[str, ...] = (),
) -> Briefing:
    """Everything that goes into the prompt of the next iteration."""
    return Briefing(
        task=task,
        iteration=state.iteration + 1,
        max_iterations=state.allowance.iterations if state.allowance else 0,
        checks=tuple(check.line for check in course.plan.checks if check.role == "until"),
        promise=course.plan.promise or "",
        index=index,
        conflict=conflict,
        reports=_reports(course),
        notes=(*_notes(course, can_discard=can_discard), *advice),
        reminders=reinforcement.REMINDERS[state.reinforcement_level or Reinforcement.OFF],
        learnings=tuple(note.text for note in course.plan.learnings),
    )


def _reports(course: Course) -> tuple[CheckReport, ...]:
    """What was seen last of each check: in the last iteration that got so far, else in the control."""
    now = course.last.checks if course.last else {}
    return tuple(
        _report(now.get(planned.line) or course.control[planned.line])
        for planned in course.plan.checks
        if planned.line in now or (planned.line in course.control and planned.role == "until")
    )


def _report(check: CheckFinished) -> CheckReport:
    output = "\n".join(part for part in (check.lost, check.output) if part)
    return CheckReport(check.check, passed=check.passed and not check.lost, output=output)


def _notes(course: Course, *, can_discard: bool) -> list[str]:
    notes = []
    last = course.last
    if course.discarded:
        what = "has been taken back" if can_discard else "is still in the tree: nothing could be taken back"
        notes.append(f"The iteration before was thrown away, because {course.discarded}. What it changed {what}.")
        if last and any(finding.blocking for finding in last.findings):
            notes.append(recovery.diagnose(last.findings).advice)
    elif last and last.observed and last.observed.cut:
        notes.append(f"The iteration before was stopped: {_CUT.get(last.observed.cut, 'a limit was reached')}.")
    if last and not course.discarded:
        notes += _refused(course, last)
    if stuck := course.stuck:
        notes.append(_STUCK[stuck])
    return notes


def _refused(course: Course, last: Lap) -> list[str]:
    if verdict.claim(last) is None or not last.checks:
        return []
    return [f"You said that the work is done. It is not: {verdict.judge(course, last).reason}."]
