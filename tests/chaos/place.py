"""A project with a home of its own, so that nothing of one loop can be taken for another's."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from chaos import user
from chaos.belongings import furnish
from chaos.dying import Doom, Life
from chaos.picture import DIARY, TEMPORARY, Seen, picture
from chaos.scenarios import Scenario
from untilproven.model.state import LoopState
from untilproven.store.layout import LoopDirectory, Project, find_project
from untilproven.store.replay import replay_journal
from untilproven.store.survey import never_began
from untilproven.store.vouch import user_state

_TESTS = Path(__file__).absolute().parent.parent
_FURTHER = [str(Path(path).absolute()) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


class Place:
    def __init__(self, scenario: Scenario, sandbox: str, directory: Path) -> None:
        self.scenario = scenario
        self.sandbox = sandbox
        self.sentinel = f"86400.{os.getpid()}{time.monotonic_ns()}"
        """The argument of every process that the scenario leaves running, and of no other."""
        self.directory = directory
        self.log = directory / "log"
        self.home = directory / "home"
        self.outside = directory / "outside"
        root = directory / "project"
        for path in (self.home, self.outside, root / DIARY):
            path.mkdir(parents=True)
        self.env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join([str(_TESTS), *_FURTHER]),
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        for name, content in scenario.outside.items():
            (self.outside / name).write_text(self._filled(content))
        (self.outside / "cassette.toml").write_text(self._filled(scenario.cassette))
        with self.at_home():
            furnish(root, {name: self._filled(content) for name, content in scenario.tree.items()})
        self.project: Project = find_project(root)
        self.start = self.tree()
        self.git = picture(root / ".git", ())

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

    def live(
        self, doom: Doom, words: tuple[str, ...] = (), *, count: Path | None = None, trees: Path | None = None
    ) -> Life:
        """A process that starts the loop, or takes it up; or another verb."""
        given = {name: str(path) if path else "" for name, path in {"count": count, "trees": trees}.items()}
        return Life(
            words or self._words(),
            cwd=self.project.root,
            env=self.env,
            log=self.log,
            doom=doom,
            fate={"sandbox": self.sandbox, "commits": self.scenario.commits, **given},
        )

    def end(self, life: Life) -> int:
        """Wait for it, or for the moment of its death."""
        return life.end(self.lines, self._is_seen)

    def _is_seen(self, sight: str) -> bool:
        with contextlib.suppress(OSError):
            return any(True for _ in self.rooms.glob(f"*/*/{sight}"))
        return False

    @property
    def rooms(self) -> Path:
        return user_state() / "rooms"

    @property
    def in_a_merge(self) -> bool:
        return self._is_seen("*/merging-*")

    def _words(self) -> tuple[str, ...]:
        loop = self.loop
        if loop:
            return ("resume", loop.loop_id)
        agent = ("--agent", f"replay:{self.outside}/cassette.toml") if self.scenario.cassette else ()
        words = (self._filled(word) for word in self.scenario.words)
        return ("run", self.scenario.task, "--sandbox", self.sandbox, *agent, *words)

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

    @contextlib.contextmanager
    def user_at_work(self, seed: str) -> Iterator[None]:
        """Within this, the user writes to a file of the diary, if that is what the scenario is about."""
        if not self.scenario.edits:
            yield
            return
        words = [sys.executable, user.__file__, str(self._edited), str(self._words_file), seed]
        with subprocess.Popen(words, stdin=subprocess.PIPE, env=self.env) as writing:
            yield
            assert writing.poll() is None, "the user has left"

    @property
    def _edited(self) -> Path:
        return self.project.root / DIARY / self.scenario.edits

    @property
    def _words_file(self) -> Path:
        return self.outside / "words"

    def nothing_lost(self, *, in_a_merge: bool = False) -> None:
        """Every word that the user has saved is there; in a merge, perhaps beside the file it belongs to."""
        if self.scenario.edits and self._words_file.exists():
            words = self._words_file.read_text().splitlines()
            beside = self._edited.parent.glob(f"{TEMPORARY}*") if in_a_merge else ()
            there = {line for path in (self._edited, *beside) for line in path.read_text().splitlines()}
            lost = [word for word in words if word not in there]
            assert not lost, f"the user wrote {len(words)} words, and these are lost: {lost}"

    def tree(self) -> dict[str, Seen]:
        """Every path with all that can be seen of it, without git and our own."""
        return picture(self.project.root)
