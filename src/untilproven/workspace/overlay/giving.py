"""What a process gives to one room after the other, as long as they leave it as it was."""

import contextlib
import os
import stat
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from untilproven.store import files
from untilproven.store.spreading import spread
from untilproven.workspace.overlay.emptied import Emptied
from untilproven.workspace.overlay.making import PRIVATE, TEMPORARY, make_private, make_temporary
from untilproven.workspace.overlay.untouched import Untouched


class Given:
    """`drop` takes away what cannot be given again."""

    def __init__(self, path: Path, drop: Callable[[Path], None]) -> None:
        self._path = path
        self._drop = drop
        self.temporary = path / "tmp"
        """What is /tmp in an agent's room."""
        self._emptied = Emptied()

    @cached_property
    def path(self) -> Path:
        """Where it lies; nothing that another process has left is in it."""
        self._drop(self._path)
        make_private(self._path)
        spread(self._path)
        return self._path

    @cached_property
    def _untouched(self) -> Untouched:
        return Untouched(self._drop)

    def end(self) -> None:
        self._drop(self._path)
        for name in ("path", "_untouched"):
            self.__dict__.pop(name, None)

    def check(self, over: Path, work: Path) -> tuple[str, str]:
        """The layer over the project in a check's room: nothing is in it, and nothing in it stays."""
        return str(self._layer("check-upper", over)), self.emptied(work)

    def home_of_check(self, over: Path) -> tuple[str, str, bool]:
        """The same for HOME, and whether it can be mounted once for all of them: most checks leave it alone, and while
        all have, there is nothing in it that could stay."""
        upper = self._layer("check-home", over)
        if self._untouched.was_touched(upper):
            return str(upper), self.emptied(self.path / "home-of-checks"), False
        return str(upper), self.work("home-of-checks"), True

    def temporary_of_check(self) -> Path:
        """What is /tmp in a check's room, empty."""
        path = self.path / "check-tmp"
        with files.explained(path):
            self._untouched.give(path, TEMPORARY)
        return path

    def exchange(self, name: str) -> None:
        """An empty directory in what is /tmp for an agent, where nothing else is."""
        path = self.path / self.temporary.name
        if not self._emptied.is_as_new(path, name):
            self._drop(path)
            make_temporary(path)
            make_private(path / name)
            self._emptied.remember(path, name)

    def work(self, name: str) -> str:
        """What the kernel needs beside a layer that stays mounted, and shows to nobody."""
        return self._made(self.path / name)

    def emptied(self, work: Path) -> str:
        """The same beside one that was unmounted: what the kernel has left there is dropped."""
        self._drop(work / "work")
        return self._made(work)

    def _made(self, path: Path) -> str:
        with files.explained(path), contextlib.suppress(FileExistsError):
            os.mkdir(path, PRIVATE)  # noqa: PTH102  for every room
        return str(path)

    def _layer(self, name: str, over: Path) -> Path:
        upper = self.path / name
        with files.explained(upper):
            mode = stat.S_IMODE(os.stat(over).st_mode) | PRIVATE  # noqa: PTH116  for every room
            self._untouched.give(upper, mode, layer=True)
        return upper
