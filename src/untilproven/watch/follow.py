"""Following a loop from outside, through its files: what was recorded, and what the running agent emits."""

import contextlib
import itertools
import time
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple, Self

import msgspec

from untilproven.core.projection import apply
from untilproven.errors import NoSuchLoop, RalphError
from untilproven.model import events, wire
from untilproven.model.state import LoopState
from untilproven.model.status import TERMINAL, Status
from untilproven.store import journal, reader
from untilproven.store.layout import LoopDirectory, StateDirectory
from untilproven.store.lock import is_locked
from untilproven.watch.console import Console
from untilproven.watch.tail import Tail

POLL = 0.25
"""Seconds between two looks."""

_UNRUN = 2.0
"""For how many seconds nobody may be seen to run a loop before it is called abandoned: one may just be starting."""


class Followed(NamedTuple):
    """An entry, the state at least as new as it, and the line as it stands in its file."""

    entry: events.Entry
    state: LoopState
    line: bytes


class Outcome(StrEnum):
    ENDED = "ended"
    PAUSED = "paused"
    ABANDONED = "abandoned"
    """It should be running, and nobody runs it."""
    UNREAD = "unread"
    """Nobody reads what is shown any more."""


class Follower:
    """Reads on where it stopped. `since` is the last entry that is not handed on."""

    def __init__(self, seen: reader.LoopView, *, since: int = 0, outputs: bool = True) -> None:
        self.loop: LoopDirectory = seen.directory
        self.state = seen.state
        self.finished: events.LoopFinished | None = None
        self.unreadable = 0
        """How many lines had to be passed over."""
        self._since = since
        self._seq = 0
        self._outputs = outputs
        self._journal = Tail(self.loop.journal)
        self._output: Tail | None = None
        self._ahead: list[Followed] = []

    def poll(self) -> Iterator[Followed]:
        """What is new, in the order in which it happened."""
        for line in self._journal.lines():
            if (entry := self._decoded(line)) is None or entry.header.seq <= self._seq:
                continue
            yield from self._emitted(before=entry.header.seq)
            self._take(entry)
            if entry.header.seq > self._since:
                yield Followed(entry, self.state, line)
        yield from self._emitted()

    def close(self) -> None:
        self._journal.close()
        if self._output:
            self._output.close()

    def _decoded(self, line: bytes) -> events.Entry | None:
        try:
            entry = journal.decode(line)
        except wire.UNREADABLE:
            self.unreadable += 1
            return None
        return entry if entry.header.loop_id == self.loop.loop_id else None

    def _take(self, entry: events.Entry) -> None:
        self._seq = entry.header.seq
        if self._seq > (self.state.journal_seq or 0):
            try:
                self.state = apply(self.state, entry)
            except RalphError:
                self.unreadable += 1
        match entry.event:
            case events.IterationStarted(iteration=number) if self._outputs and self._seq > self._since:
                self._listen(Tail(self.loop.output(number)))
            case events.IterationObserved() | events.LoopAdopted():
                self._listen(None)
            case events.LoopFinished() as finished:
                self.finished = finished

    def _listen(self, output: Tail | None) -> None:
        if self._output:
            self._output.close()
        self._output, self._ahead = output, []

    def _emitted(self, before: int | None = None) -> Iterator[Followed]:
        """What the agent emitted. Each event knows the entry it came after, so that those of a later attempt wait."""
        if self._output is None:
            return
        ahead, self._ahead = self._ahead, []
        for followed in itertools.chain(ahead, self._heard(self._output)):
            if before is not None and followed.entry.header.seq >= before:
                self._ahead = [followed]
                return
            yield followed

    def _heard(self, output: Tail) -> Iterator[Followed]:
        try:
            for line in output.lines():
                entry = self._decoded(line)
                if entry is not None and isinstance(entry.event, events.AgentEvent):
                    yield Followed(entry, self.state, line)
        except RalphError:
            self._output = None  # a link or no regular file: nothing of ours

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def follow(follower: Follower, console: Console) -> Outcome:
    """Show what happens until the loop ends or waits, or nobody runs it, or nobody looks any more."""
    unrun_since: float | None = None
    while True:
        held = is_locked(follower.loop.lock)
        news = _shown(follower, console)
        if console.gone:
            return Outcome.UNREAD
        if follower.finished:
            return Outcome.ENDED
        if held or news:
            unrun_since = None
        elif follower.state.status in TERMINAL:
            return Outcome.ENDED
        elif follower.state.status is Status.PAUSED:
            return Outcome.PAUSED
        else:
            unrun_since = unrun_since or time.monotonic()
            if time.monotonic() - unrun_since >= _UNRUN:
                return Outcome.ABANDONED
        console.tick()
        time.sleep(POLL)


def _shown(follower: Follower, console: Console) -> bool:
    """Whether there was anything new."""
    news = False
    for followed in follower.poll():
        console.happened(followed.entry, followed.state)
        news = True
    return news


class _Mark(msgspec.Struct):
    seq: int
    type: str


def last_iteration(loop: LoopDirectory) -> int:
    """The entry before the one with which the newest iteration began; looks only at the end of the journal."""
    marks: list[_Mark] = []
    try:
        lines = reader.last_lines(loop.journal)
    except OSError:
        return 0
    for line in lines:
        with contextlib.suppress(*wire.UNREADABLE):  # the first may be cut
            marks.append(msgspec.json.decode(line, type=_Mark))
    begun = [mark.seq for mark in marks if mark.type == "iteration.started"]
    if begun:
        return begun[-1] - 1
    return marks[-1].seq if marks and marks[0].seq > 1 else 0


def newest_loop(directory: StateDirectory) -> str:
    """The loop that was written to last."""
    found = [(_written(loop), loop.loop_id) for loop in directory.all_loops()] if directory.exists() else []
    if not found:
        raise NoSuchLoop("there are no loops here", hint="`ralph status --all` lists what there is")
    return max(found)[1]


def _written(loop: LoopDirectory) -> float:
    try:
        return loop.journal.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0
