"""A directory as a room: programs run in it to their end, as the user, and nothing of them is left."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from untilproven.contract import Exchange, Output, Ran, Supervision
from untilproven.model.program import Ending, Grades, Limits, Speech, Stop, Stream
from untilproven.process.houses import House
from untilproven.process.keepers import COMMON
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

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Exchange]:
        """The same directory for both sides."""
        import tempfile  # noqa: PLC0415  only a check whose program reports needs one, and it is slow to load

        with tempfile.TemporaryDirectory(prefix="ralph-", ignore_cleanup_errors=True) as made:
            yield Exchange(Path(made), Path(made))

    def look(self, path: PurePosixPath) -> os.stat_result | None:
        from untilproven.process import beneath  # noqa: PLC0415  most checks are plain commands

        return beneath.look(self._root, path)

    def read(self, path: PurePosixPath, limit: int) -> bytes | None:
        from untilproven.process import beneath  # noqa: PLC0415  the same

        return beneath.read(self._root, path, limit)

    def find(self, pattern: str) -> list[PurePosixPath]:
        from untilproven.process import beneath  # noqa: PLC0415  the same

        return beneath.find(self._root, pattern)

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
            beside=self._supervision.beside,
        )
        return _ran(ending, excerpt.text())

    def stream(
        self,
        command: str | Sequence[str],
        *,
        output: Output,
        stdin: bytes | Speech = b"",
        env: Mapping[str, str] | None = None,
        pulse: Callable[[], None] = lambda: None,
    ) -> Ending:
        """Every chunk goes to whoever opened the room first, so that none is lost if `output` raises."""
        tee = self._supervision.tee

        def both(stream: Stream, chunk: bytes) -> None:
            tee(stream, chunk)
            output(stream, chunk)

        def until() -> Stop | None:
            pulse()
            return self._supervision.until()

        return run(
            self._program(command, env, stdin=stdin),
            output=both,
            limits=self._supervision.limits,
            until=until,
            wake=self._supervision.wake,
            stable=self._stable,
            beside=self._supervision.beside,
        )

    def _program(
        self,
        command: str | Sequence[str],
        env: Mapping[str, str] | None,
        *,
        stdin: bytes | Speech = b"",
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
    """A directory within walls. They stand from the first program until the room is closed.

    Of the tree, whoever is outside sees what lies beneath the layers.
    """

    def __init__(self, root: Path, supervision: Supervision, env: Mapping[str, str], walls: "Walls") -> None:
        super().__init__(root, supervision, env)
        self._walls = walls
        self._own_house = House()
        self._stable = self._own_house.room(walls)

    def stand_in(self, house: House) -> None:
        """Before the first program: what does not change from room to room is built once for all of a house."""
        self._stable = house.room(self._walls)

    def supervise(self, supervision: Supervision) -> None:
        """Somebody else watches over it from now on; nothing has run in it yet."""
        self._supervision = supervision

    def furnish(self) -> None:
        """Have the walls built now, while whoever is to use the room makes ready; otherwise the first program does."""
        self._stable.give_back(self._stable.take(self._supervision.marker))

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Exchange]:
        """In the room's own /tmp. Outside it is known by number: a program that puts a link in its place leads
        nobody astray."""
        import shutil  # noqa: PLC0415  slow to load

        name = f"ralph-{os.urandom(8).hex()}"
        place = Path(self._walls.temporary, name)
        place.mkdir(mode=0o700)
        fd = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield Exchange(Path(f"/proc/self/fd/{fd}"), Path("/tmp", name))  # noqa: S108  the room's own
        finally:
            os.close(fd)
            shutil.rmtree(place, ignore_errors=True)

    def close(self) -> None:
        """Nothing is left inside, and what was written lies in the layers; closing twice is fine."""
        self._stable.close()
        self._own_house.close()


def _ran(ending: Ending, output: str) -> Ran:
    """Whatever was stopped is no success, even if the program answered the signal with exit code 0."""
    if ending.not_started:
        return Ran(not_started=ending.not_started, seconds=ending.seconds)
    if ending.stopped_because == "wall":
        return Ran(timed_out=True, output=output, seconds=ending.seconds)
    if ending.stopped_because or (ending.exit_code is None and ending.signal is None):
        return Ran(signal=ending.signal or signal.SIGKILL, output=output, seconds=ending.seconds)
    return Ran(exit_code=ending.exit_code, signal=ending.signal, output=output, seconds=ending.seconds)
