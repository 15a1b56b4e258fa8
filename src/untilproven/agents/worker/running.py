"""One action's program: run to its end or to its time limit, with its whole process group ended either way."""

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from untilproven.process.spool import Excerpt

LONGEST_OUTPUT = 32 * 1024
_READ = 64 * 1024
_LOOK = 0.05
"""How often it is looked whether a program has ended that left its output open to another."""


class Ran(NamedTuple):
    outcome: str
    output: str
    in_time: bool


def run(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], seconds: float, stdin: str = "") -> Ran:
    """Both streams as they came, the middle cut out if it is too much. Raises OSError if it cannot be started."""
    with _spoken(stdin) as words:
        program = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    with program:
        assert program.stdout is not None  # noqa: S101  it is a pipe
        output = _Output(program.stdout.fileno())
        try:
            in_time = _watch(program, output, time.monotonic() + seconds)
        finally:
            _end_group(program)
        output.take()
    return Ran(_outcome(program.returncode, in_time, seconds) + output.note, output.text, in_time)


def _spoken(words: str) -> IO[bytes]:
    """A file, so that a program that does not listen keeps nobody waiting."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  the caller closes it
    file.write(words.encode("utf-8", "replace"))
    file.seek(0)
    return file


class _Output:
    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._excerpt = Excerpt(LONGEST_OUTPUT)
        self._seen = 0
        os.set_blocking(fd, False)

    def wait(self) -> bool:
        """For more of it, not long; False at its end."""
        select.select([self._fd], [], [], _LOOK)
        return self._read()

    def take(self) -> None:
        """What is left in the pipe, whoever else may hold it."""
        while self._seen_more():
            pass

    def _seen_more(self) -> bool:
        before = self._seen
        return self._read() and self._seen > before

    def _read(self) -> bool:
        try:
            chunk = os.read(self._fd, _READ)
        except BlockingIOError:
            return True
        self._seen += len(chunk)
        self._excerpt.write(chunk)
        return bool(chunk)

    @property
    def text(self) -> str:
        return self._excerpt.text()

    @property
    def note(self) -> str:
        return f", output of {self._seen} bytes cut" if self._seen > LONGEST_OUTPUT else ""


def _watch(program: subprocess.Popen[bytes], output: _Output, until: float) -> bool:
    """Whether it ended before that."""
    while time.monotonic() < until:
        open_still = output.wait()
        if os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return True  # it is not forgotten yet, so that its number is nobody else's
        if not open_still:
            time.sleep(_LOOK)  # it closed its output, and goes on
    return False


def _end_group(program: subprocess.Popen[bytes]) -> None:
    """Also what it left in the background."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()


def _outcome(code: int, in_time: bool, seconds: float) -> str:
    if not in_time:
        return f"refused: it took more than {seconds:g} s and was ended"
    return f"exit {code}" if code >= 0 else f"ended by signal {-code}"
