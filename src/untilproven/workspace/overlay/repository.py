"""Git's own directory in the room: its layer is carried from one kept iteration to the next, and never merged."""

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from untilproven.core import naming
from untilproven.process.walls import Layer
from untilproven.workspace.descent import Descent
from untilproven.workspace.entry import Note
from untilproven.workspace.overlay.commits import found_in
from untilproven.workspace.overlay.place import Place
from untilproven.workspace.overlay.snapshot import copy_layer

_PROTECTED = ("hooks", "config", "config.worktree", "info/attributes")
_OURS = 0o700
_TICK = 100_000_000
"""Nanoseconds within which a file can change twice and bear the same times."""

Condition = dict[str, tuple[int, ...]]
T = TypeVar("T")


class Repository:
    """What the agent's git sees. A `.git` that is a link to a directory elsewhere has no layer."""

    def __init__(self, root: Path, place: Place) -> None:
        self.path = str(root / ".git")
        self._directory = Path(self.path)
        self._place = place
        self._seen: Condition | None = None
        """What the layer was when it was copied, if a change to it cannot go unnoticed."""

    @property
    def exists(self) -> bool:
        try:
            return stat.S_ISDIR(os.lstat(self.path).st_mode)
        except OSError:
            return False

    @property
    def protected(self) -> tuple[str, ...]:
        """What stays as it is: programs that git would run, and settings that name some."""
        return tuple(f"{self.path}/{name}" for name in _PROTECTED)

    def layer(self, iteration: int) -> Layer:
        """The layer for an iteration; how it was before is remembered until the iteration is kept or discarded."""
        upper, work = self._place.make_git(iteration, self._directory)
        before = self._before(iteration)
        self._place.drop(before)
        try:
            self._copy.rename(before)
        except FileNotFoundError:
            self._reached(lambda: self._copied(Path(upper))).rename(before)
        return Layer(self.path, (self.path,), upper, work)

    def _copied(self, upper: Path) -> Path:
        copying = self._place.git / "copying"
        self._place.drop(copying)
        self._seen = condition(upper)
        copy_layer(upper, copying)
        return copying

    def notes(self, iteration: int) -> set[Note]:
        """What the agent's git did in this iteration that the tree does not show."""
        upper = self._place.git / "upper"
        if not self._reached(lambda: _has_logs(upper)):
            return set()
        return self._reached(lambda: found_in(upper, self._directory, self._before(iteration)))

    def keep(self, iteration: int) -> None:
        """A copy of what has not changed is as good for the next iteration."""
        before = self._before(iteration)
        if not before.is_dir():
            return
        if self._is_as_seen():
            before.rename(self._copy)
        else:
            self._place.drop(before)

    def discard(self, iteration: int) -> None:
        before = self._before(iteration)
        if before.is_dir():
            self._place.drop(self._copy)
            if self._is_as_seen():
                before.rename(self._copy)
            else:
                upper = self._place.git / "upper"
                self._place.drop(upper)
                before.rename(upper)

    def _is_as_seen(self) -> bool:
        upper = self._place.git / "upper"
        return self._seen is not None and self._seen == self._reached(lambda: condition(upper))

    def _reached(self, look: Callable[[], T]) -> T:
        """What is found in the layer. An agent may have closed directories of it to its own user: they are opened."""
        try:
            return look()
        except PermissionError:
            open_up(self._place.git / "upper")
            return look()

    def recover(self, kept: int | None) -> None:
        """After a kill: an iteration under way is as if it had not been."""
        for path in self._place.git.glob("before-*"):
            number = path.name.partition("-")[2].rpartition("-")[2]
            (self.keep if int(number) == kept else self.discard)(int(number))

    @property
    def _copy(self) -> Path:
        """What the layer is, while no iteration is at work in it."""
        return self._place.git / "copy"

    def _before(self, iteration: int) -> Path:
        return self._place.git / f"before-{naming.iteration_name(iteration)}"


def open_up(layer: Path) -> None:
    """Every directory in it can be entered from now on."""
    layer.chmod(stat.S_IMODE(layer.stat().st_mode) | _OURS)
    for parent, names, _ in os.walk(layer):
        for path in (Path(parent, name) for name in names):
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode) and mode & _OURS != _OURS:
                path.chmod(stat.S_IMODE(mode) | _OURS)


def _has_logs(layer: Path) -> bool:
    try:
        return stat.S_ISDIR(os.stat(f"{layer}/logs").st_mode)  # noqa: PTH116  asked in every iteration
    except (FileNotFoundError, NotADirectoryError):
        return False


def condition(layer: Path) -> Condition | None:
    """All that changes if anything in a layer does; None if something is too new to tell."""
    found: Condition = {"": (stat.S_IMODE(layer.stat().st_mode),)}
    settled = time.time_ns() - _TICK
    with Descent(layer) as descent:
        for path, opened in descent:
            if isinstance(opened, OSError):
                return None
            inner = []
            with os.scandir(opened) as listing:
                for item in listing:
                    here, seen = f"{path}/{item.name}" if path else item.name, item.stat(follow_symlinks=False)
                    if seen.st_ctime_ns >= settled:
                        return None
                    found[here] = (seen.st_ino, seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
                    if item.is_dir(follow_symlinks=False):
                        inner.append(here)
            descent.below(inner)
    return found
