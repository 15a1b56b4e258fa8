"""The one writer of a loop: it holds the loop's lock, appends to the journal, and keeps the derived files true."""

import contextlib
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from untilproven.core import projection
from untilproven.core.naming import quoted
from untilproven.core.text import cut
from untilproven.core.transition import move
from untilproven.errors import Damaged, Foreign, IllegalTransition, NoSuchLoop, RalphError
from untilproven.model import events, wire
from untilproven.model.fields import PauseReason
from untilproven.model.state import LoopState
from untilproven.model.status import REGISTERED, Status
from untilproven.store import clock, files, reader
from untilproven.store.journal import JournalWriter
from untilproven.store.layout import LoopDirectory, StateDirectory
from untilproven.store.lock import FileLock
from untilproven.store.records import write_all_records, write_record
from untilproven.store.registry import OpenRegistry, open_registry
from untilproven.store.replay import replay_journal
from untilproven.store.spreading import spread
from untilproven.store.vouch import Voucher, digest

CHECK_OUTPUT_BYTES = 64 * 1024
"""How much of a check's output the journal keeps."""


class LoopWriter:
    """Use `create`, `open_loop` or lifecycle's functions to get one; close it when done."""

    def __init__(
        self,
        directory: StateDirectory,
        loop: LoopDirectory,
        lock: FileLock,
        journal: JournalWriter,
        state: LoopState | None,
        clock_: clock.Clock,
    ) -> None:
        self.directory = directory
        self.loop = loop
        self._lock = lock
        self._journal = journal
        self._state = state
        self._time = clock_
        self._iteration: list[events.Entry] = []
        self._held: list[FileLock] = []
        self._state_is_good = self._state_is_behind = False
        self._kept_previous = self._state_written = float("-inf")
        self.listener: Callable[[events.Entry, LoopState], None] = lambda _entry, _state: None
        """Told of every line that was recorded, with the state it led to."""
        self.redact: Callable[[events.Event], events.Event] = lambda event: event
        """What is recorded goes through it first."""
        self.patience = 0.0
        """Seconds after which state.json is written again at the earliest: a loop that turns fast would do little
        else. For somebody who calls `keep_up` when there is time, and often."""
        self._chores: list[Callable[[], object]] = []
        self.behind: RalphError | None = None
        """Why the derived files could not follow the journal at the last step; the next one tries again."""

    @property
    def state(self) -> LoopState:
        if self._state is None:
            raise Damaged(f"{self.loop.loop_id} has no state yet")
        return self._state

    def record(self, *happened: events.Event, durable: bool = True) -> LoopState:
        """Remember what happened. When this returns it is in the journal, and survives a power cut if `durable`.

        A durable step brings state.json along, unless whoever writes has `patience`; `keep_up` makes up for that, and
        readers look at the journal until then. An event that may not follow is refused and leaves no trace.
        """
        entries = self._journal.entries(self._time(), *map(self.redact, happened))
        state = self._applied(entries)
        self._journal.append(entries, durable=durable)
        self._state = state
        # From here on it is recorded, so nothing below may look to the caller as if it were not.
        self.behind = None
        self._state_is_behind = True
        try:
            if durable and not self.patience:
                self.write_state(keep_previous=self._previous_is_old())
            for entry in entries:
                self._note(entry)
        except RalphError as failure:
            self.behind = failure
        for entry in entries:
            self.listener(entry, self.state)
        return self.state

    def _applied(self, entries: list[events.Entry]) -> LoopState | None:
        state = self._state
        for entry in entries:
            state = projection.apply(state, entry)
        return state

    def update_state(self, changes: dict[str, Any]) -> LoopState:
        """Source 000 update_state: replace named fields; a status among them must be a legal move."""
        changes = dict(changes)
        wanted = changes.pop("status", self.state.status)
        if wanted not in list(Status):
            raise IllegalTransition(f"there is no status {quoted(str(wanted))}", hint="one of " + ", ".join(Status))
        before: list[events.Event] = []
        if changes:
            projection.updated(self.state, changes)
            before.append(events.StateUpdated(set=changes))
        if wanted != self.state.status:
            return self.move(events.StatusChanged(to=Status(wanted)), before=before)
        if before:
            self.record(*before)
        self.update_heartbeat()
        return self.state

    def transition_status(
        self,
        to: Status,
        *,
        reason: str | UnsetType = UNSET,
        pause_reason: PauseReason | UnsetType = UNSET,
        resume_at: datetime | UnsetType = UNSET,
        error: str | UnsetType = UNSET,
        stack_trace: str | UnsetType = UNSET,
    ) -> LoopState:
        """Source 000 transition_status: journal, state file and registry in one locked step."""
        return self.move(
            events.StatusChanged(
                to=to,
                reason=reason,
                pause_reason=pause_reason,
                resume_at=resume_at,
                error=error,
                stack_trace=stack_trace,
            )
        )

    def move(
        self, change: events.StatusChanged, *, before: Sequence[events.Event] = (), after: Sequence[events.Event] = ()
    ) -> LoopState:
        """The same, together with what led to the change and what follows from it."""
        move(self.state.status, change.to)
        self._do_chores()  # nobody opens a loop again that has ended
        with open_registry(self.directory, time=self._time) as registry:
            self._in(registry, wanted=change.to in REGISTERED)
            state = self.record(*before, change, *after)
            self.catch_up()
            if any(entry.loop_id == state.loop_id for entry in registry.active):
                if state.status in REGISTERED:
                    registry.update_heartbeat(state)
                else:
                    registry.deregister_loop(state.loop_id)
        return state

    def _in(self, registry: OpenRegistry, *, wanted: bool) -> None:
        """Whoever holds a loop's lock runs it, so it gets its place back if the registry has lost it."""
        if wanted and all(entry.loop_id != self.state.loop_id for entry in registry.active):
            registry.register_loop(self.state)

    def record_completion_check(
        self, *, passed: bool, output: str, check: str = "completion", kind: str = "command"
    ) -> LoopState:
        """Source 000 record_completion_check: a check that passes while running moves the loop to completing."""
        finished = events.CheckFinished(
            iteration=self.state.iteration_in_progress or self.state.iteration,
            check=check,
            kind=kind,
            passed=passed,
            output=cut(output, CHECK_OUTPUT_BYTES),
        )
        if passed and self.state.status is Status.RUNNING:
            change = events.StatusChanged(to=Status.COMPLETING, reason=f"{check} passed")
            return self.move(change, before=[finished])
        return self.record(finished)

    def update_heartbeat(self) -> None:
        """Source 004 update_heartbeat; a paused loop has no heartbeat and writes none."""
        if self.state.status in REGISTERED - {Status.PAUSED}:
            with open_registry(self.directory, time=self._time) as registry:
                self._in(registry, wanted=True)
                registry.update_heartbeat(self.state)

    def hold(self, lock: FileLock) -> None:
        """Keep another lock as long as the loop is ours."""
        self._held.append(lock)

    def close(self) -> None:
        """Let others have the loop; closing twice is fine."""
        self.close_journal()
        while self._held:
            self._held.pop().release()
        self._lock.release()

    def close_journal(self) -> None:
        """Stop writing, while the lock stays with whoever brought it."""
        self.catch_up()
        self._journal.close()

    def later(self, chore: Callable[[], object]) -> None:
        """Have something done to files that follow from the journal: at once, or, with `patience`, when there is time.
        If it fails, or a kill comes first, the next step or the next process makes up for it."""
        self._chores.append(chore)
        if not self.patience:
            self._do_chores()

    def _do_chores(self) -> None:
        failed = []
        while self._chores:
            chore = self._chores.pop(0)
            try:
                chore()
            except RalphError as failure:
                self.behind = failure
                failed.append(chore)
        self._chores = failed

    def keep_up(self) -> None:
        """There is time: bring along what follows from the journal, but state.json no more often than need be."""
        self._do_chores()
        if time.monotonic() - self._state_written >= self.patience:
            self.catch_up()

    def catch_up(self) -> None:
        """Bring what follows from the journal in line with what was recorded."""
        self._do_chores()
        if self._state_is_behind:
            try:
                self.write_state(keep_previous=self._previous_is_old())
            except RalphError as failure:
                self.behind = failure

    def _previous_is_old(self) -> bool:
        """Once a second is often enough for a copy of the last good state."""
        if not self._state_is_good or time.monotonic() - self._kept_previous < 1.0:
            return False
        self._kept_previous = time.monotonic()
        return True

    def make_good(self, *, state: bool, records_up_to: int) -> None:
        """Make good what a kill left undone between the journal and the files derived from it. If the state is behind,
        so may be the record of an iteration that was done again."""
        try:
            if state:
                self.write_state()
            if records_up_to and (state or not self.loop.iteration(records_up_to).exists()):
                write_all_records(self.loop)
        except RalphError as failure:
            self.behind = failure

    def write_state(self, *, keep_previous: bool = False) -> None:
        """Bring state.json in line with the journal, which can make it again if it is lost."""
        files.replace(self.loop.state, wire.encode(self.state) + b"\n", durable=False, keep_previous=keep_previous)
        self._state_is_good, self._state_is_behind = True, False
        self._state_written = time.monotonic()

    def _note(self, entry: events.Entry) -> None:
        """Gather the running iteration, and write its record when it ends."""
        if isinstance(entry.event, events.IterationStarted):
            self._iteration = []
        self._iteration.append(entry)
        if isinstance(entry.event, events.IterationFinished):
            number, entries, self._iteration = entry.event.iteration, self._iteration, []
            self.later(lambda: write_record(self.loop, number, entries))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_loop(directory: StateDirectory, loop_id: str, *, time: clock.Clock = clock.now) -> LoopWriter:
    """Become the writer of a loop that exists and is ours; a line that was never finished is dropped and said so."""
    loop = directory.loop(loop_id)
    if not loop.path.is_dir():
        raise NoSuchLoop(f"there is no loop {loop_id} here", hint="`ralph status --all` lists what there is")
    lock = lock_of(loop)
    lock.acquire()
    with contextlib.ExitStack() as undo:
        undo.callback(lock.release)
        seen = reader.look(directory, loop)
        if seen.foreign:
            raise foreign(loop_id)
        replay = replay_journal(loop)
        if replay.state is None:
            raise Damaged(
                f"the journal of {loop_id} cannot be continued: " + "; ".join(replay.damage),
                hint=f"ralph state rebuild {loop_id} begins it again from the last good state",
            )
        if not Voucher(directory.home).vouches(replay.state):
            raise foreign(loop_id)
        if (seen.state.journal_seq or 0) > replay.seq:
            raise lost_its_end(loop_id)
        journal = JournalWriter(loop.journal, loop_id, seq=replay.seq)
        writer = LoopWriter(directory, loop, lock, journal, replay.state, time)
        undo.callback(journal.close)
        if replay.torn is not None:
            journal.truncate(replay.torn.offset)
            writer.record(
                events.JournalRepaired(
                    dropped_bytes=len(replay.torn.data),
                    dropped_text=replay.torn.data[:200].decode("utf-8", "replace"),
                )
            )
        writer.make_good(state=seen.source != loop.state.name, records_up_to=replay.last_finished)
        undo.pop_all()
        return writer


