"""Asking a loop from another terminal: leave the request, ring, and act in its place if nobody runs it."""

import contextlib
import socket
import time
from typing import Literal

import msgspec

from untilproven.core.transition import move
from untilproven.errors import Busy, IllegalTransition, RalphError
from untilproven.model.events import StatusChanged
from untilproven.model.state import LoopState
from untilproven.model.status import TERMINAL, Status
from untilproven.model.wire import UNREADABLE
from untilproven.process.leftovers import end_leftovers
from untilproven.runtime.closing import write_receipt
from untilproven.runtime.control import peer, porch, requests
from untilproven.runtime.control.requests import Request
from untilproven.runtime.control.words import LONGEST, Knock, Reply, line
from untilproven.store import lifecycle, reader
from untilproven.store.layout import StateDirectory
from untilproven.store.lock import is_locked
from untilproven.store.writer import foreign

ANSWER_SECONDS = 3.0
"""A runner answers at once, unless it is in the middle of something that cannot be interrupted."""

_LOOK_EVERY = 0.02
_LAST_STEPS = 1.0


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a request.

    seen: the runner answered and will obey. done: the loop is as it was wanted, or has ended otherwise; `state` tells.
    left: somebody holds the loop and does not answer; the request waits for it.
    """

    kind: Literal["seen", "done", "left"]
    loop_id: str
    request: Request
    """The one that counts: an abort that was asked for before is not weakened by a pause."""
    state: LoopState
    survivors: int = 0
    """Processes of a dead runner that could not be ended."""


def ask(directory: StateDirectory, loop_id: str, request: Request, *, wait: float = ANSWER_SECONDS) -> Answer:
    """Ask whoever runs the loop; what the loop's state does not allow is refused and leaves no trace."""
    seen = reader.resolve(directory, loop_id)
    if seen.foreign:
        raise foreign(loop_id)
    state, loop_id = seen.state, seen.state.loop_id
    _allow(state, request)
    deadline = time.monotonic() + wait
    counts = requests.leave(directory, loop_id, request)
    try:
        return _answered(directory, loop_id, counts, deadline)
    except RalphError:
        if counts == request:
            _clear(directory, loop_id, request)
        raise


def wait_until_done(directory: StateDirectory, answer: Answer, *, seconds: float) -> Answer:
    """Wait until a request was obeyed, in the runner's place if it dies before; the answer as it then stands."""
    loop_id, request = answer.loop_id, answer.request
    lock = directory.loop(loop_id).lock
    deadline = time.monotonic() + seconds
    while answer.kind != "done" and time.monotonic() < deadline:
        state = reader.view(directory, loop_id).state
        if _obeyed(state, request):
            _await_last_steps(directory, loop_id, deadline)
            return _done(directory, loop_id, request)
        if not is_locked(lock):
            with contextlib.suppress(Busy):
                return _act(directory, loop_id, request)
        answer = msgspec.structs.replace(answer, state=state)
        time.sleep(_LOOK_EVERY)
    return answer


def ring(directory: StateDirectory, loop_id: str, request: Request, deadline: float) -> Reply | None:
    """The answer of whoever runs the loop; None if nobody answers in time."""
    name = requests.name_of(directory, loop_id)
    for place in porch.existing():
        with contextlib.suppress(OSError, *UNREADABLE), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_left(deadline))
            connection.connect(place.address(name))  # or fails at once, if too many are waiting to be let in
            if not peer.is_same_user(connection):
                continue
            connection.sendall(line(Knock(request=request.id)))
            reply = msgspec.json.decode(_line_from(connection, deadline), type=Reply)
            if reply.loop_id == loop_id:
                return reply
    return None


def _answered(directory: StateDirectory, loop_id: str, request: Request, deadline: float) -> Answer:
    while True:
        reply = ring(directory, loop_id, request, deadline)
        state = reader.view(directory, loop_id).state
        if _obeyed(state, request):
            return _done(directory, loop_id, request)
        if reply is not None:
            _allow(state, request)
            return Answer(kind="seen", loop_id=loop_id, request=request, state=state)
        try:
            return _act(directory, loop_id, request)
        except Busy:
            if time.monotonic() >= deadline:
                return Answer(kind="left", loop_id=loop_id, request=request, state=state)
        time.sleep(_LOOK_EVERY)


def _allow(state: LoopState, request: Request) -> None:
    """Refuse what the state machine has no move for."""
    if request.do == "pause":
        if state.status is Status.COMPLETING:
            raise IllegalTransition(
                f"{state.loop_id} is completing and cannot become paused: it is delivering its result",
                hint=f"wait until it is done, or end it: ralph abort {state.loop_id}",
            )
        move(state.status, Status.PAUSED)
    elif state.status not in {Status.CRASHED, Status.COMPLETING}:
        move(state.status, Status.ABORTED)


def _obeyed(state: LoopState, request: Request) -> bool:
    """Whether there is nothing left to do; to abort a crashed loop is to take its slot."""
    if request.do == "pause":
        return state.status in TERMINAL | {Status.PAUSED}
    return state.status in TERMINAL - {Status.CRASHED}


def _act(directory: StateDirectory, loop_id: str, request: Request) -> Answer:
    """Nobody runs the loop: end what its dead runner left running, then record what was asked for."""
    survivors = 0

    def before() -> None:
        nonlocal survivors
        survivors = end_leftovers(loop_id).survivors
        state = reader.view(directory, loop_id).state
        if request.do == "abort" and state.status is not Status.CRASHED:
            to = Status.FAILED if state.status is Status.COMPLETING else Status.ABORTED
            write_receipt(directory.loop(loop_id), state, StatusChanged(to=to, reason="aborted_by_user"))

    obey = lifecycle.abort_loop if request.do == "abort" else lifecycle.pause_loop
    try:
        obey(directory, loop_id, before=before)
    except IllegalTransition:
        if not _obeyed(reader.view(directory, loop_id).state, request):  # by another terminal, a moment ago
            raise
    _clear(directory, loop_id, request)
    return _done(directory, loop_id, request, survivors)


def _done(directory: StateDirectory, loop_id: str, request: Request, survivors: int = 0) -> Answer:
    """The answer when all is done; whoever did it took the request away, unless it was killed just then."""
    state = reader.view(directory, loop_id).state
    if state.status in TERMINAL:
        _clear(directory, loop_id)
    return Answer(kind="done", loop_id=loop_id, request=request, state=state, survivors=survivors)


def _clear(directory: StateDirectory, loop_id: str, request: Request | None = None) -> None:
    with contextlib.suppress(RalphError):  # what was asked for is recorded, or refused; this is only tidying up
        if request is None:
            requests.clear_all(directory, loop_id)
        else:
            requests.clear(directory, loop_id, request)


def _await_last_steps(directory: StateDirectory, loop_id: str, deadline: float) -> None:
    """A runner that has paused or ended its loop gives up the lock soon; one with a terminal may stay at a pause."""
    give_up = min(deadline, time.monotonic() + _LAST_STEPS)
    while is_locked(directory.loop(loop_id).lock) and time.monotonic() < give_up:
        time.sleep(_LOOK_EVERY)


def _line_from(connection: socket.socket, deadline: float) -> bytes:
    said = b""
    while b"\n" not in said and len(said) < LONGEST:
        connection.settimeout(_left(deadline))
        chunk = connection.recv(LONGEST)
        if not chunk:
            break
        said += chunk
    return said.partition(b"\n")[0]


def _left(deadline: float) -> float:
    """Seconds until then, and never none: zero would mean not to wait, but to fail."""
    return max(deadline - time.monotonic(), 0.001)
