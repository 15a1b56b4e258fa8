"""A directory as a room: programs run in it to their end, as the user, and nothing of them is left."""

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from untilproven.contract import Output, Ran, Supervision
from untilproven.model.program import Ending, Grades, Limits, Stream
from untilproven.process.keepers import COMMON, Stable
from untilproven.process.records import Program
from untilproven.process.spool import Excerpt
from untilproven.process.watch import run

if TYPE_CHECKING:
    from untilproven.process.walls import Walls

_GRADES_OF_A_CHECK = Grades(interrupt=0, terminate=1.0)


class DirectoryRoom:
    """Protects nothing: what runs in it can do all that the user can. Without `env`, it has the runner's own."""

    def __init__(self, root: Path, supervision: Supervision, env: Mapping[str, str] | None = None) -> None:
        self._root = root
        self._supervision = supervision
        self._env = os.environ if env is None else env
        self._stable = COMMON

    @property
    def root(self) -> Path:
        return self._root

    def run(self, command: str | Sequence[str], *, timeout: float, env: Mapping[str, str] | None = None) -> Ran:
        """Both streams in the order they were written. Of the limits only `timeout` counts, and nobody looks on."""
        excerpt = Excerpt()
        ending = run(
            self._program(command, env, merged=True),
            output=lambda _, chunk: excerpt.write(chunk),
            limits=Limits(wall=timeout),
            grades=_GRADES_OF_A_CHECK,
            until=self._supervision.until,
            wake=self._supervision.wake,
            stable=self._stable,
        )
        return _ran(ending, excerpt.text())

    def stream(
        self,
        command: str | Sequence[str],
        *,
        output: Output,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
    ) -> Ending:
        """Every chunk goes to whoever opened the room first, so that none is lost if `output` raises."""
        tee = self._supervision.tee

        def both(stream: Stream, chunk: bytes) -> None:
            tee(stream, chunk)
            output(stream, chunk)

        return run(
            self._program(command, env, stdin=stdin),
            output=both,
            limits=self._supervision.limits,
            until=self._supervision.until,
            wake=self._supervision.wake,
            stable=self._stable,
        )

    def _program(
        self,
        command: str | Sequence[str],
        env: Mapping[str, str] | None,
        *,
        stdin: bytes = b"",
        merged: bool = False,
    ) -> Program:
        return Program(
            command=command,
            cwd=self._root,
            env={**self._env, **(env or {})},
            stdin=stdin,
            marker=self._supervision.marker,
            merged=merged,
        )


class WalledRoom(DirectoryRoom):
    """A directory within walls. They stand from the first program until the room is closed."""

    def __init__(self, root: Path, supervision: Supervision, env: Mapping[str, str], walls: "Walls") -> None:
        super().__init__(root, supervision, env)
        self._stable = Stable(walls)

    def close(self) -> None:
        """Nothing is left inside, and what was written lies in the layers; closing twice is fine."""
        self._stable.close()


def _ran(ending: Ending, output: str) -> Ran:
    """Whatever was stopped is no success, even if the program answered the signal with exit code 0."""
    if ending.not_started:
        return Ran(not_started=ending.not_started, seconds=ending.seconds)
    if ending.stopped_because == "wall":
        return Ran(timed_out=True, output=output, seconds=ending.seconds)
    if ending.stopped_because or (ending.exit_code is None and ending.signal is None):
        return Ran(signal=ending.signal or signal.SIGKILL, output=output, seconds=ending.seconds)
    return Ran(exit_code=ending.exit_code, signal=ending.signal, output=output, seconds=ending.seconds)
