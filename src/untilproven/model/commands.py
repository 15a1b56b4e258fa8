"""What the core asks the driver to do."""

import msgspec
from msgspec import UNSET, UnsetType

from untilproven.model.events import Event
from untilproven.model.fields import Count, Ordinal, PauseReason, Timestamp
from untilproven.model.status import Status


class _Command(msgspec.Struct, frozen=True, kw_only=True, tag_field="do"):
    pass


class RunAgent(_Command, frozen=True, kw_only=True, tag="run_agent"):
    """Open the room and let the agent work; the driver says when it started and what was observed."""

    iteration: Ordinal


class Judge(_Command, frozen=True, kw_only=True, tag="judge"):
    """Compare what the iteration left with the tree as it was; the driver says what was found. These checks come next,
    if nothing speaks against it: the first may run meanwhile."""

    iteration: Ordinal
    checks: tuple[str, ...] = ()


class Measure(_Command, frozen=True, kw_only=True, tag="measure"):
    """Measure the tree as it is; `iteration` is 0 for the baseline."""

    iteration: Count


class RunChecks(_Command, frozen=True, kw_only=True, tag="run_checks"):
    """Run these checks on the tree as it is; `iteration` is 0 for the control."""

    iteration: Count
    checks: tuple[str, ...]


class Keep(_Command, frozen=True, kw_only=True, tag="keep"):
    iteration: Ordinal


class Park(_Command, frozen=True, kw_only=True, tag="park"):
    iteration: Ordinal


class RollBack(_Command, frozen=True, kw_only=True, tag="roll_back"):
    iteration: Ordinal


class BringBack(_Command, frozen=True, kw_only=True, tag="bring_back"):
    """Make the tree again what it was after this iteration."""

    iteration: Ordinal


class Deliver(_Command, frozen=True, kw_only=True, tag="deliver"):
    """The work is done: put it in place, write the receipt, complete."""


class Pause(_Command, frozen=True, kw_only=True, tag="pause"):
    reason: PauseReason
    words: str
    resume_at: Timestamp | UnsetType = UNSET
    again: bool = False
    """Whether it goes on by itself, also if nobody said when."""


class SleepUntil(_Command, frozen=True, kw_only=True, tag="sleep_until"):
    at: Timestamp


class Finish(_Command, frozen=True, kw_only=True, tag="finish"):
    """End without success; `error` is what went wrong, where it was an error. `best` is an iteration that was better
    than what is in place, and is to be there instead."""

    status: Status
    reason: str
    exit_code: Count
    error: str | UnsetType = UNSET
    best: Ordinal | UnsetType = UNSET


class Leave(_Command, frozen=True, kw_only=True, tag="leave"):
    """Nothing is left to do for this process."""

    exit_code: Count


Command = (
    RunAgent
    | Judge
    | Measure
    | RunChecks
    | Keep
    | Park
    | RollBack
    | BringBack
    | Deliver
    | Pause
    | SleepUntil
    | Finish
    | Leave
)


class Move(msgspec.Struct, frozen=True):
    """The next step: first these events are recorded, then the command is carried out."""

    command: Command
    events: tuple[Event, ...] = ()
