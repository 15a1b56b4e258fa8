"""The walls of a room: what is layered, hidden, shared, and what of it stays from room to room."""

import os
from stat import S_ISSOCK
from typing import NamedTuple

from untilproven.process.inside import TMP, Inside, enter, stat_of


class Layer(NamedTuple):
    """A directory that can be written to, while what is written lands in `upper`."""

    target: str
    lower: tuple[str, ...]
    """What is seen beneath, the topmost first."""
    upper: str
    work: str
    renames: bool = False
    """Whether directories from beneath can be renamed, where the kernel allows it: then a rename can also bring what
    is hidden out from under its cover in a later room, unless what lies above it is `shared`."""


class Walls(NamedTuple):
    """A room to be built. Layers come in the order in which they lie inside one another."""

    layers: tuple[Layer, ...]
    temporary: str
    """A directory that is /tmp inside."""
    place: str
    """Where all that is written lands: every upper and work directory and `temporary` lie in it. It is hidden."""
    hidden: tuple[str, ...] = ()
    """Directories and files that are empty inside; those that do not exist are left alone."""
    shared: tuple[str, ...] = ()
    """Directories that can be written to as they are, and that cannot be renamed or removed."""
    readonly: tuple[str, ...] = ()
    """Within a layer, what cannot be written to; what does not exist is left alone."""
    given: tuple[str, ...] = ()
    """What is there as it is outside, whatever else is hidden or layered, and can be written to."""
    shown: tuple[str, ...] = ()
    """The same, read-only."""
    network: bool = True
    lasting: int = 0
    """How many of the first layers stay the same in every room, and are left as they are between them."""
    name: str = ""
    """Rooms of one name come one after the other; what stands of one has no use once the next is another."""


class Seen(NamedTuple):
    """A path and what was there."""

    path: str
    device: int
    inode: int


class Shell(NamedTuple):
    """What stands around one room after the other. Two that are equal need to be built only once."""

    name: str
    layers: tuple[Layer, ...]
    uppers: tuple[Seen, ...]
    """Where these layers have what is written to them: one that was made anew has to be mounted anew."""
    hidden: tuple[Seen, ...]
    shared: tuple[str, ...]
    readonly: tuple[str, ...]
    given: tuple[Seen, ...]
    shown: tuple[Seen, ...]
    network: bool
    place: Seen
    grounds: tuple[Seen, ...]
    """What the layers of rooms lie over."""

    def confine(self) -> "Inside":
        return enter(self)


class Interior(NamedTuple):
    """What one room has of its own, and what is hidden from this room on."""

    layers: tuple[Layer, ...]
    temporary: str
    hidden: tuple[str, ...]
    shared: tuple[str, ...]
    readonly: tuple[str, ...]
    sockets: tuple[tuple[str, int, int], ...]
    """Outside of all layers. They come and go, and it is no harm to hide one that is gone."""


def split(walls: Walls) -> tuple[Shell, Interior]:
    """What can stay from room to room, and what cannot. Asked outside, where paths are what they are for the user."""
    lasting = 0
    while lasting < walls.lasting and not walls.layers[lasting].target.startswith(f"{TMP}/"):
        lasting += 1
    layers = walls.layers[lasting:]
    within = (f"{TMP}/", *(f"{layer.target}/" for layer in layers))
    hidden: list[Seen] = []
    sockets: list[tuple[str, int, int]] = []
    for path in walls.hidden:
        # Most of it is nowhere to be found, which is told quicker without an exception.
        if not path.startswith(within) and os.access(path, os.F_OK) and (found := stat_of(path)):
            if S_ISSOCK(found.st_mode):
                sockets.append((path, found.st_dev, found.st_ino))
            else:
                hidden.append(Seen(path, found.st_dev, found.st_ino))
    shell = Shell(
        walls.name,
        walls.layers[:lasting],
        tuple(_seen(layer.upper) for layer in walls.layers[:lasting]),
        tuple(hidden),
        tuple(path for path in walls.shared if not path.startswith(within)),
        tuple(path for path in walls.readonly if not path.startswith(within) and stat_of(path)),
        tuple(_seen(path) for path in walls.given if stat_of(path)),
        tuple(_seen(path) for path in walls.shown if stat_of(path)),
        walls.network,
        _seen(walls.place),
        tuple(_seen(path) for layer in layers for path in layer.lower if not path.startswith(f"{walls.place}/")),
    )
    interior = Interior(
        layers,
        walls.temporary,
        tuple(path for path in walls.hidden if path.startswith(within)),
        tuple(path for path in walls.shared if path.startswith(within)),
        tuple(path for path in walls.readonly if path.startswith(within)),
        tuple(sockets),
    )
    return shell, interior


def _seen(path: str) -> Seen:
    found = stat_of(path)
    return Seen(path, found.st_dev, found.st_ino) if found else Seen(path, 0, 0)
