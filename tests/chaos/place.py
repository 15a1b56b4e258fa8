"""A project with a home of its own, so that nothing of one loop can be taken for another's."""

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from chaos.dying import Doom, Life
from chaos.scenarios import Scenario
from untilproven.model.state import LoopState
from untilproven.store.layout import LoopDirectory, Project, find_project
from untilproven.store.replay import replay_journal
from untilproven.store.survey import never_began


class Place:
    def __init__(self, scenario: Scenario, directory: Path) -> None:
        self.scenario = scenario
        self.sentinel = f"86400.{os.getpid()}{time.monotonic_ns()}"
        """The argument of every process that the scenario leaves running, and of no other."""
        self.log = directory / "log"
        self.home = directory / "home"
        self.outside = directory / "outside"
        root = directory / "project"
        for path in (self.home, self.outside, root / ".git"):
            path.mkdir(parents=True)
        self.env = {
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        for place, files in ((root, scenario.tree), (self.outside, scenario.outside)):
            for name, content in files.items():
                (place / name).parent.mkdir(exist_ok=True)
                (place / name).write_text(self._filled(content))
        (self.outside / "cassette.toml").write_text(self._filled(scenario.cassette))
        self.project: Project = find_project(root)

    def _filled(self, text: str) -> str:
        return text.replace("{sentinel}", self.sentinel).replace("{outside}", str(self.outside))

    @property
    def loop(self) -> LoopDirectory | None:
        """The loop, once it has begun."""
        begun = [loop for loop in self.project.state.all_loops() if not never_began(loop)]
        assert len(begun) <= 1, f"one loop was started, and there are {len(begun)}"
        return begun[0] if begun else None

    @property
    def state(self) -> LoopState | None:
        """What its journal says of it."""
        return replay_journal(self.loop).state if self.loop else None

    def live(self, doom: Doom, count: Path | None = None) -> Life:
        """A process that starts the loop, or takes it up."""
        return Life(self._words(), cwd=self.project.root, env=self.env, log=self.log, doom=doom, count=count)

    def _words(self) -> tuple[str, ...]:
        loop = self.loop
        if loop:
            return ("resume", loop.loop_id)
        agent = ("--agent", f"replay:{self.outside}/cassette.toml") if self.scenario.cassette else ()
        words = (self._filled(word) for word in self.scenario.words)
        return ("run", self.scenario.task, "--sandbox", "none", *agent, *words)

    def lines(self) -> int:
        """How far its journal has come."""
        with contextlib.suppress(OSError):
            return sum(path.read_bytes().count(b"\n") for path in self.project.state.loops.glob("*/events.jsonl"))
        return 0

    @contextlib.contextmanager
    def at_home(self) -> Iterator[None]:
        """Within this, what we look at is found where the loop's processes keep it."""
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.env)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def tree(self) -> dict[str, tuple[int, str]]:
        """Every path with its mode and what is in it, without git and our own."""
        found: dict[str, tuple[int, str]] = {}
        root = self.project.root
        for path in sorted(root.rglob("*")):
            name = str(path.relative_to(root))
            if name.partition("/")[0] not in {".git", ".aiwg"}:
                mode = path.lstat().st_mode
                content = path.read_text() if stat.S_ISREG(mode) else ""
                found[name] = (mode, str(path.readlink()) if stat.S_ISLNK(mode) else content)
        return found