def create_loop(
    directory: StateDirectory, state: LoopState, *, task_file: bytes | None = None, time: clock.Clock = clock.now
) -> LoopWriter:
    """Make the directory, the journal and the state file of a new loop. The caller holds the registry's lock.

    The whole task comes before the first line: a loop that has begun can always be told what to do.
    """
    loop = LoopDirectory(directory.loops / state.loop_id)
    directory.keep_out_of_git()
    with files.explained(loop.path):
        spread(directory.loops)
        loop.path.mkdir()
    with contextlib.ExitStack() as undo:
        undo.callback(remove_loop, loop)
        loop.make()
        lock = lock_of(loop)
        lock.acquire()
        undo.callback(lock.release)
        if task_file is not None:
            files.replace(loop.task, task_file, durable=True)
        writer = begin_journal(directory, loop, lock, state, time=time)
        undo.callback(writer.close)
        files.sync_directory(loop.path)
        files.sync_directory(directory.loops)
        undo.pop_all()
        return writer


def begin_journal(
    directory: StateDirectory, loop: LoopDirectory, lock: FileLock, state: LoopState, *, time: clock.Clock = clock.now
) -> LoopWriter:
    """Write the first line of a journal: the whole state it begins with, vouched for."""
    with contextlib.ExitStack() as undo:
        journal = JournalWriter(loop.journal, state.loop_id, seq=0)
        undo.callback(journal.close)
        writer = LoopWriter(directory, loop, lock, journal, None, time)
        started = wire.to_builtins(replace(state, journal_seq=UNSET, vouch=UNSET, started_with=UNSET))
        words = digest(started)
        vouch = Voucher(directory.home).code(state.loop_id, words, state.process)
        writer.record(events.LoopStarted(state=started, started_with=words, vouch=vouch))
        if writer.behind:
            raise writer.behind
        undo.pop_all()
    return writer


def remove_loop(loop: LoopDirectory) -> None:
    """Leave nothing behind of a loop that never began."""
    import shutil  # noqa: PLC0415  only needed when something went wrong

    shutil.rmtree(loop.path, ignore_errors=True)


def lock_of(loop: LoopDirectory) -> FileLock:
    """A loop's lock is held as long as it runs, so waiting is of no use; but a lock that was just given up
    lives on for a moment in a program that its holder was starting."""
    return FileLock(loop.lock, timeout=0.25, what=f"loop {loop.loop_id}")


def lost_its_end(loop_id: str) -> Damaged:
    return Damaged(
        f"the journal of {loop_id} ends before what its state has seen; going on would forget the rest",
        hint=f"ralph state rebuild {loop_id} begins it again from the last good state",
    )


def foreign(loop_id: str) -> Foreign:
    return Foreign(
        f"{loop_id} was not started by you on this machine, in this directory; nothing in it is acted on",
        hint="it can be looked at with `ralph status`; to work on the same task, start a new loop",
    )
