"""Looking back at a loop: its receipt, its iterations, and the files they left. Follows no link, runs nothing."""

import contextlib
import re
from pathlib import Path

from untilproven.core.folding import iteration_record
from untilproven.errors import Damaged, RalphError, UsageError
from untilproven.model import events, wire
from untilproven.model.iteration import IterationRecord
from untilproven.model.receipt import Receipt
from untilproven.store import files, journal
from untilproven.store.layout import LoopDirectory
from untilproven.watch.chronicle import Chapter, chronicle

_NAME = re.compile(r"iteration-([0-9]{3,})\.json")


def receipt(loop: LoopDirectory, damage: list[str]) -> Receipt | None:
    """The receipt, if the loop has one that can be read."""
    try:
        return wire.decode(Receipt, files.read(loop.receipt))
    except FileNotFoundError:
        return None
    except RalphError as error:
        damage.append(error.message)
    except (OSError, *wire.UNREADABLE) as error:
        damage.append(f"{loop.receipt.name} cannot be read: {error}")
    return None


def iterations(loop: LoopDirectory, damage: list[str], *, newest: int) -> tuple[list[IterationRecord], int]:
    """The records of the newest iterations, oldest first, and how many earlier ones there are."""
    numbers: list[int] = []
    try:
        files.refuse_link(loop.iterations)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found = (_NAME.fullmatch(path.name) for path in loop.iterations.iterdir())
            numbers = sorted(int(name[1]) for name in found if name)
    except RalphError as error:
        damage.append(error.message)
    records = []
    for number in numbers[-newest:]:
        try:
            records.append(_stored(loop, number))
        except RalphError as error:
            damage.append(error.message)
    return records, len(numbers[:-newest])


def iteration(loop: LoopDirectory, number: int) -> IterationRecord:
    """One iteration, also while it runs: then from the journal."""
    with contextlib.suppress(FileNotFoundError):
        return _stored(loop, number)
    entries: list[events.Entry] = []
    with contextlib.suppress(FileNotFoundError):
        found = journal.scan(loop.journal, loop.loop_id)
        entries = [entry for entry in found if isinstance(entry, events.Entry) and _about(entry, number)]
    if not entries:
        raise UsageError(f"{loop.loop_id} has no iteration {number}", hint=f"ralph show {loop.loop_id} lists them")
    return iteration_record(loop.loop_id, number, entries)


def story(loop: LoopDirectory) -> list[Chapter]:
    """What happened, in order; nothing of a journal that cannot be opened, which whoever looks at the loop says."""
    try:
        return chronicle(one for one in journal.scan(loop.journal, loop.loop_id) if isinstance(one, events.Entry))
    except (OSError, RalphError):
        return []


def _stored(loop: LoopDirectory, number: int) -> IterationRecord:
    path = loop.iteration(number)
    files.refuse_link(loop.iterations)
    try:
        return wire.decode(IterationRecord, files.read(path))
    except wire.UNREADABLE as error:
        hint = f"ralph state rebuild {loop.loop_id} makes it again"
        raise Damaged(f"{path} is not valid: {error}", hint=hint) from error


def _about(entry: events.Entry, number: int) -> bool:
    return number > 0 and getattr(entry.event, "iteration", 0) == number


def kept(path: Path) -> Path | None:
    """The file, if it is there and is one of ours to show."""
    files.refuse_link(path.parent)
    try:
        files.open_regular(path).close()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return path
