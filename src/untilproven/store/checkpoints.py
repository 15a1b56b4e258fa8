"""Points to return to: written after an iteration, pruned by rule, read with care."""

import os
import re
import zlib

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from untilproven.core import naming, retention
from untilproven.errors import Damaged, RalphError
from untilproven.model import events, wire
from untilproven.model.checkpoint import (
    Checkpoint,
    CheckpointArtifact,
    CheckpointIteration,
    CheckpointMetadata,
    CheckpointProgress,
    CheckpointState,
    ExecutionConfig,
    Trigger,
)
from untilproven.model.state import LoopConfiguration, LoopMetrics, LoopState, ProgressTracking
from untilproven.model.status import TERMINAL
from untilproven.store import clock, files
from untilproven.store.layout import STATE_DIRECTORY, LoopDirectory
from untilproven.store.writer import LoopWriter

UNPACKED_LIMIT = 64 * files.MIB
_NAME = re.compile(r"iteration-([0-9]+)\.json\.gz", re.ASCII)
_SPARE = ".spare"
"""The last one that was given up, to be written over by the next."""

_SHORT = 10
_LISTS = (
    "iteration_history",
    "regression_events",
    "reinforcement_history",
    "recovery_history",
    "detected_patterns",
)


def write_checkpoint(
    writer: LoopWriter,
    *,
    trigger: Trigger = Trigger.ITERATION,
    tags: tuple[str, ...] = (),
    artifacts: tuple[CheckpointArtifact, ...] = (),
    time: clock.Clock = clock.now,
) -> Checkpoint:
    """Of the state as it is. The file, and what it makes superfluous, follow with the others that follow from the
    journal."""
    files.refuse_link(writer.loop.checkpoints)
    state = writer.state
    checkpoint = Checkpoint(
        checkpoint_id=_new_id(),
        workflow_id=state.loop_id,
        loop_id=state.loop_id,
        created_at=time(),
        trigger=trigger,
        state=_snapshot(state, artifacts),
        execution_config=ExecutionConfig(execution_mode=_configuration(state).execution_mode),
        metadata=CheckpointMetadata(tags=tags),
    )
    writer.later(lambda: _write(writer, checkpoint, state, time))
    return checkpoint


def is_missing(state: LoopState) -> bool:
    """Whether the newest iteration is to have a checkpoint and none is recorded."""
    interval = _configuration(state).checkpoint_interval
    due = state.iteration > 0 and state.iteration % interval == 0
    return due and state.last_checkpoint != _recorded(state.loop_id, state.iteration)


def _write(writer: LoopWriter, checkpoint: Checkpoint, state: LoopState, time: clock.Clock) -> None:
    loop, iteration = writer.loop, state.iteration
    if writer.state.status in TERMINAL and state.status not in TERMINAL:
        return  # it could not be written in time, and the end is the last word of a journal
    files.refuse_link(loop.checkpoints)
    # The journal can replay up to `journal_seq`, so a checkpoint lost in a power cut costs nothing.
    # It comes before the journal's line, so that the line never names a file that is not there.
    spare = loop.checkpoints / _SPARE
    files.replace(loop.checkpoint(iteration), _packed(checkpoint), durable=False, spare=spare)
    written = events.CheckpointWritten(iteration=iteration, path=_recorded(loop.loop_id, iteration))
    writer.record(written, durable=False)
    writer.later(lambda: prune(loop, best=_best(writer.state), time=time))


def _recorded(loop_id: str, iteration: int) -> str:
    return f"{STATE_DIRECTORY}/loops/{loop_id}/checkpoints/{naming.iteration_name(iteration)}.json.gz"


