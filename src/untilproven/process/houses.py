"""Houses: keepers within walls, which serve one room after the other as long as the walls would be the same."""

import os
import select
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from untilproven.process.keeper import Pipes
from untilproven.process.keepers import Keeper, Stable
from untilproven.process.lookup import Order

if TYPE_CHECKING:
    from untilproven.process.walls import Shell, Walls

_MOUNTS = "/proc/self/mountinfo"
_STANDS = 10.0
"""Seconds for which walls serve one room after the other. What the user changes beneath a layer that stays is not
always seen in it; in a new one it is."""


class House:
    """The keepers of one place of layers, those of rooms that are closed. Nobody else may mount its layers."""

    def __init__(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        self._meanwhile = meanwhile
        """What is done while a keeper starts a program: something short that never fails."""
        self._idle: list[_Walled] = []
        self._mounts = -1

    def room(self, walls: "Walls") -> Stable:
        """The keepers of one room."""
        return _Room(self, walls)

    def lend(self, marker: str, walls: "Walls") -> Keeper:
        """One that has furnished rooms within these walls before, or a new one. If the walls have changed, nothing
        stays of the old ones."""
        from untilproven.process.walls import split  # noqa: PLC0415  loaded already by whoever made the walls

        self._watch_mounts()
        shell, interior = split(walls)
        keeper = self._found(marker, shell) or _Walled(marker, shell, self._meanwhile)
        keeper.furnish(interior)
        return keeper

    def _found(self, marker: str, shell: "Shell") -> "_Walled | None":
        found = None
        for keeper in self._idle.copy():
            fits = keeper.marker == marker and keeper.walls == shell and keeper.is_young
            if keeper.is_clear() and (fits or keeper.walls.name != shell.name):
                found = keeper if fits else found
            else:
                self._idle.remove(keeper)
                keeper.dismiss()
        if found:
            self._idle.remove(found)
        return found

    def take_back(self, keeper: Keeper) -> None:
        """The room is closed: what it had of its own is unmounted by the time another keeper is lent."""
        if isinstance(keeper, _Walled):
            keeper.clear()
            self._idle.append(keeper)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().dismiss()
        if self._mounts >= 0:
            os.close(self._mounts)
            self._mounts = -1

    def _watch_mounts(self) -> None:
        """What the user mounts or unmounts elsewhere, rooms built from now on have too."""
        poll = select.poll()
        if self._mounts < 0:
            self._mounts = os.open(_MOUNTS, os.O_RDONLY | os.O_CLOEXEC)
        poll.register(self._mounts, select.POLLPRI)
        if poll.poll(0):
            while self._idle:
                self._idle.pop().dismiss()


class _Walled(Keeper):
    def __init__(self, marker: str, shell: "Shell", meanwhile: Callable[[], None]) -> None:
        super().__init__(marker, shell)
        self.walls = shell
        self._built = time.monotonic()
        self._meanwhile = meanwhile

    @property
    def is_young(self) -> bool:
        return time.monotonic() - self._built < _STANDS

    def start(self, order: Order, pipes: Pipes) -> None:
        super().start(order, pipes)
        self._meanwhile()


class _Room(Stable):
    """From the first program until the room is closed."""

    def __init__(self, house: House, walls: "Walls") -> None:
        super().__init__()
        self._house = house
        self._walls = walls

    def new(self, marker: str) -> Keeper:
        return self._house.lend(marker, self._walls)

    def let_go(self, keeper: Keeper) -> None:
        self._house.take_back(keeper)
