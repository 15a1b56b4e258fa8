"""The walls of a room: namespaces and mounts that a process builds around itself and all it starts.

Everything outside is read-only, the writable parts are layers, what is hidden is empty. What does not change from room
to room, the shell, is built once; the interior is mounted for each room and taken away after it. The process that does
this keeps its power. What it starts has none: no capability, none to gain, no user namespace in which it would have
them again.
"""

import ctypes
import os
import signal
from stat import S_ISDIR, S_ISSOCK
from typing import NamedTuple

from untilproven.process import condition, kernel
from untilproven.process.mounts import (
    BIND,
    NODEV,
    NOEXEC,
    NOSUID,
    PRIVATE,
    RECURSIVE,
    CannotBuild,
    call,
    detach,
    mount,
    open_up,
    open_up_behind,
    protect,
)
from untilproven.process.power import keep_power_from_programs

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_PR_SET_DUMPABLE = 4
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}
_READ_ONLY_IN_PROC = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi")
_TMP, _SHM, _PTS = "/tmp", "/dev/shm", "/dev/pts"  # noqa: S108  the room's own
_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


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
    network: bool = True
    lasting: int = 0
    """How many of the first layers stay the same in every room, and are left as they are between them."""


class Seen(NamedTuple):
    """A path and what was there."""

    path: str
    device: int
    inode: int


