"""Where a project's state lives, found without running anything and without following links out of it."""

import contextlib
import os
from functools import cached_property
from pathlib import Path

import msgspec

from untilproven.core import naming
from untilproven.errors import InvalidName, StoreFailed
from untilproven.model.program import Stream
from untilproven.store import files

STATE_DIRECTORY = ".aiwg/ralph"
QUEUE_FILES = ("tasks.jsonl", "progress.jsonl", "learning.jsonl")
"""They lie in the state directory; or at the root, if the first of them does."""
_MARKERS = (".git", STATE_DIRECTORY, "ralph.toml")
_IGNORED = """\
# Written by untilproven. What is machine-local stays out of git; the task files are yours to track.
*
!.gitignore
!tasks.jsonl
!progress.jsonl
!learning.jsonl
"""


class Project(msgspec.Struct, frozen=True, dict=True):
    """`root` is where the user works; `home` is where the state is: the main worktree of a linked one."""

    root: Path
    home: Path

    @cached_property
    def state(self) -> "StateDirectory":
        return StateDirectory(self.home)


class LoopDirectory(msgspec.Struct, frozen=True, dict=True):
    """Paths are made once: a running loop asks for them all the time."""

    path: Path

    @cached_property
    def loop_id(self) -> str:
        return self.path.name

    @cached_property
    def state(self) -> Path:
        return self.path / "state.json"

    @cached_property
    def journal(self) -> Path:
        return self.path / "events.jsonl"

    @cached_property
    def lock(self) -> Path:
        return self.path / "loop.lock"

    @cached_property
    def iterations(self) -> Path:
        return self.path / "iterations"

    @cached_property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @cached_property
    def prompts(self) -> Path:
        return self.path / "prompts"

    @cached_property
    def outputs(self) -> Path:
        return self.path / "outputs"

    @cached_property
    def results(self) -> Path:
        return self.path / "results"

    @cached_property
    def recording(self) -> Path:
        """What `--mode logged` keeps, to be played again."""
        return self.path / "recording"

    @cached_property
    def task(self) -> Path:
        return self.path / "task.md"

    @cached_property
    def receipt(self) -> Path:
        return self.path / "receipt.json"

    @cached_property
    def hook_log(self) -> Path:
        return self.path / "hook-log.jsonl"

    def iteration(self, number: int) -> Path:
        return self.iterations / f"{naming.iteration_name(number)}.json"

    def checkpoint(self, number: int) -> Path:
        return self.checkpoints / f"{naming.iteration_name(number)}.json.gz"

    def prompt(self, number: int) -> Path:
        """What the agent was told."""
        return self.prompts / f"{naming.iteration_name(number)}.md"

    def output(self, number: int) -> Path:
        """What the agent emitted, normalised: one `agent.event` a line."""
        return self.outputs / f"{naming.iteration_name(number)}.jsonl"

    def attempt(self, path: Path, number: int) -> Path:
        """Where a file of an iteration is put when that iteration is tried again."""
        name, dot, rest = path.name.partition(".")
        return path.with_name(f"{name}.attempt-{number}{dot}{rest}")

    def raw(self, number: int, stream: Stream) -> Path:
        """What the agent printed, as it came."""
        return self.outputs / f"{naming.iteration_name(number)}.{stream}.log"

    def make(self) -> None:
        for directory in (self.path, self.iterations, self.checkpoints, self.prompts, self.outputs, self.results):
            files.make_directory(directory)


class StateDirectory:
    """`.aiwg/ralph` of a project."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / STATE_DIRECTORY
        self.registry = self.path / "registry.json"
        self.registry_lock = self.path / "registry.lock"
        self.loops = self.path / "loops"
        self.archive = self.path / "archive"
        self.legacy = self.path / "current-loop.json"

    def exists(self) -> bool:
        """Whether there is one; a link in its place is refused, not followed."""
        self.refuse_links()
        return self.path.is_dir()

    def refuse_links(self) -> None:
        """Nothing below the project may lead out of it."""
        for part in (self.home / ".aiwg", self.path, self.loops, self.archive):
            files.refuse_link(part)

    def make(self) -> None:
        if not self.home.is_dir():
            raise StoreFailed(f"{self.home} is gone: it was moved or deleted")
        for directory in (self.home / ".aiwg", self.path, self.loops):
            if not directory.is_dir():
                files.make_directory(directory)
                files.sync_directory(directory.parent)
        self.refuse_links()

    def keep_out_of_git(self) -> None:
        """Write the .gitignore, if there is none. The caller holds the registry's lock, so nobody else does."""
        ignore = self.path / ".gitignore"
        if not ignore.exists() or not ignore.stat().st_size:
            files.replace(ignore, _IGNORED.encode(), durable=False)

    def loop(self, loop_id: str) -> LoopDirectory:
        """The directory of a loop, active or archived; it need not exist."""
        name = naming.loop_id(loop_id)
        self.refuse_links()
        for parent in (self.loops, self.archive):
            files.refuse_link(parent / name)
            if (parent / name).is_dir():
                return LoopDirectory(parent / name)
        return LoopDirectory(self.loops / name)

    def all_loops(self, *, archived: bool = False) -> list[LoopDirectory]:
        """Every loop directory with a proper name; other names are not ours."""
        self.refuse_links()
        found = []
        for parent in (self.loops, self.archive) if archived else (self.loops,):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                for path in sorted(parent.iterdir()):
                    with contextlib.suppress(InvalidName):
                        naming.loop_id(path.name)
                        if path.is_dir() and not path.is_symlink():
                            found.append(LoopDirectory(path))
        return found


def find_project(start: Path) -> Project:
    """The nearest directory upwards that looks like a project, or `start` itself."""
    start = start.resolve()
    for directory in (start, *start.parents):
        if directory != start and _is_home(directory):
            continue
        if any((directory / marker).exists() for marker in _MARKERS):
            return Project(directory, _main_worktree(directory) or directory)
    return Project(start, start)


def _is_home(directory: Path) -> bool:
    """A home directory with a state directory in it is not meant to be the project of everything below it."""
    return str(directory) == os.environ.get("HOME", "").rstrip("/") and not (directory / ".git").exists()


def _main_worktree(root: Path) -> Path | None:
    """The main worktree of a linked one; only if it agrees that this one is linked to it."""
    link = root / ".git"
    if not link.is_file() or link.is_symlink():
        return None
    try:
        text = files.read(link, 4096).decode()
        gitdir = (root / text.removeprefix("gitdir:").strip()).resolve()
        common = (gitdir / files.read(gitdir / "commondir", 4096).decode().strip()).resolve()
        back = Path(files.read(gitdir / "gitdir", 4096).decode().strip())
        agrees = back.resolve() == link.resolve()
    except (OSError, UnicodeDecodeError):
        return None
    return common.parent if agrees and common.name == ".git" and text.startswith("gitdir:") else None
