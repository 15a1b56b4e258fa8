"""A loop that outlives its terminal: the work goes on in a process of its own, and the caller hears how it began."""

import contextlib
import io
import os
import signal
import stat
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from untilproven.core.text import printable, text
from untilproven.errors import RalphError, StoreFailed
from untilproven.store import files

Ready = Callable[[str, Path], None]
"""Called by the work once the loop exists, with its id and the file that gets what is printed from then on."""

_INTERNAL = 3
_CHUNK = 65536
_LOG_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Detached(msgspec.Struct, frozen=True, kw_only=True):
    """A loop that was started: the process that runs it, and where its words go."""

    pid: int
    loop_id: str
    log: Path


class _Began(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    pid: int


class _Started(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    loop_id: str
    log: bytes


class _Refused(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    kind: str
    exit_code: int
    message: str
    hint: str = ""
    details: dict[str, Any] = {}


_Message = _Began | _Started | _Refused


def detached(work: Callable[[Ready], int]) -> Detached:
    """Do the work in a process without a terminal, and return as soon as it says that it is ready.

    What it raises before that is raised here, and Ctrl-C before that ends it. Until then it prints where we print.
    """
    _flush()
    told, tell = os.pipe()
    waiting = _Waiting(told)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until we know whom Ctrl-C is to end
    try:
        starter = _fork()
        if starter == 0:
            os.close(told)
            _start(work, tell, before)
        os.close(tell)
        os.waitpid(starter, 0)
        waiting.for_a_process()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return waiting.for_the_loop()
    except KeyboardInterrupt:
        waiting.end_it()
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(told)


class _Waiting:
    """The caller, waiting to hear that the loop began, or why not."""

    def __init__(self, told: int) -> None:
        self._told = told
        self._rest = b""
        self._pid = 0

    def for_a_process(self) -> None:
        """The process says who it is before anything else, unless it dies first."""
        message = self._next()
        if isinstance(message, _Began):
            self._pid = message.pid

    def for_the_loop(self) -> Detached:
        while (message := self._next()) is not None:
            match message:
                case _Started():
                    return Detached(pid=self._pid, loop_id=message.loop_id, log=Path(os.fsdecode(message.log)))
                case _Refused():
                    raise _again(message)
        raise RalphError(
            "the process of the loop ended before the loop began, and did not say why",
            hint="the same command without --detach shows what happens",
        )

    def end_it(self) -> None:
        if self._pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGTERM)

    def _next(self) -> _Message | None:
        while b"\n" not in self._rest:
            chunk = os.read(self._told, _CHUNK)
            if not chunk:
                return None
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        message: _Message = msgspec.json.decode(line, type=_Message)
        return message


def _again(refused: _Refused) -> RalphError:
    error = RalphError(refused.message, hint=refused.hint, details=refused.details)
    error.kind, error.exit_code = refused.kind, refused.exit_code
    return error


def _start(work: Callable[[Ready], int], tell: int, mask: Iterable[int]) -> NoReturn:
    """Become a process that no terminal can reach; it never returns into the caller's code."""
    code = _INTERNAL
    try:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        code = _Worker(tell).do(work) if _fork() == 0 else 0
    finally:
        _flush()
        os._exit(code)


class _Worker:
    """The process that does the work, and tells whoever waits for it to begin."""

    def __init__(self, tell: int) -> None:
        self._tell = tell
        self._say(_Began(pid=os.getpid()))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)

    def do(self, work: Callable[[Ready], int]) -> int:
        try:
            code = work(self._ready)
        except RalphError as error:
            self._fail(_refused(error))
            return error.exit_code
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        except Exception as error:  # noqa: BLE001  whatever it is, somebody must be told
            import traceback  # noqa: PLC0415  nobody foresaw this

            trace = "".join(traceback.format_exception(error))
            message = f"internal error: {type(error).__name__}: {error}"
            self._fail(_Refused(kind="internal", exit_code=_INTERNAL, message=text(message), hint=text(trace)))
            return _INTERNAL
        if self._tell >= 0:
            message = f"the process of the loop ended with code {code} before the loop began"
            self._say(_Refused(kind="failed", exit_code=code or 1, message=message))
        return code

    def _ready(self, loop_id: str, log: Path) -> None:
        """From here on nobody waits for us, and the terminal is not ours."""
        if self._tell < 0:
            return
        fd = _open_log(log)
        _flush()
        for stream in (1, 2):
            os.dup2(fd, stream)
        os.close(fd)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=True)  # somebody may follow the log
        self._say(_Started(loop_id=loop_id, log=os.fsencode(log)))
        os.close(self._tell)
        self._tell = -1

    def _fail(self, refused: _Refused) -> None:
        if self._tell >= 0:
            self._say(refused)
        else:
            sys.stderr.write(printable(f"ralph: {refused.message}\n  {refused.hint}\n"))

    def _say(self, message: _Message) -> None:
        with contextlib.suppress(BrokenPipeError):  # whoever waited was killed; the work goes on without it
            files.write_all(self._tell, msgspec.json.encode(message) + b"\n")


def _refused(error: RalphError) -> _Refused:
    try:
        msgspec.json.encode(error.details)
        details = error.details
    except (TypeError, ValueError):
        details = {}
    return _Refused(
        kind=error.kind,
        exit_code=error.exit_code,
        message=text(error.message),
        hint=text(error.hint),
        details=details,
    )


def _open_log(log: Path) -> int:
    files.refuse_link(log)
    with files.explained(log):
        fd = os.open(log, _LOG_FLAGS, 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise StoreFailed(f"{log} is in the way: it is not a regular file")
    os.set_blocking(fd, True)
    return fd


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()


def _fork() -> int:
    with warnings.catch_warnings():
        # From 3.12 on a fork beside other threads warns; the command line has none.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()
