"""`iterations/`: the full record of each iteration, folded from the journal."""

from collections.abc import Sequence

from untilproven.core.folding import iteration_record
from untilproven.model import events, wire
from untilproven.store import files, journal
from untilproven.store.layout import LoopDirectory


def write_record(loop: LoopDirectory, number: int, entries: Sequence[events.Entry]) -> bool:
    """Put the record of one iteration in place, if it is not there already; it can be made again at any time."""
    path = loop.iteration(number)
    files.refuse_link(loop.iterations)
    data = wire.encode_pretty(iteration_record(loop.loop_id, number, entries))
    if path.is_file() and files.read(path) == data:
        return False
    files.replace(path, data, durable=False)
    return True


def write_all_records(loop: LoopDirectory) -> dict[int, bool]:
    """Put the records of all finished iterations in place; says of each whether it had to be written."""
    gathered: dict[int, list[events.Entry]] = {}
    finished = set()
    for found in journal.scan(loop.journal, loop.loop_id):
        number = getattr(getattr(found, "event", None), "iteration", 0)
        if not isinstance(found, events.Entry) or not number:
            continue
        if isinstance(found.event, events.IterationStarted):
            finished.discard(number)
            gathered[number] = []
        if number not in finished:  # what is said of an iteration after its end is not part of its record
            gathered.setdefault(number, []).append(found)
        if isinstance(found.event, events.IterationFinished):
            finished.add(number)
    files.make_directory(loop.iterations)
    return {number: write_record(loop, number, gathered[number]) for number in sorted(finished)}
