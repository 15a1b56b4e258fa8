"""What may be run again for a commit: the checks of the loop that it names, if this user started that loop."""

from hashlib import sha256
from pathlib import Path

import msgspec

from untilproven.core import trailers
from untilproven.core.trailers import Trailers
from untilproven.errors import Damaged, InvalidName, NoSuchLoop, UsageError
from untilproven.model import wire
from untilproven.model.plan import Plan
from untilproven.model.receipt import Receipt
from untilproven.store import files, reader
from untilproven.store.layout import StateDirectory
from untilproven.store.replay import replay_journal
from untilproven.store.vouch import Voucher

_UNTIL = 'say what to check: ralph verify COMMIT --until "COMMAND"'


class NotYours(UsageError):
    """What the commit names was written by somebody else, and nothing of it is run."""

    kind = "foreign"


class Named(msgspec.Struct, frozen=True):
    """A commit's claim with what is known here of its loop. `doubt` says why the receipt is not the one it names."""

    claim: Trailers
    receipt: Receipt
    plan: Plan
    doubt: str


def named_by(state: StateDirectory, message: str) -> Named:
    """A trailer alone runs nothing: the plan comes from a journal that this user vouches for."""
    claim = trailers.read(message)
    if claim is None:
        raise UsageError("the commit names no loop, so there is no receipt to check it by", hint=_UNTIL)
    try:
        seen = reader.view(state, claim.loop_id)
    except (NoSuchLoop, InvalidName) as error:
        raise UsageError(error.message, hint=_UNTIL) from error
    told = None if seen.foreign else replay_journal(seen.directory).state
    if told is None or not Voucher(state.home).vouches(told):
        raise NotYours(f"{claim.loop_id} is not a loop of yours: its checks are not run", hint=_UNTIL)
    if not told.plan or not told.plan.checks:
        raise UsageError(f"{claim.loop_id} had no checks", hint=_UNTIL)
    data = _receipt(seen.directory.receipt, claim.loop_id)
    try:
        receipt = wire.decode(Receipt, data)
    except wire.UNREADABLE as error:
        raise Damaged(f"the receipt of {claim.loop_id} is not valid: {error}", hint=_UNTIL) from error
    return Named(claim, receipt, told.plan, _doubt(claim, data, receipt))


def claim_in(message: str) -> Trailers | None:
    """What a commit claims, where nothing depends on it."""
    try:
        return trailers.read(message)
    except UsageError:
        return None


def _receipt(path: Path, loop_id: str) -> bytes:
    try:
        return files.read(path)
    except FileNotFoundError:
        raise UsageError(f"{loop_id} has left no receipt", hint=_UNTIL) from None


def _doubt(claim: Trailers, data: bytes, receipt: Receipt) -> str:
    if claim.receipt != f"sha256:{sha256(data).hexdigest()}":
        return "the receipt is not the one that the commit names"
    if receipt.loop_id != claim.loop_id or receipt.proof != claim.proof:
        return "the receipt does not say what the commit says"
    return ""
