"""What the tests of this room share: a program to run, a runner to kill, and waiting for a condition."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from untilproven.model.program import Ending, Stream
from untilproven.process import table
from untilproven.process.records import Program
from untilproven.process.watch import run

PYTHON = sys.executable

RUNNER = """
import os, sys
from pathlib import Path
from untilproven.process.records import Program
from untilproven.process.watch import run
line, marker = sys.argv[1:]
run(Program(command=line, cwd=Path.cwd(), env=dict(os.environ), marker=marker), output=lambda *_: None)
"""


def wait_for(condition: Callable[[], object], what: str, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain: {what}"
        time.sleep(0.005)


def alive(pid: int) -> bool:
    process = table.look_up(pid)
    return process is not None and process.alive


def pids_in(directory: Path) -> list[int]:
    """The processes that wrote their pid into a file *.pid and have finished writing."""
    return [int(text) for path in directory.glob("*.pid") if (text := path.read_text()).endswith("\n")]


def run_program(command: str | list[str], cwd: Path, **more: Any) -> tuple[Ending, dict[Stream, bytes]]:
    """Run it with a small environment; its ending, and what it printed."""
    printed: dict[Stream, bytes] = {"stdout": b"", "stderr": b""}

    def output(stream: Stream, chunk: bytes) -> None:
        printed[stream] += chunk

    program = Program(
        command=command,
        cwd=cwd,
        env=more.pop("env", {"PATH": os.environ["PATH"]}),
        stdin=more.pop("stdin", b""),
        marker=more.pop("marker", ""),
    )
    ending = run(program, output=more.pop("output", output), **more)
    return ending, printed


@contextmanager
def runner_of(line: str, cwd: Path, marker: str, processes: int) -> Iterator[subprocess.Popen[bytes]]:
    """Another runner, with a program that has started so many processes; each wrote a *.pid file."""
    with subprocess.Popen([PYTHON, "-c", RUNNER, line, marker], cwd=cwd) as runner:
        try:
            wait_for(lambda: len(pids_in(cwd)) == processes, f"{processes} pid files")
            yield runner
        finally:
            runner.kill()


def keeper_of(runner: int) -> int:
    (keeper,) = [process.pid for process in table.descendants(runner) if process.parent == runner]
    return keeper
