"""What the core asks the driver to do."""

import msgspec
from msgspec import UNSET, UnsetType

from untilproven.model.fields import Ordinal, PauseReason, Timestamp
from untilproven.model.status import Status


class _Command(msgspec.Struct, frozen=True, kw_only=True, tag_field="do"):
    pass


class RunAgent(_Command, frozen=True, kw_only=True, tag="run_agent"):
    iteration: Ordinal
    prompt: str


class RunChecks(_Command, frozen=True, kw_only=True, tag="run_checks"):
    iteration: int


class Keep(_Command, frozen=True, kw_only=True, tag="keep"):
    iteration: Ordinal


class Park(_Command, frozen=True, kw_only=True, tag="park"):
    iteration: Ordinal


class RollBack(_Command, frozen=True, kw_only=True, tag="roll_back"):
    iteration: Ordinal


class OpenGate(_Command, frozen=True, kw_only=True, tag="open_gate"):
    kind: str
    message: str


class SleepUntil(_Command, frozen=True, kw_only=True, tag="sleep_until"):
    at: Timestamp


class Pause(_Command, frozen=True, kw_only=True, tag="pause"):
    reason: PauseReason
    resume_at: Timestamp | UnsetType = UNSET


class Finish(_Command, frozen=True, kw_only=True, tag="finish"):
    status: Status
    reason: str
    exit_code: int


Command = RunAgent | RunChecks | Keep | Park | RollBack | OpenGate | SleepUntil | Pause | Finish
