"""How firmly the agent is reminded of what counts: more as a loop goes on without getting there, less once it does."""

from untilproven.core.course import Course
from untilproven.core.persistence import INITIALIZED, fixed_level
from untilproven.model.events import ReinforcementChanged
from untilproven.model.persistence import Reinforcement
from untilproven.model.state import LoopState

STANDARD_FROM = 5
CLEAN_GAINS = 2
"""How many better iterations in a row, without a finding, it takes to ease off."""

_LEVELS = (Reinforcement.OFF, Reinforcement.MINIMAL, Reinforcement.STANDARD, Reinforcement.AGGRESSIVE)

REMINDERS: dict[Reinforcement, tuple[str, ...]] = {
    Reinforcement.OFF: (),
    Reinforcement.MINIMAL: (
        "Fix the cause, not the check: a test that is deleted, skipped or weakened proves nothing.",
    ),
    Reinforcement.STANDARD: (
        "Fix the cause, not the check: a test that is deleted, skipped or weakened proves nothing.",
        "Finish what the task asks for: no stubs, no TODO in place of work, no special case for what a test looks at.",
        "If you cannot go on, say what blocks you instead of working around it.",
    ),
    Reinforcement.AGGRESSIVE: (
        "Earlier work was refused or led nowhere. Read what the runner says below before you change anything.",
        "Leave tests, their configuration and the checks as they are; change the code they are about.",
        "Find the cause of ONE failure, fix it, and see it gone before you turn to the next.",
        "No stubs, no swallowed errors, no special case for what a test looks at, no code that asks if it is tested.",
        "If a test is wrong, or the task cannot be done as it is, say so and end: that is an honest result.",
    ),
}
"""What goes into the prompt at each level: at most 150 tokens."""


def due(state: LoopState, course: Course) -> ReinforcementChanged | None:
    """The change that the next iteration begins with, if there is one."""
    number = state.iteration + 1
    now = state.reinforcement_level or Reinforcement.OFF
    fixed = fixed_level(course.plan)
    wanted, reason = (fixed, INITIALIZED) if fixed else _wanted(number, now, course)
    return ReinforcementChanged(iteration=number, to_level=wanted, reason=reason) if wanted is not now else None


def _wanted(number: int, now: Reinforcement, course: Course) -> tuple[Reinforcement, str]:
    if course.refusals:
        return Reinforcement.AGGRESSIVE, f"Regression detected in iteration {number - 1}"
    if course.plateau:
        return Reinforcement.AGGRESSIVE, "Quality plateau detected (3 iterations < 5% delta)"
    if course.stuck:
        return Reinforcement.AGGRESSIVE, f"The loop is stuck: {course.stuck.value}"
    least = Reinforcement.STANDARD if number >= STANDARD_FROM else Reinforcement.MINIMAL
    if _LEVELS.index(now) > _LEVELS.index(least):
        if course.clean_gains >= CLEAN_GAINS:
            return _LEVELS[_LEVELS.index(now) - 1], f"{CLEAN_GAINS} better iterations in a row without a finding"
        return now, ""
    if now is Reinforcement.OFF:
        return least, INITIALIZED
    return least, f"Iteration {STANDARD_FROM} threshold reached"