def read_checkpoint(loop: LoopDirectory, iteration: int) -> Checkpoint:
    """Read one back; a file that unpacks to more than can be believed is refused before it fills the memory."""
    path = loop.checkpoint(iteration)
    files.refuse_link(loop.checkpoints)
    unpacker = zlib.decompressobj(wbits=31)
    try:
        data = unpacker.decompress(files.read(path), UNPACKED_LIMIT)
    except FileNotFoundError:
        raise Damaged(f"{loop.loop_id} has no checkpoint of iteration {iteration}") from None
    except zlib.error as error:
        raise Damaged(f"{path} is not a gzip file: {error}") from error
    if unpacker.unconsumed_tail:
        raise Damaged(f"{path} unpacks to more than {UNPACKED_LIMIT} bytes; it is not believed")
    if not unpacker.eof:
        raise Damaged(f"{path} is cut short")
    try:
        return wire.decode(Checkpoint, data)
    except wire.UNREADABLE as error:
        raise Damaged(f"{path} is not a checkpoint: {error}") from error


def prune(loop: LoopDirectory, *, best: int | None, time: clock.Clock = clock.now) -> list[int]:
    """Delete the checkpoints that the retention rule gives up, and return their iterations."""
    expired = retention.expired(_stored(loop), now=time(), best=best)
    given_up = [gone.iteration for gone in expired if not _spared(loop, gone.iteration)]
    for number in given_up:
        with files.explained(loop.checkpoints):
            loop.checkpoint(number).replace(loop.checkpoints / _SPARE)
    return given_up


def _spared(loop: LoopDirectory, number: int) -> bool:
    """Tagged ones stay, and what cannot be read is left for a person to look at."""
    try:
        checkpoint = read_checkpoint(loop, number)
    except RalphError:
        return True
    return bool(checkpoint.metadata and checkpoint.metadata.tags)


def _stored(loop: LoopDirectory) -> list[retention.Stored]:
    found = []
    with files.explained(loop.checkpoints), os.scandir(loop.checkpoints) as entries:
        for entry in entries:
            name = _NAME.fullmatch(entry.name)
            if name and entry.is_file(follow_symlinks=False):
                at = clock.from_timestamp(entry.stat(follow_symlinks=False).st_mtime)
                found.append(retention.Stored(int(name[1]), at))
    return found


def _new_id() -> str:
    """A random UUID (version 4, as RFC 9562 has it), without the module `uuid`, which is slow to load."""
    data = bytearray(os.urandom(16))
    data[6], data[8] = data[6] & 0x0F | 0x40, data[8] & 0x3F | 0x80
    return "-".join((data[:4].hex(), data[4:6].hex(), data[6:8].hex(), data[8:10].hex(), data[10:].hex()))


def _packed(checkpoint: Checkpoint) -> bytes:
    packer = zlib.compressobj(level=1, wbits=31)
    return packer.compress(wire.encode(checkpoint)) + packer.flush()


def _snapshot(state: LoopState, artifacts: tuple[CheckpointArtifact, ...]) -> CheckpointState:
    allowed = _configuration(state).max_iterations
    done = state.iteration
    return CheckpointState(
        phase=state.status.value,
        step=naming.iteration_name(done),
        progress=CheckpointProgress(
            total_steps=allowed, completed_steps=done, percentage=min(100.0, 100.0 * done / allowed)
        ),
        artifacts=artifacts,
        iteration=CheckpointIteration(
            current=done, max=allowed, failures=(state.metrics or LoopMetrics()).failed_iterations or 0
        ),
        journal_seq=state.journal_seq,
        loop_state=_shortened(state),
    )


def _shortened(state: LoopState) -> LoopState:
    """The state with its lists cut to the newest few, so that a checkpoint costs the same at any age."""
    short = {name: entries[-_SHORT:] for name in _LISTS if (entries := getattr(state, name))}
    progress = state.progress
    if progress:
        progress = replace(progress, completion_checks=_tail(progress))
    return replace(state, **short, progress=progress)


def _tail(progress: ProgressTracking) -> "tuple[object, ...] | UnsetType":
    return progress.completion_checks[-_SHORT:] if progress.completion_checks else progress.completion_checks


def _configuration(state: LoopState) -> LoopConfiguration:
    return state.configuration or LoopConfiguration()


def _best(state: LoopState) -> int | None:
    best = state.best_iteration.iteration if state.best_iteration else UNSET
    return best or None
