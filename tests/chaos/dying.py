"""A runner that dies by SIGKILL: at a step it takes, at a moment, or when its journal has come so far."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

RUNNER = """
import atexit, os, signal, sys

me, steps = os.getpid(), 0
die_at, with_keeper, count_file, *words = sys.argv[1:]
events = {"open", "os.rename", "os.remove", "os.mkdir", "os.link", "os.fork", "os.truncate", "os.rmdir",
          "fcntl.flock", "socket.bind", "socket.sendmsg", "os.kill", "shutil.rmtree"}

def step():
    global steps
    if os.getpid() != me:
        return
    steps += 1
    if steps == int(die_at):
        if with_keeper == "yes":
            for child in open(f"/proc/{me}/task/{me}/children").read().split():
                os.kill(int(child), signal.SIGKILL)
        os.kill(me, signal.SIGKILL)

def audit(event, args):
    if event in events and not (event == "open" and str(args[0]).endswith((".py", ".pyc", ".so"))):
        step()

def noticed(call):
    def wrapped(*args):
        step()
        result = call(*args)
        step()
        return result
    return wrapped

from untilproven.cli import main
os.write, os.fsync, os.fdatasync = noticed(os.write), noticed(os.fsync), noticed(os.fdatasync)
sys.addaudithook(audit)
if count_file:
    atexit.register(lambda: open(count_file, "w").write(str(steps)))
sys.argv = ["ralph", *words]
sys.exit(main.run(words))
"""
"""`ralph`, counting everything it does that the file system or another process can see."""

_LOOK_EVERY = 0.0005
_PATIENCE = 60.0


Whom = Literal["runner", "keeper too", "group"]
_WHOM: tuple[Whom, ...] = ("runner", "keeper too", "group")


class Doom(NamedTuple):
    """How a runner dies: at its nth step, after so many seconds, or some time after the nth line of its journal."""

    by: Literal["step", "time", "line", "nothing"] = "nothing"
    step: int = 0
    seconds: float = 0.0
    line: int = 0
    whom: Whom = "runner"


def doom(luck: random.Random, *, steps: int, seconds: float, lines: int) -> Doom:
    """A death anywhere in the life of a loop that takes so many steps, seconds and lines if it is left alone."""
    whom = luck.choices(_WHOM, (4, 4, 2))[0]
    by = luck.choices(("step", "time", "line"), (5, 2, 3))[0]
    if by == "step":
        return Doom("step", step=luck.randint(1, steps), whom=whom)
    if by == "time":
        return Doom("time", seconds=luck.uniform(0.0, seconds * 1.05), whom=whom)
    return Doom("line", seconds=luck.expovariate(1 / 0.004), line=luck.randint(1, lines), whom=whom)


class Life:
    """One process of `ralph`, from its start to its end."""

    def __init__(
        self,
        words: tuple[str, ...],
        *,
        cwd: Path,
        env: Mapping[str, str],
        log: Path,
        doom: Doom = Doom(),  # noqa: B008  immutable
        count: Path | None = None,
    ) -> None:
        self.doom = doom
        self._began = time.monotonic()
        keeper = "yes" if doom.whom == "keeper too" else "no"
        with log.open("ab") as said:
            said.write(f"$ ralph {' '.join(words)[:200]}   # {doom}\n".encode())
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", RUNNER, str(doom.step), keeper, str(count or ""), *words],
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    def end(self, lines: Callable[[], int]) -> int:
        """Wait for it, or for the moment of its death; the exit code, or minus the signal."""
        try:
            if self.doom.by == "time":
                self._wait(self.doom.seconds)
            elif self.doom.by == "line":
                while self._process.poll() is None and lines() < self.doom.line:
                    time.sleep(_LOOK_EVERY)
                self._wait(self.doom.seconds)
            if self.doom.by in {"time", "line"}:
                self._kill()
            return self._process.wait(_PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def _wait(self, seconds: float) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def _kill(self) -> None:
        if self._process.poll() is not None:
            return
        pid = self._process.pid
        keepers = _children(pid) if self.doom.whom == "keeper too" else []
        if self.doom.whom == "group":
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)
        for keeper in keepers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(keeper, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