class Shell(NamedTuple):
    """What stands around one room after the other. Two that are equal need to be built only once."""

    layers: tuple[Layer, ...]
    hidden: tuple[Seen, ...]
    shared: tuple[str, ...]
    readonly: tuple[str, ...]
    network: bool
    place: Seen
    grounds: tuple[Seen, ...]
    """What the layers of rooms lie over."""

    def confine(self) -> "Inside":
        return _enter(self)


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
    while lasting < walls.lasting and not walls.layers[lasting].target.startswith(f"{_TMP}/"):
        lasting += 1
    layers = walls.layers[lasting:]
    within = (f"{_TMP}/", *(f"{layer.target}/" for layer in layers))
    hidden: list[Seen] = []
    sockets: list[tuple[str, int, int]] = []
    for path in walls.hidden:
        if not path.startswith(within) and (found := _stat(path)):
            if S_ISSOCK(found.st_mode):
                sockets.append((path, found.st_dev, found.st_ino))
            else:
                hidden.append(Seen(path, found.st_dev, found.st_ino))
    shell = Shell(
        walls.layers[:lasting],
        tuple(hidden),
        tuple(path for path in walls.shared if not path.startswith(within)),
        tuple(path for path in walls.readonly if not path.startswith(within) and _stat(path)),
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


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116  a hot path
    except (OSError, ValueError):
        return None


def _seen(path: str) -> Seen:
    found = _stat(path)
    return Seen(path, found.st_dev, found.st_ino) if found else Seen(path, 0, 0)


def _enter(shell: Shell) -> "Inside":
    """Build the shell and go in. Returns in a new process, the first of its pid namespace; the old one waits for it."""
    uid, gid = os.getuid(), os.getgid()
    flags = _NEWNS | _NEWPID | _NEWIPC | (0 if shell.network else _NEWNET)
    call("unshare", ctypes.c_int(flags | (_NEWUSER if uid else 0)))
    if uid:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")
    first = os.fork()
    if first:
        _wait_for(first)
    kernel.signal_when_parent_dies(signal.SIGKILL)
    # What is run inside is of the same user: it shall neither take over nor look into the one that started it.
    kernel.prctl(_PR_SET_DUMPABLE, 0)
    inside = Inside(shell, privileged=not uid)
    keep_power_from_programs()
    return inside


def _wait_for(first: int) -> None:
    """The life of the process outside: its child is the room."""
    try:
        os.waitpid(first, 0)
    finally:
        os._exit(0)


class Inside:
    """The shell, seen by the process in it: it furnishes the room and clears it. Nothing else may run meanwhile."""

    def __init__(self, shell: Shell, *, privileged: bool) -> None:
        self._privileged = privileged
        self._mounted: list[str] = []
        self._sockets: set[tuple[str, int, int]] = set()
        self._whole = True
        mount(None, "/", flags=RECURSIVE | PRIVATE)
        hidden = _with_what_they_lead_to([found.path for found in shell.hidden])
        # Seen before anything is mounted over them, and after the namespace is ours: a layer takes no other's mounts.
        self._held = {ground.path: os.open(ground.path, _DIRECTORY) for ground in shell.grounds}
        place = shell.place.path
        mount(place, place, flags=BIND)
        behind = os.open(place, _DIRECTORY)
        self._held = {place: behind, **self._held}
        for layer in shell.layers:
            self._lay(layer)
        self._empty = _made_empty(place)
        for path in (*shell.shared, *shell.readonly):
            mount(path, path, flags=BIND | RECURSIVE)
        self._hide(hidden)
        _make_devices()
        protect("/", recursive=True)
        for path in (*(layer.target for layer in shell.layers), *shell.shared):
            open_up(path)
        open_up_behind(behind)
        mount("proc", "/proc", "proc", flags=NOSUID | NODEV | NOEXEC)
        for path in _READ_ONLY_IN_PROC:
            if os.path.exists(path):  # noqa: PTH110  the keeper loads no module
                mount(path, path, flags=BIND | RECURSIVE)
                protect(path, recursive=True)
        self._condition = condition.condition()

    def furnish(self, interior: Interior) -> None:
        """Mount what one room has of its own; the last one's is gone."""
        self._clear()
        self._whole = False
        for socket in interior.sockets:
            if socket not in self._sockets:
                self._hide((socket[0],))
                self._sockets.add(socket)
        call("unshare", ctypes.c_int(_NEWIPC))
        self._bind(interior.temporary, _TMP)
        self._mount("devpts", _PTS, NOSUID | NOEXEC, "newinstance,ptmxmode=0666,mode=620")
        self._mount("tmpfs", _SHM, NOSUID | NODEV, "mode=1777")
        for layer in interior.layers:
            if layer.target.startswith(f"{_TMP}/"):
                os.makedirs(layer.target, exist_ok=True)  # noqa: PTH103  the keeper loads no module
            self._lay(layer)
            self._mounted.append(layer.target)
        for path in interior.shared:
            mount(path, path, flags=BIND | RECURSIVE)
        for path in interior.readonly:
            if os.path.exists(path):  # noqa: PTH110  the keeper loads no module
                mount(path, path, flags=BIND | RECURSIVE)
                protect(path, recursive=True)
        self._hide(interior.hidden)
        self._whole = True

    def clear(self) -> bool:
        """Nothing of the room is left: what was written lies in its layers. Whether another can be furnished here."""
        try:
            self._clear()
        except OSError:
            return False
        return self._whole and self._condition == condition.condition()

    def _clear(self) -> None:
        gone: list[str] = []
        while self._mounted:
            target = self._mounted.pop(0)
            if not target.startswith(tuple(gone)):
                detach(target)
                gone.append(f"{target}/")

    def _lay(self, layer: Layer) -> None:
        opened: list[int] = []
        try:
            places = self._options(layer, opened)
            _allow_again(opened[1])
            mount("overlay", layer.target, "overlay", data=places + _manner(layer, privileged=self._privileged))
        finally:
            for fd in opened:
                os.close(fd)  # through them one would see what is hidden

    def _options(self, layer: Layer, opened: list[int]) -> str:
        """By number, not by name: names have other meanings once the first layer is there, and may hold a comma."""
        upper, work, *lower = (self._opened(path, opened) for path in (layer.upper, layer.work, *layer.lower))
        return f"lowerdir={':'.join(lower)},upperdir={upper},workdir={work}"

    def _opened(self, path: str, opened: list[int]) -> str:
        for held, directory in self._held.items():
            if path == held or path.startswith(f"{held}/"):
                fd = os.open(path[len(held) + 1 :] or ".", _DIRECTORY | os.O_NOFOLLOW, dir_fd=directory)
                break
        else:
            fd = os.open(path, _DIRECTORY)
        opened.append(fd)
        return f"/proc/self/fd/{fd}"

    def _bind(self, source: str, target: str) -> None:
        opened: list[int] = []
        try:
            mount(self._opened(source, opened), target, flags=BIND)
        finally:
            for fd in opened:
                os.close(fd)
        self._mounted.append(target)

    def _mount(self, kind: str, target: str, flags: int, data: str) -> None:
        mount(kind, target, kind, flags=flags, data=data)
        self._mounted.append(target)

    def _hide(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            found = _stat(path)
            if found is None:
                continue
            try:
                mount(f"/proc/self/fd/{self._empty}" if S_ISDIR(found.st_mode) else "/dev/null", path, flags=BIND)
            except CannotBuild:
                if _stat(path):
                    raise  # otherwise it is gone by now


def _with_what_they_lead_to(paths: list[str]) -> tuple[str, ...]:
    """A link that is replaced inside would otherwise uncover what it led to."""
    return tuple(dict.fromkeys(found for path in paths for found in (path, os.path.realpath(path))))


def _made_empty(place: str) -> int:
    """The place of layers is covered by a directory with nothing in it, which then covers all else that is hidden."""
    mount("tmpfs", place, "tmpfs", flags=NOSUID | NODEV | NOEXEC, data="size=4k,mode=555")
    return os.open(place, _DIRECTORY)


def _manner(layer: Layer, *, privileged: bool) -> str:
    """Whoever reads a layer later finds every file whole in it, whatever this kernel's defaults are. Nothing waits for
    the disk: the end of a room would otherwise write out all that anybody has written to that file system."""
    always = ",volatile,index=off"
    if not privileged:
        return f"{always},userxattr"
    return f"{always},redirect_dir={'on' if layer.renames else 'nofollow'},metacopy=off"


def _allow_again(work: int) -> None:
    """A layer that was mounted like this is marked, against being used after a power cut as if it were whole."""
    mark = "work/incompat"
    for remove, path in ((os.unlink, f"{mark}/volatile/dirty"), (os.rmdir, f"{mark}/volatile"), (os.rmdir, mark)):
        try:
            remove(path, dir_fd=work)
        except FileNotFoundError:
            continue


def _make_devices() -> None:
    """A /dev with what every program expects and nothing that reaches a device."""
    new = _TMP
    mount("tmpfs", new, "tmpfs", flags=NOSUID, data="mode=755,size=1m")
    for name in _DEVICES:
        os.close(os.open(f"{new}/{name}", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o666))
        mount(f"/dev/{name}", f"{new}/{name}", flags=BIND)
    for name, target in _LINKS.items():
        os.symlink(target, f"{new}/{name}")  # noqa: PTH211  the keeper loads no module
    for name in ("pts", "shm"):
        os.mkdir(f"{new}/{name}")  # noqa: PTH102  the keeper loads no module
    mount(new, "/dev", flags=BIND | RECURSIVE)
    detach(new)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
