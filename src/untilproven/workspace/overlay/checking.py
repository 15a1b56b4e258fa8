"""The room of a check: programs in it see the candidate tree, and so does whoever looks in from outside."""

import os
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath

from untilproven.checks.surroundings import environment_for_checks
from untilproven.contract import Supervision
from untilproven.process.room import WalledRoom
from untilproven.process.walls import Walls
from untilproven.workspace.overlay.view import View


class CheckingRoom(WalledRoom):
    """What is looked at and read is what a program in the room has there, what checks before it wrote included.

    What is `passed` of the environment comes in whatever it is called.
    """

    def __init__(
        self,
        root: Path,
        supervision: Supervision,
        env: Mapping[str, str],
        walls: Walls,
        passed: Collection[str] = (),
    ) -> None:
        super().__init__(root, supervision, environment_for_checks(env, root, passed), walls)

    @cached_property
    def _view(self) -> View:
        """Most checks look at nothing from outside."""
        root = str(self.root)
        layer = next(layer for layer in self._walls.layers if layer.target == root)
        hidden = (path.removeprefix(f"{root}/") for path in self._walls.hidden if path.startswith(f"{root}/"))
        return View([Path(layer.upper), *map(Path, layer.lower)], frozenset(hidden))

    def look(self, path: PurePosixPath) -> os.stat_result | None:
        return self._view.look(path)

    def read(self, path: PurePosixPath, limit: int) -> bytes | None:
        return self._view.read(path, limit)

    def find(self, pattern: str) -> list[PurePosixPath]:
        return self._view.find(pattern)
