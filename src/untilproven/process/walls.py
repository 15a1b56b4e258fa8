"""The walls of a room: namespaces and mounts that a process builds around itself and all it starts.

Everything outside is read-only, the writable parts are layers, what is hidden is empty. Once built, nothing inside
has a capability left, gains one, or makes a user namespace in which it would have them again.
"""

import ctypes
import os
import platform
import signal
import struct
from typing import NamedTuple

from untilproven.process import kernel

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_NOSUID, _NODEV, _NOEXEC, _READONLY, _BIND, _RECURSIVE, _PRIVATE = 2, 4, 8, 1, 4096, 16384, 1 << 18
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000
_DETACH = 2
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}
_READ_ONLY_IN_PROC = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi")


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
    hidden: tuple[str, ...] = ()
    """Directories and files that are empty inside; those that do not exist are left alone."""
    shared: tuple[str, ...] = ()
    """Directories that can be written to as they are, and that cannot be renamed or removed."""
    readonly: tuple[str, ...] = ()
    """Within a layer, what cannot be written to; what does not exist is left alone."""
    network: bool = True


class CannotBuild(OSError):
    """Why there is no room: which step was refused."""


def enter(walls: Walls) -> None:
    """Build the room and go in. Returns in a new process, the first of its pid namespace; the old one waits for it."""
    uid, gid = os.getuid(), os.getgid()
    flags = _NEWNS | _NEWPID | _NEWIPC | (0 if walls.network else _NEWNET)
    _call("unshare", ctypes.c_int(flags | (_NEWUSER if uid else 0)))
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
    _build(walls, privileged=not uid)
    _give_up_power()


def _wait_for(first: int) -> None:
    """The life of the process outside: its child is the room."""
    try:
        os.waitpid(first, 0)
    finally:
        os._exit(0)


def _build(walls: Walls, *, privileged: bool) -> None:
    _mount(None, "/", flags=_RECURSIVE | _PRIVATE)
    # Seen before anything is mounted over them, and after the namespace is ours: a layer takes no other's mounts.
    opened: list[int] = []
    layers = [_options(layer, opened) for layer in walls.layers]
    _mount(walls.temporary, "/tmp", flags=_BIND)  # noqa: S108  it is the room's own
    for layer, places in zip(walls.layers, layers, strict=True):
        _allow_again(layer.work)
        os.makedirs(layer.target, exist_ok=True)  # noqa: PTH103  the keeper loads no module; it may lie under /tmp
        _mount("overlay", layer.target, "overlay", data=places + _manner(layer, privileged=privileged))
    for fd in opened:
        os.close(fd)  # through them one would see what is hidden
    for path in (*walls.shared, *(path for path in walls.readonly if os.path.exists(path))):  # noqa: PTH110
        _mount(path, path, flags=_BIND | _RECURSIVE)
    _hide(walls.hidden)
    _make_devices()
    _protect("/", recursive=True)
    for path in (*(layer.target for layer in walls.layers), *walls.shared, "/tmp", "/dev/shm", "/dev/pts"):  # noqa: S108
        _protect(path, off=True)
    _mount("proc", "/proc", "proc", flags=_NOSUID | _NODEV | _NOEXEC)
    for path in _READ_ONLY_IN_PROC:
        if os.path.exists(path):  # noqa: PTH110  the keeper loads no module
            _mount(path, path, flags=_BIND | _RECURSIVE)
            _protect(path, recursive=True)


def _options(layer: Layer, opened: list[int]) -> str:
    """By number, not by name: names have other meanings once the first layer is there, and may hold a comma."""
    lower, (upper, work) = layer.lower, (_opened(path, opened) for path in (layer.upper, layer.work))
    below = ":".join(_opened(path, opened) for path in lower)
    return f"lowerdir={below},upperdir={upper},workdir={work}"


def _opened(path: str, opened: list[int]) -> str:
    opened.append(os.open(path, os.O_PATH | os.O_CLOEXEC))
    return f"/proc/self/fd/{opened[-1]}"


def _manner(layer: Layer, *, privileged: bool) -> str:
    """Whoever reads a layer later finds every file whole in it, whatever this kernel's defaults are. Nothing waits for
    the disk: the end of a room would otherwise write out all that anybody has written to that file system."""
    always = ",volatile,index=off"
    if not privileged:
        return f"{always},userxattr"
    return f"{always},redirect_dir={'on' if layer.renames else 'nofollow'},metacopy=off"


def _allow_again(work: str) -> None:
    """A layer that was mounted like this is marked, against being used after a power cut as if it were whole."""
    mark = f"{work}/work/incompat"
    for remove, path in ((os.unlink, f"{mark}/volatile/dirty"), (os.rmdir, f"{mark}/volatile"), (os.rmdir, mark)):
        try:
            remove(path)
        except FileNotFoundError:
            continue


