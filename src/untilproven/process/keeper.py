"""The keeper: a fork of the runner that starts one program after another, each once nothing of the last is left.

It runs nothing but this module, takes no signal that can be refused, and ends with the runner. What it tells the
runner of a program are three kinds of line: "started PID", "refused REASON", "ended STATUS STRAGGLERS SURVIVORS";
then it closes the pipe. Within walls processes have other numbers than outside: there it says 0, and sends a handle.
"""

import contextlib
import errno
import fcntl
import gc
import marshal
import os
import select
import signal
import socket
import time
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

from untilproven.process import kernel, leftovers, sweep, table
from untilproven.process.lookup import Order
from untilproven.process.table import Process

if TYPE_CHECKING:
    from untilproven.process.inside import Inside
    from untilproven.process.walls import Interior

INTERRUPT, TERMINATE, KILL = b"i", b"t", b"k"
"""What the runner may ask for, a byte each. The end of that pipe asks for KILL."""

CLEARED, SPOILED, STARTED = b"c", b"s", b"p"
"""What a keeper within walls says: its room is cleared and another one can be furnished, or not; here is a handle of
the program."""

_ROOM, _PROGRAM, _CLEAR = b"r", b"o", b"c"
_SIGNALS = {INTERRUPT: signal.SIGINT, TERMINATE: signal.SIGTERM}
_SHELL = "/bin/sh"
_REAP_EVERY_MS = 1000
_WITH_A_DEFAULT = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}


class Pipes(NamedTuple):
    """Files that go with an order: the order itself, the keeper's ends of two pipes to the runner, and what the
    program gets as its three streams."""

    order: int
    report: int
    control: int
    stdin: int
    stdout: int
    stderr: int


class Around(Protocol):
    """What a keeper puts around itself and all it starts."""

    def confine(self) -> "Inside | None":
        """From now on neither can do more than that; may return in another process. Raises OSError if it cannot be."""


def keep(orders: int, marker: str, runner: int, around: "Around | None") -> NoReturn:
    """The life of the keeper, called in the fork with all signals blocked; it never returns into the runner's code."""
    try:
        gc.disable()  # a finaliser of the runner's objects would close numbers that are ours now
        orders = keep_only(orders)
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it was ignored, no status could be read
        kernel.set_subreaper(True)
        kernel.signal_when_parent_dies(signal.SIGCONT)  # wakes us if somebody stopped us before the runner died
        leftovers.show_mark_of_keeper(marker)
        runner_end = os.pidfd_open(runner)
        if os.getppid() == runner:
            inside, refusal = _wall_in(around) if around else (None, "")
            _serve(orders, runner_end, inside, refusal)
    finally:
        os._exit(0)


def keep_only(orders: int) -> int:
    """Close every file of the runner: its locks, its terminal, the pipes of other keepers."""
    ours = fcntl.fcntl(orders, fcntl.F_DUPFD_CLOEXEC, 3)
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208  os.closerange counts to the limit on some builds
        if int(name) != ours:
            try:
                os.close(int(name))
            except OSError:
                continue  # the one that listed them
    # The numbers of the standard streams must be taken, or a program's streams would be put over one another.
    for _ in range(3):
        os.open(os.devnull, os.O_RDWR)
    return ours


def send_order(orders: socket.socket, order: Order, pipes: Pipes) -> None:
    """Hand a keeper its next program; `pipes.order` is an empty file for the purpose."""
    os.write(pipes.order, marshal.dumps(tuple(order)))
    socket.send_fds(orders, [_PROGRAM], list(pipes))


def send_room(orders: socket.socket, interior: "Interior") -> None:
    """Have a keeper within walls furnish a room for its next programs; the runner need not wait for that."""
    told = os.memfd_create("room")
    try:
        os.write(told, marshal.dumps(([tuple(layer) for layer in interior.layers], *interior[1:])))
        socket.send_fds(orders, [_ROOM], [told])
    finally:
        os.close(told)


def handle_of_program(orders: socket.socket) -> int:
    """The handle that a keeper within walls has sent of what it started."""
    said, fds, _, _ = socket.recv_fds(orders, 1, 1)
    if said != STARTED or not fds:
        raise ProcessLookupError("the keeper was killed")
    os.set_inheritable(fds[0], False)
    return fds[0]


def ask_to_clear(orders: socket.socket) -> None:
    """Nothing of the room is to be left; the answer comes the same way."""
    orders.send(_CLEAR)


def _wall_in(around: "Around") -> "tuple[Inside | None, str]":
    """The way to its rooms, if it has some, or why it could not be built; then nothing is ever started."""
    try:
        return around.confine(), ""
    except OSError as error:
        return None, f"no room could be built: {error.strerror}"


def _serve(orders: int, runner_end: int, inside: "Inside | None", refusal: str) -> None:
    poll = select.poll()
    unfurnished = ""
    with socket.socket(fileno=orders) as line:
        for fd in (orders, runner_end):
            poll.register(fd, select.POLLIN)
        while runner_end not in [fd for fd, _ in poll.poll()]:
            said, fds, _, _ = socket.recv_fds(line, 1, len(Pipes._fields))
            if not said:
                return
            for fd in fds:
                os.set_inheritable(fd, False)
            if said == _CLEAR:
                line.send(CLEARED if inside and inside.clear() else SPOILED)
            elif said == _ROOM:
                unfurnished = _furnished(inside, _told(fds[0])) if inside else ""
                os.close(fds[0])
            else:
                _obey(Pipes(*fds), refusal or unfurnished, runner_end, line if inside else None)


