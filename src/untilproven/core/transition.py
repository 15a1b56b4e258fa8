"""The one function that moves a loop from state to state."""

from untilproven.errors import IllegalTransition
from untilproven.model.status import MOVES, TERMINAL, Status


def move(current: Status, to: Status) -> Status:
    """Return the new status, or refuse and name both; nothing else decides this."""
    if to in MOVES[current]:
        return to
    if current in TERMINAL:
        hint = f"{current} is final; only a new loop can carry on from it"
        if current is Status.COMPLETED:
            hint = "completed is final; start a new loop"
    else:
        hint = f"from {current} a loop can become " + ", ".join(sorted(MOVES[current]))
    raise IllegalTransition(f"a loop that is {current} cannot become {to}", hint=hint)