def _hide(paths: tuple[str, ...]) -> None:
    for path in paths:
        if os.path.isdir(path):  # noqa: PTH112  the keeper loads no module
            _mount("tmpfs", path, "tmpfs", flags=_NOSUID | _NODEV | _NOEXEC, data="size=4k,mode=555")
        elif os.path.exists(path):  # noqa: PTH110
            _mount("/dev/null", path, flags=_BIND)


def _make_devices() -> None:
    """A /dev with what every program expects and nothing that reaches a device."""
    new = "/tmp"  # noqa: S108  the room's own, for a moment
    _mount("tmpfs", new, "tmpfs", flags=_NOSUID, data="mode=755,size=1m")
    for name in _DEVICES:
        os.close(os.open(f"{new}/{name}", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o666))
        _mount(f"/dev/{name}", f"{new}/{name}", flags=_BIND)
    for name, target in _LINKS.items():
        os.symlink(target, f"{new}/{name}")  # noqa: PTH211  the keeper loads no module
    for name in ("pts", "shm"):
        os.mkdir(f"{new}/{name}")  # noqa: PTH102  the keeper loads no module
    _mount("devpts", f"{new}/pts", "devpts", flags=_NOSUID | _NOEXEC, data="newinstance,ptmxmode=0666,mode=620")
    _mount("tmpfs", f"{new}/shm", "tmpfs", flags=_NOSUID | _NODEV, data="mode=1777")
    _mount(new, "/dev", flags=_BIND | _RECURSIVE)
    _call("umount2", new.encode(), ctypes.c_int(_DETACH))


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


def _protect(path: str, *, recursive: bool = False, off: bool = False) -> None:
    """Make a mount read-only, or writable again."""
    wanted = _Attributes(0, _READONLY, 0, 0) if off else _Attributes(_READONLY, 0, 0, 0)
    _call(
        "syscall",
        ctypes.c_long(_MOUNT_SETATTR),
        ctypes.c_int(_AT_FDCWD),
        os.fsencode(path),
        ctypes.c_uint(_AT_RECURSIVE if recursive else 0),
        ctypes.byref(wanted),
        ctypes.c_size_t(ctypes.sizeof(wanted)),
        what=f"make {path} {'writable' if off else 'read-only'}",
    )


def _mount(
    source: str | None, target: str, kind: str | None = None, *, flags: int = 0, data: str | None = None
) -> None:
    _call(
        "mount",
        source and os.fsencode(source),
        os.fsencode(target),
        kind and kind.encode(),
        ctypes.c_ulong(flags),
        data and os.fsencode(data),
        what=f"mount {kind or source or ''} on {target}",
    )


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 4, 24, 22, 38, 47
_AMBIENT_CLEAR_ALL, _FILTER, _LAST_CAPABILITY = 4, 2, 63
_CAPABILITY_VERSION = 0x20080522


def _give_up_power() -> None:
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            kernel.prctl(_PR_CAPBSET_DROP, capability)
        except OSError:
            break  # there are no more of them
    kernel.prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
    header = struct.pack("Ii", _CAPABILITY_VERSION, 0)
    _call("capset", header, bytes(24))
    kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _forbid_namespaces()


_MACHINES = {"x86_64": (0xC000003E, 272, 56, 435), "aarch64": (0xC00000B7, 97, 220, 435)}
"""The audit architecture, and the numbers of unshare, clone and clone3."""
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_X32 = 0x40000000
"""From here on, on x86_64, the same calls once more under other numbers."""
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38


def _forbid_namespaces() -> None:
    """No new user namespace: whoever makes one has every capability in it. clone3 hides its flags from us, so it is
    said not to exist, and the C library uses clone instead."""
    known = _MACHINES.get(platform.machine())
    if known is None:
        raise CannotBuild(0, f"no rules for programs on {platform.machine()}")
    architecture, unshare, clone, clone3 = known
    rules = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),  # the number of the call
        (_AT_LEAST, 7, 0, _X32),
        (_EQUAL, 5, 0, clone3),
        (_EQUAL, 1, 0, unshare),
        (_EQUAL, 0, 2, clone),
        (_LOAD, 0, 0, 16),  # its first argument
        (_ANY_BIT, 2, 0, _NEWUSER),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERROR | _ENOSYS),
        (_RETURN, 0, 0, _ERROR | _EPERM),
    ]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    described = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(program)))
    kernel.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.addressof(described))


def _call(name: str, *arguments: object, what: str = "") -> None:
    if kernel.libc()[name](*arguments) != 0:
        number = ctypes.get_errno()
        raise CannotBuild(number, f"{what or name}: {os.strerror(number)}")