def _obey(pipes: Pipes, refusal: str, runner_end: int, walled: socket.socket | None) -> None:
    """Start a program and stay with it to its end, unless it cannot be started at all."""
    try:
        if refusal:
            _tell(pipes, f"refused {refusal}")
        else:
            _run(Order(*_told(pipes.order)), pipes, runner_end, walled)
    finally:
        for fd in (pipes.order, pipes.control, pipes.report):
            os.close(fd)


def _told(file: int) -> tuple[Any, ...]:
    written = os.pread(file, os.fstat(file).st_size, 0)
    told: tuple[Any, ...] = marshal.loads(written)  # noqa: S302  the runner wrote it, in a file that nobody else has
    return told


def _furnished(inside: "Inside", room: tuple[Any, ...]) -> str:
    """Why the room could not be furnished."""
    from untilproven.process.walls import Interior, Layer  # noqa: PLC0415  loaded already

    try:
        inside.furnish(Interior(tuple(Layer(*layer) for layer in room[0]), *room[1:]))
    except OSError as error:
        return f"no room could be built: {error.strerror}"
    return ""


def _run(order: Order, pipes: Pipes, runner_end: int, walled: socket.socket | None) -> None:
    streams = (pipes.stdin, pipes.stdout, pipes.stderr)
    try:
        program = _spawn(order, pipes)
    except OSError as error:
        _tell(pipes, f"refused {_refusal(order, error)}")
        return
    finally:
        for fd in streams:
            os.close(fd)
        os.chdir("/")
    family = Family(program)
    program_end = os.pidfd_open(program)
    try:
        if walled:
            with contextlib.suppress(OSError):  # the runner died, which `_wait` sees
                socket.send_fds(walled, [STARTED], [program_end])
        _tell(pipes, f"started {0 if walled else program}")
        _wait(family, program_end, pipes.control, runner_end)
    finally:
        os.close(program_end)
        stragglers, survivors = family.end()
    _tell(pipes, f"ended {family.status} {stragglers} {survivors}")


def _tell(pipes: Pipes, line: str) -> None:
    with contextlib.suppress(BrokenPipeError):  # the runner died, which `_wait` sees
        os.write(pipes.report, f"{line}\n".encode(errors="replace"))


def _spawn(order: Order, pipes: Pipes) -> int:
    os.chdir(order.cwd)
    try:
        return _started(order.path, order.argv, order, pipes)
    except OSError as error:
        if error.errno != errno.ENOEXEC or not order.plain:
            raise
        # In a room the tree may have another file there than the one that was looked at.
        return _started(_SHELL, [_SHELL, order.path, *order.argv[1:]], order, pipes)


def _started(path: str, argv: list[str], order: Order, pipes: Pipes) -> int:
    return os.posix_spawn(
        path,
        argv,
        order.env,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate((pipes.stdin, pipes.stdout, pipes.stderr))
        ],
        setsid=True,
        setsigmask=(),
        setsigdef=_WITH_A_DEFAULT,
    )


def _refusal(order: Order, error: OSError) -> str:
    if not os.path.isdir(order.cwd):  # noqa: PTH112  the keeper loads no module
        return f"cannot enter {order.cwd}: {error.strerror}"
    if os.path.isdir(order.path):  # noqa: PTH112  the keeper loads no module
        return f"{order.path}: is a directory"
    return f"{order.path}: {error.strerror}"


def _wait(family: "Family", program_end: int, control: int, runner_end: int) -> None:
    """Until the program has ended, or must."""
    poll = select.poll()
    for fd in (program_end, control, runner_end):
        poll.register(fd, select.POLLIN)
    while family.status is None:
        ready = [fd for fd, _ in poll.poll(_REAP_EVERY_MS)]
        family.reap()
        if runner_end in ready:
            return
        if control in ready:
            asked = os.read(control, 1)
            if asked not in _SIGNALS:
                return
            sweep.send_all(family.living(), _SIGNALS[asked])


class Family:
    """The program and all that descends from it: the keeper has no other children."""

    def __init__(self, program: int) -> None:
        self.program = program
        self.status: int | None = None

    def reap(self) -> bool:
        """Collect the dead; whether any child is left. With none left, no descendant is either."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.program:
                self.status = status

    def living(self) -> list[Process]:
        self.reap()
        return [process for process in table.descendants(os.getpid()) if process.alive]

    def end(self) -> tuple[int, int]:
        """End them all; how many besides the program had to be killed, and how many are still there."""
        give_up = time.monotonic() + sweep.PATIENCE
        killed: set[tuple[int, int]] = set()
        survivors = 0
        while self.reap() and time.monotonic() < give_up:
            swept = sweep.end_all(self.living, give_up - time.monotonic())
            killed |= swept.killed
            survivors = swept.survivors
            if survivors:
                break
        return sum(pid != self.program for pid, _ in killed), survivors
