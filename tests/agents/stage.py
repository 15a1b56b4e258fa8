"""A real room in a real directory, and an iteration to play in it."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath

from untilproven.contract import Agent, Exchange, Output, Ran, Turn, Worked
from untilproven.model.events import AgentEvent
from untilproven.model.program import Ending, Grades, Limits, Speech, Stop
from untilproven.process import beneath
from untilproven.process.records import Program
from untilproven.process.watch import run

# The suite's own Python comes first, so that `python3` is there on every machine.
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


class DirectoryRoom:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.limits = Limits(wall=60)
        self.until: Callable[[], Stop | None] = lambda: None
        self.grades = Grades(interrupt=0.2, terminate=0.2)

    def run(self, command: str | Sequence[str], *, timeout: float, env: Mapping[str, str] | None = None) -> Ran:
        done = subprocess.run(command, cwd=self.root, env={**os.environ, **(env or {})}, timeout=timeout, check=False)
        return Ran(exit_code=done.returncode)

    def scratch(self) -> AbstractContextManager[Exchange]:
        raise NotImplementedError("an agent has its exchange")

    def look(self, path: PurePosixPath) -> os.stat_result | None:
        return beneath.look(self.root, path)

    def read(self, path: PurePosixPath, limit: int) -> bytes | None:
        raise NotImplementedError("only checks look around")

    def find(self, pattern: str) -> list[PurePosixPath]:
        raise NotImplementedError("only checks look around")

    def stream(
        self,
        command: str | Sequence[str],
        *,
        output: Output,
        stdin: bytes | Speech = b"",
        env: Mapping[str, str] | None = None,
        pulse: Callable[[], None] = lambda: None,
    ) -> Ending:
        def until() -> Stop | None:
            pulse()
            return self.until()

        program = Program(command=command, cwd=self.root, env={**os.environ, "PATH": PATH, **(env or {})}, stdin=stdin)
        return run(program, output=output, limits=self.limits, grades=self.grades, until=until)


class Stage:
    """A project, and beside it the files that an iteration is given."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.root = directory / "project"
        self.root.mkdir()
        self.room = DirectoryRoom(self.root)
        self.events: list[AgentEvent] = []

    def turn(self, iteration: int = 1, prompt: str = "fix it", session: str = "") -> Turn:
        prompt_file = self.directory / "it's a prompt.md"
        prompt_file.write_bytes(prompt.encode("utf-8", "replace"))
        return Turn(
            loop_id="ralph-x-00000000",
            iteration=iteration,
            prompt=prompt,
            prompt_file=prompt_file,
            result_file=self.directory / "result.json",
            result_here=self.directory / "result.json",
            session=session,
        )

    def play(self, agent: Agent, iteration: int = 1, prompt: str = "fix it", session: str = "") -> Worked:
        self.events.clear()
        return agent.work(self.turn(iteration, prompt, session), self.room, self.events.append)

    def told(self, kind: str) -> list[str]:
        """The texts of the events of one kind."""
        return [str(event.text) for event in self.events if event.kind == kind]
