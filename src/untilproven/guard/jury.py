"""The guard in a process of its own: it looks while the runner goes on, and a file that it cannot cope with costs that
process and not the loop."""

import contextlib
import hashlib
import marshal
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from untilproven.errors import RalphError
from untilproven.guard.change import Change
from untilproven.guard.finding import NotAnalysed
from untilproven.guard.judging import Judgement, judge
from untilproven.process import aside

_SECONDS, _FOR_EACH_FILE = 10.0, 0.25
"""Of CPU time, for all files of a question."""
_ALONE = 5.0
"""The same for one file, if something is wrong with one of them."""
_SEARCH = 60.0
"""Of the clock, for finding out which."""
_TICK_MS = 500
_TOO_LONG = "takes too long to read"
_FEWER = "end something else that runs, and run the command again"
_HEADER = 8


class GuardFailed(RalphError):
    """What was changed could not be judged, and what is not judged is not kept."""

    kind = "guard_failed"
    exit_code = 3


class Jury:
    """One question at a time: `ask`, then `answer`. It is there from the first question until it is closed."""

    def __init__(self) -> None:
        self._pid = 0
        self._line: socket.socket | None = None
        self._questions = 0
        self._asked: tuple[tuple[Change, ...], ...] = ()
        self._task, self._reviewed = "", False
        self._allowed = _SECONDS
        self._unreadable: dict[bytes, str] = {}
        """Contents that it could not cope with, by their digest, and why."""

    def ask(self, *trees: Sequence[Change], task: str, reviewed: bool = False) -> None:
        """What is to be said of these changes, each of them compared by itself, and as `judge` would."""
        self._asked, self._task, self._reviewed = tuple(map(tuple, trees)), task, reviewed
        self._allowed = _SECONDS + _FOR_EACH_FILE * sum(map(len, trees))
        self._send(self._asked_readable(), self._allowed)

    def answer(self, meanwhile: Callable[[], object] = lambda: None) -> list[Judgement]:
        """For each of what was asked. What cannot be read in time is said to be not analysed, and is as good as empty:
        whoever makes a test unreadable has taken it away."""
        heard = self._heard(meanwhile)
        for give_up in (self._give_up_some, self._give_up_all):
            if isinstance(heard, str):
                give_up(heard, meanwhile)
                self._send(self._asked_readable(), max(self._allowed, 2 * _SEARCH))
                heard = self._heard(meanwhile)
        if isinstance(heard, str):
            raise GuardFailed(f"the guard cannot look at what was changed: {heard}", hint="run the command again")
        return [self._with_unreadable(*both) for both in zip(heard, self._asked, strict=True)]

    def close(self) -> int:
        """How its process ended; closing twice is fine."""
        status = 0
        if self._line:
            self._line.close()
            self._line = None
            with contextlib.suppress(ChildProcessError):  # collected already, by a program that ignores SIGCHLD
                _, status = os.waitpid(self._pid, 0)
        return os.waitstatus_to_exitcode(status)

    def _send(self, trees: Sequence[Sequence[Change]], seconds: float) -> None:
        self._questions += 1
        asked = [[_as_tuple(change) for change in changes] for changes in trees]
        told = marshal.dumps((self._questions, self._task, self._reviewed, seconds, asked))
        for _ in range(2):
            line = self._line or self._summon()
            try:
                return _write(line, told)
            except (BrokenPipeError, ConnectionResetError):  # somebody has killed it
                self.close()
        return None

    def _summon(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._pid = aside.fork(b"ralph-guard", theirs.fileno(), _serve)
            except OSError as error:
                ours.close()
                raise GuardFailed(f"the guard cannot be started: {error.strerror}", hint=_FEWER) from error
        self._line = ours
        return ours

    def _heard(self, meanwhile: Callable[[], object]) -> list[Judgement] | str:
        """Why there is no judgement, in words, if there is none."""
        if self._line is None:
            return "the guard was killed"
        poll = select.poll()
        poll.register(self._line, select.POLLIN)
        number = 0
        while number != self._questions:  # nobody may have waited for the answer to an earlier one
            while not poll.poll(_TICK_MS):
                meanwhile()
            said = _read(self._line)
            if said is None:
                return self._why_it_ended()
            number, told = marshal.loads(said)  # noqa: S302  of a fork of ours, over a line that nobody else has
        return told if isinstance(told, str) else msgspec.convert(told, list[Judgement], strict=False)

    def _why_it_ended(self) -> str:
        status = self.close()
        return _TOO_LONG if status == -signal.SIGXCPU else f"the guard fell over it ({status})"

    def _asked_readable(self) -> list[list[Change]]:
        return [[self._readable(change) for change in changes] for changes in self._asked]

    def _readable(self, change: Change) -> Change:
        if not self._unreadable:
            return change
        before, after = (b"" if self._why(content) else content for content in (change.before, change.after))
        return replace(change, before=before, after=after)

    def _why(self, content: bytes | None) -> str:
        return self._unreadable.get(_digest(content), "") if content else ""

    def _give_up_some(self, why: str, meanwhile: Callable[[], object]) -> None:
        """What is too much by itself, and what there was no time to try. What was there before is only at fault if it
        is too much without what came after it."""
        give_up = time.monotonic() + _SEARCH
        for change in dict.fromkeys(change for changes in self._asked for change in changes):
            tried = time.monotonic() < give_up
            found = self._alone(change, meanwhile) if tried else why
            if found and tried and change.before and self._alone(replace(change, after=None), meanwhile):
                self._unreadable[_digest(change.before)] = found
            if found and change.after:
                self._unreadable[_digest(change.after)] = found

    def _give_up_all(self, why: str, _: Callable[[], object]) -> None:
        after = [change.after for changes in self._asked for change in changes]
        self._unreadable |= {_digest(content): why for content in after if content}

    def _alone(self, change: Change, meanwhile: Callable[[], object]) -> str:
        """Why this one cannot be read; empty if it can."""
        self._send([[self._readable(change)]], _ALONE)
        found = self._heard(meanwhile)
        return found if isinstance(found, str) else ""

    def _with_unreadable(self, judgement: Judgement, changes: tuple[Change, ...]) -> Judgement:
        if not self._unreadable:
            return judgement
        sides = [side for change in changes for side in _sides(change)]
        unread = (NotAnalysed(path, why) for path, content in sides if (why := self._why(content)))
        return Judgement(judgement.findings, (*judgement.not_analysed, *dict.fromkeys(unread)))


def _sides(change: Change) -> list[tuple[str, bytes]]:
    both = ((change.was_at, change.before), (change.path, change.after))
    return [(path, content) for path, content in both if content]


def _as_tuple(change: Change) -> tuple[str, bytes | None, bytes | None, str | None]:
    return change.path, change.before, change.after, change.old_path


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _write(line: socket.socket, told: bytes) -> None:
    line.sendall(len(told).to_bytes(_HEADER, "big") + told)


def _read(line: socket.socket) -> bytes | None:
    """What was written; None if whoever writes is gone."""
    size = _read_all(line, _HEADER)
    return None if size is None else _read_all(line, int.from_bytes(size, "big"))


def _read_all(line: socket.socket, size: int) -> bytes | None:
    read = bytearray(size)
    view = memoryview(read)
    while view:
        try:
            count = line.recv_into(view)
        except ConnectionResetError:
            count = 0
        if not count:
            return None
        view = view[count:]
    return bytes(read)


def _serve(line: int) -> None:
    """The life of the guard's process. Whoever needs more than its time is ended by the kernel."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGXCPU})
    with socket.socket(fileno=line) as asked:
        while (told := _read(asked)) is not None:
            number, task, reviewed, seconds, trees = marshal.loads(told)  # noqa: S302  the runner wrote it
            _allow(seconds)
            _write(asked, marshal.dumps((number, _judged(task, trees, reviewed=reviewed))))


def _judged(task: str, trees: list[list[tuple[Any, ...]]], *, reviewed: bool) -> list[dict[str, Any]] | str:
    try:
        judged = [judge([Change(*one) for one in changes], task=task, reviewed=reviewed) for changes in trees]
    except Exception as error:  # noqa: BLE001  whatever it is, the runner is to hear of it and go on
        return f"the guard fell over it: {type(error).__name__}: {error}"
    built: list[dict[str, Any]] = msgspec.to_builtins(judged)
    return built


def _allow(seconds: float) -> None:
    """That much CPU time from now on."""
    used = time.process_time()
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    allowed = int(used + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (allowed if most == resource.RLIM_INFINITY else min(allowed, most), most))
