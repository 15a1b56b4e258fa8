"""Git's own directory in the room: its layer is carried from one kept iteration to the next, and never merged."""

from pathlib import Path

from untilproven.core import naming
from untilproven.process.walls import Layer
from untilproven.workspace.overlay.place import Place, make_layer
from untilproven.workspace.overlay.removal import remove
from untilproven.workspace.overlay.snapshot import copy_layer

_PROTECTED = ("hooks", "config", "config.worktree", "info/attributes")


class Repository:
    """What the agent's git sees. A `.git` that is a link to a directory elsewhere has no layer."""

    def __init__(self, root: Path, place: Place) -> None:
        self._directory = root / ".git"
        self._place = place

    @property
    def exists(self) -> bool:
        return self._directory.is_dir() and not self._directory.is_symlink()

    @property
    def protected(self) -> tuple[str, ...]:
        """What stays as it is: programs that git would run, and settings that name some."""
        if not self.exists:
            return (str(self._directory),)
        return tuple(str(self._directory / name) for name in _PROTECTED)

    def layer(self, iteration: int) -> Layer:
        """The layer for an iteration; how it was before is remembered until the iteration is kept or discarded."""
        before, copying = self._before(iteration), self._place.git / "copying"
        upper, work = make_layer(self._place.git, self._directory)
        remove(copying)
        copy_layer(Path(upper), copying)
        remove(before)
        copying.rename(before)
        return Layer(str(self._directory), (str(self._directory),), upper, work)

    def keep(self, iteration: int) -> None:
        remove(self._before(iteration))

    def discard(self, iteration: int) -> None:
        before = self._before(iteration)
        if before.is_dir():
            upper = self._place.git / "upper"
            remove(upper)
            before.rename(upper)

    def recover(self, kept: int | None) -> None:
        """After a kill: an iteration under way is as if it had not been."""
        for path in self._place.git.glob("before-*"):
            number = path.name.partition("-")[2].rpartition("-")[2]
            (self.keep if int(number) == kept else self.discard)(int(number))

    def _before(self, iteration: int) -> Path:
        return self._place.git / f"before-{naming.iteration_name(iteration)}"
