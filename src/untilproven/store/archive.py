"""Putting ended loops away: moved, not changed, and still found by their id."""

from untilproven.errors import IllegalTransition, StoreFailed
from untilproven.model.status import TERMINAL, Status
from untilproven.store import clock, files, reader
from untilproven.store.layout import LoopDirectory, StateDirectory
from untilproven.store.registry import open_registry
from untilproven.store.writer import foreign, lock_of


def archive_loop(directory: StateDirectory, loop_id: str, *, time: clock.Clock = clock.now) -> LoopDirectory:
    """Move a loop that has ended to `archive/`; one that is active is refused."""
    seen = reader.view(directory, loop_id)
    if seen.foreign:
        raise foreign(loop_id)
    if seen.state.status not in TERMINAL:
        raise IllegalTransition(
            f"{loop_id} is {seen.state.status}; only a loop that has ended can be put away",
            hint=f"end it first: ralph abort {loop_id}",
        )
    target = directory.archive / loop_id
    if seen.directory.path == target:
        return seen.directory
    with open_registry(directory, time=time) as registry, lock_of(seen.directory):
        if target.exists():
            raise StoreFailed(f"{target} is in the way")
        files.make_directory(directory.archive)
        if any(entry.loop_id == loop_id for entry in registry.active):
            registry.deregister_loop(loop_id)
        with files.explained(target):
            seen.directory.path.rename(target)
            files.sync_directory(directory.archive)
            files.sync_directory(directory.loops)
    return LoopDirectory(target)


def ended_loops(directory: StateDirectory) -> list[str]:
    """The loops that could be put away: all that ended but those that crashed and may still be continued."""
    return [
        seen.state.loop_id
        for seen in reader.all_views(directory)
        if seen.state.status in TERMINAL - {Status.CRASHED} and not seen.foreign
    ]
