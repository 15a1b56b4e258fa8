"""The bell of a running loop: whoever rings is told how the loop stands, and the loop looks for requests at once."""

import contextlib
import os
import select
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from untilproven.errors import RalphError
from untilproven.model.wire import UNREADABLE
from untilproven.runtime.control import peer, porch, requests
from untilproven.runtime.control.requests import Request
from untilproven.runtime.control.words import LONGEST, Knock, Reply, line
from untilproven.store import reader
from untilproven.store.layout import StateDirectory

_AT_ONCE = 32
_WAITING = 256
_PATIENCE = 5.0
_BACKLOG = 256


class Visitor:
    """Somebody who rang and has not yet said why."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.give_up = time.monotonic() + _PATIENCE
        self.said = b""

    def listen(self) -> bool | None:
        """Whether a proper knock has come; None if it may still come."""
        try:
            chunk = self.connection.recv(LONGEST, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        except OSError:
            return False
        self.said += chunk
        if chunk and b"\n" not in self.said:
            return None if len(self.said) < LONGEST else False
        try:
            msgspec.json.decode(self.said.partition(b"\n")[0], type=Knock)
        except UNREADABLE:
            return False
        return True

    def tell(self, answer: bytes) -> None:
        with contextlib.suppress(OSError):  # gone, or so full of what we said before that it will not read this
            self.connection.send(answer, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)


class Bell:
    """For whoever holds the loop's lock. Hang it after the lock is taken, take it down before the lock is given up.

    `fd` can be read when somebody is there: `answer` then, and look what is `wanted`. Where no bell can be hung, `fd`
    is -1 and `problem` says why; what is wanted is found all the same.
    """

    def __init__(self, directory: StateDirectory, loop_id: str) -> None:
        self.fd = -1
        self.problem = ""
        """What went wrong last; never a reason to stop the loop."""
        self._directory, self._loop_id = directory, loop_id
        self._place: Path | None = None
        self._visitors: dict[int, Visitor] = {}
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as undo:
            try:
                self._place = requests.place_of(self._directory, self._loop_id)
                self._hang(undo)
            except (OSError, RuntimeError, RalphError, porch.Unsafe) as error:
                self._complain(f"other terminals cannot ring: {error}")
            else:
                self._open = undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for fd in list(self._visitors):
            self._turn_away(fd)
        self.fd = -1
        self._open.close()

    def answer(self) -> None:
        """Serve who is there, and never wait for anybody: who is slow or too many is served by a later call."""
        if self.fd < 0:
            return
        ready = [fd for fd, _ in self._ready.poll(0, _AT_ONCE)]
        self._hear([fd for fd in ready if fd in self._visitors])
        if self._listener.fileno() in ready:
            self._let_in()
        self._turn_away_the_silent()

    def wanted(self) -> Request | None:
        """The strongest request that waits; whether or not anybody rang, for a ring can be lost."""
        if self._place is None:
            return requests.pending(self._directory, self._loop_id, self._complain)
        return requests.pending_at(self._place, self._complain)

    def done(self, request: Request) -> None:
        """A request was obeyed, or cannot be: it is not wanted any more."""
        try:
            requests.clear(self._directory, self._loop_id, request)
        except (OSError, RalphError) as error:
            self._complain(str(error))

    def _hang(self, undo: contextlib.ExitStack) -> None:
        directory = porch.make()
        undo.callback(directory.close)
        name = requests.name_of(self._directory, self._loop_id)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory.fd)  # of a dead runner: we hold the loop's lock, so nobody serves it
        self._listener = undo.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        self._listener.setblocking(False)
        self._listener.bind(directory.address(name))
        undo.callback(_unlink, directory, name, os.stat(name, dir_fd=directory.fd, follow_symlinks=False).st_ino)
        self._listener.listen(_BACKLOG)
        self._ready = undo.enter_context(select.epoll())
        self._ready.register(self._listener, select.EPOLLIN)
        self.path = directory.path / name
        self.fd = self._ready.fileno()

    def _hear(self, ready: list[int]) -> None:
        heard = {fd: self._visitors[fd].listen() for fd in ready}
        reply = line(self._reply()) if any(heard.values()) else b""
        for fd, knocked in heard.items():
            if knocked:
                self._visitors[fd].tell(reply)
            if knocked is not None:
                self._turn_away(fd)

    def _let_in(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                return
            except ConnectionError:
                continue
            except OSError as error:  # too many open files, say; the bell must not ring for ever
                self._complain(f"other terminals cannot ring any more: {error}")
                self._ready.unregister(self._listener)
                return
            if not peer.is_one_of_us(connection):
                connection.close()
                continue
            if len(self._visitors) >= _WAITING:
                self._turn_away(next(iter(self._visitors)))
            self._visitors[connection.fileno()] = Visitor(connection)
            self._ready.register(connection, select.EPOLLIN)

    def _turn_away_the_silent(self) -> None:
        now = time.monotonic()
        for fd in [fd for fd, visitor in self._visitors.items() if visitor.give_up < now]:
            self._turn_away(fd)

    def _turn_away(self, fd: int) -> None:
        # A program just started may hold a copy for a moment, so closing alone would not silence it.
        self._ready.unregister(fd)
        self._visitors.pop(fd).connection.close()

    def _reply(self) -> Reply:
        found = self.wanted()
        reply = Reply(loop_id=self._loop_id, seen=found.id if found else None)
        try:
            state = reader.view(self._directory, self._loop_id).state
        except (OSError, RalphError) as error:
            self._complain(str(error))
            return reply
        return msgspec.structs.replace(reply, status=state.status.value, iteration=state.iteration)

    def _complain(self, problem: str) -> None:
        self.problem = problem


def _unlink(directory: porch.Porch, name: str, inode: int) -> None:
    with contextlib.suppress(OSError):
        if os.stat(name, dir_fd=directory.fd, follow_symlinks=False).st_ino == inode:
            os.unlink(name, dir_fd=directory.fd)
