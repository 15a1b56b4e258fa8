"""Running a program to its end in a directory, as a check does it."""

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from untilproven.contract import Ran
from untilproven.model.program import Ending, Grades, Limits
from untilproven.process.records import Program
from untilproven.process.spool import Excerpt
from untilproven.process.watch import Until, run

_GRADES = Grades(interrupt=0, terminate=1.0)


def run_in(
    root: Path,
    command: str | Sequence[str],
    *,
    timeout: float,
    env: Mapping[str, str] | None,
    until: Until = lambda: None,
    wake: Sequence[int] = (),
) -> Ran:
    """Run a program, or a line of shell, to its end; nothing of it is left running. Without `env`, with ours."""
    excerpt = Excerpt()
    ending = run(
        Program(command=command, cwd=root, env=os.environ if env is None else env, merged=True),
        output=lambda _, chunk: excerpt.write(chunk),
        limits=Limits(wall=timeout),
        grades=_GRADES,
        until=until,
        wake=wake,
    )
    return _ran(ending, excerpt.text())


def _ran(ending: Ending, output: str) -> Ran:
    """Whatever was stopped is no success, even if the program answered the signal with exit code 0."""
    if ending.not_started:
        return Ran(not_started=ending.not_started, seconds=ending.seconds)
    if ending.stopped_because == "wall":
        return Ran(timed_out=True, output=output, seconds=ending.seconds)
    if ending.stopped_because or (ending.exit_code is None and ending.signal is None):
        return Ran(signal=ending.signal or signal.SIGKILL, output=output, seconds=ending.seconds)
    return Ran(exit_code=ending.exit_code, signal=ending.signal, output=output, seconds=ending.seconds)
