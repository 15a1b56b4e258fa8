"""Building a room: namespaces and mounts that a process builds around itself and all it starts.

Everything outside is read-only, the writable parts are layers, what is hidden is empty. What does not change from room
to room, the shell, is built once; the interior is mounted for each room and taken away after it. The process that does
this keeps its power. What it starts has none: no capability, none to gain, no user namespace in which it would have
them again.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct
from stat import S_ISDIR
from typing import TYPE_CHECKING

from untilproven.process import condition, kernel, landlock
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

if TYPE_CHECKING:
    from untilproven.process.walls import Interior, Layer, Shell

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_PR_SET_DUMPABLE = 4
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}
_READ_ONLY_IN_PROC = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi")
TMP, _SHM, _PTS = "/tmp", "/dev/shm", "/dev/pts"  # noqa: S108  the room's own
_LAST_NUMBER, _FIRST = "/proc/sys/kernel/ns_last_pid", b"1"
_SIOCSIFFLAGS, _IFF_UP, _IFF_RUNNING = 0x8914, 0x1, 0x40
_ANYTHING = os.O_PATH | os.O_CLOEXEC
_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


def stat_of(path: str) -> os.stat_result | None:
    """None if nothing is there."""
    try:
        return os.stat(path)  # noqa: PTH116  a hot path
    except (OSError, ValueError):
        return None


def enter(shell: "Shell") -> "Inside":
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
    if not shell.network:
        _raise_loopback()
    inside = Inside(shell, privileged=not uid)
    keep_power_from_programs()
    landlock.scope_only()
    return inside


def _raise_loopback() -> None:
    """Without a network, programs still find 127.0.0.1: their own."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP | _IFF_RUNNING))


def _wait_for(first: int) -> None:
    """The life of the process outside: its child is the room."""
    try:
        os.waitpid(first, 0)
    finally:
        os._exit(0)


class Inside:
    """The shell, seen by the process in it: it furnishes the room and clears it. Nothing else may run meanwhile."""

    def __init__(self, shell: "Shell", *, privileged: bool) -> None:
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
        self._given = {found.path: os.open(found.path, _ANYTHING) for found in (*shell.given, *shell.shown)}
        for layer in shell.layers:
            self._lay(layer)
        self._empty = _made_empty(place)
        for path in (*shell.shared, *shell.readonly):
            mount(path, path, flags=BIND | RECURSIVE)
        self._hide(hidden)
        given = [found.path for found in shell.given if not found.path.startswith(f"{TMP}/")]
        shown = [found.path for found in shell.shown if not found.path.startswith(f"{TMP}/")]
        for path in (*given, *shown):
            self._give(path)
        self._writable = {found.path for found in shell.given}
        below = tuple(f"{path}/" for path in given)
        self._hide(tuple(path for path in hidden if path.startswith(below)))
        _make_devices()
        protect("/", recursive=True)
        for path in (*(layer.target for layer in shell.layers), *shell.shared, *given):
            open_up(path)
        open_up_behind(behind)
        mount("proc", "/proc", "proc", flags=NOSUID | NODEV | NOEXEC)
        self._last_number = _last_number()
        for path in _READ_ONLY_IN_PROC:
            if os.path.exists(path):  # noqa: PTH110  the keeper loads no module
                mount(path, path, flags=BIND | RECURSIVE)
                protect(path, recursive=True)
        self._condition = condition.condition()

    def furnish(self, interior: "Interior") -> None:
        """Mount what one room has of its own; the last one's is gone."""
        self._clear()
        self._whole = False
        for found in interior.sockets:
            if found not in self._sockets:
                self._hide((found[0],))
                self._sockets.add(found)
        call("unshare", ctypes.c_int(_NEWIPC))
        if self._last_number >= 0:
            os.pwrite(self._last_number, _FIRST, 0)  # how far it has come tells what the last room did
        self._bind(interior.temporary, TMP)
        self._mount("devpts", _PTS, NOSUID | NOEXEC, "newinstance,ptmxmode=0666,mode=620")
        self._mount("tmpfs", _SHM, NOSUID | NODEV, "mode=1777")
        for layer in interior.layers:
            if layer.target.startswith(f"{TMP}/"):
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
        covering = tuple(f"{layer.target}/" for layer in interior.layers)
        given = [path for path in self._given if path.startswith(f"{TMP}/") or f"{path}/".startswith(covering)]
        for path in given:
            self._give(path)
            (open_up if path in self._writable else protect)(path)
        below = tuple(f"{path}/" for path in given)
        self._hide(tuple(path for path in interior.hidden if path.startswith(below)))
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

    def _lay(self, layer: "Layer") -> None:
        opened: list[int] = []
        try:
            places = self._options(layer, opened)
            _allow_again(opened[1])
            mount("overlay", layer.target, "overlay", data=places + _manner(layer, privileged=self._privileged))
        finally:
            for fd in opened:
                os.close(fd)  # through them one would see what is hidden

    def _options(self, layer: "Layer", opened: list[int]) -> str:
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
            found = stat_of(path)
            if found is None:
                continue
            try:
                if self._has_something_given(path):
                    mount("tmpfs", path, "tmpfs", flags=NOSUID | NODEV | NOEXEC, data="size=64k,mode=755")
                else:
                    mount(f"/proc/self/fd/{self._empty}" if S_ISDIR(found.st_mode) else "/dev/null", path, flags=BIND)
            except CannotBuild:
                if stat_of(path):
                    raise  # otherwise it is gone by now

    def _has_something_given(self, path: str) -> bool:
        if not self._given:
            return False
        within = f"{os.path.realpath(path)}/"
        return any(given.startswith(within) for given in self._given)

    def _give(self, path: str) -> None:
        """Put what is outside in its place, which may have to be made first."""
        source = self._given[path]
        if stat_of(path) is None:
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120  the keeper loads no module
            if S_ISDIR(os.fstat(source).st_mode):
                os.mkdir(path)  # noqa: PTH102  the same
            else:
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        mount(f"/proc/self/fd/{source}", path, flags=BIND | RECURSIVE)


def _with_what_they_lead_to(paths: list[str]) -> tuple[str, ...]:
    """A link that is replaced inside would otherwise uncover what it led to."""
    return tuple(dict.fromkeys(found for path in paths for found in (path, os.path.realpath(path))))


def _last_number() -> int:
    """Where the number is set from which processes are counted on; -1 if this kernel does not let us."""
    try:
        fd = os.open(_LAST_NUMBER, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return -1
    try:
        os.pwrite(fd, _FIRST, 0)
    except OSError:
        os.close(fd)
        return -1
    return fd


def _made_empty(place: str) -> int:
    """The place of layers is covered by a directory with nothing in it, which then covers all else that is hidden."""
    mount("tmpfs", place, "tmpfs", flags=NOSUID | NODEV | NOEXEC, data="size=4k,mode=555")
    return os.open(place, _DIRECTORY)


def _manner(layer: "Layer", *, privileged: bool) -> str:
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
    new = TMP
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
