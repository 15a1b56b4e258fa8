"""Landlock: what a process takes from itself and all it starts, where no namespaces can be had.

Rules only ever allow, each for a path and all below it, and they last as long as the process. So nothing can be closed
off below what is allowed, and what is hidden is hidden by allowing everything beside the way to it.
"""

import ctypes
import os
import stat
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from untilproven.process import calls, kernel
from untilproven.process.power import give_up_power

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_BENEATH = 1
_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38

_WRITE_FILE, _READ_FILE = 1 << 1, 1 << 2
_REMOVE, _MAKE_CHANNELS, _MAKE_REST = 0b11 << 4, 0b11 << 9, 1 << 7 | 1 << 8 | 1 << 12
_MAKE_DEVICES = 1 << 6 | 1 << 11
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_OF_FILES = _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_EVERYTHING = _OF_FILES | _REMOVE | _MAKE_CHANNELS | _MAKE_REST | _MAKE_DEVICES | _REFER
_ALLOWED = _EVERYTHING & ~_MAKE_DEVICES
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2

_ENOUGH, _WITH_IOCTL, _WITH_SCOPES = 3, 5, 6
"""Versions: before the first, a program could still empty files that it cannot write to."""
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")


class Confinement(NamedTuple):
    """What programs may do. Paths that do not exist are left alone."""

    writable: tuple[str, ...]
    """Directories, with all below them, and files that can be read and written to; nothing in them can be hidden."""
    hidden: tuple[str, ...] = ()
    """Directories and files whose contents cannot be read. That they are there can be seen."""
    shown: tuple[str, ...] = ()
    """What can be read although it lies in something hidden."""
    network: bool = True
    sockets: bool = False
    """Whether programs may talk through unix sockets: then to everybody who listens at one."""

    def confine(self) -> None:
        """From now on this process and all it starts can do no more than that."""
        confine(self)


class CannotConfine(OSError):
    """Why a process could not be confined: which step was refused."""


@cache
def version() -> int:
    """Of this kernel's Landlock; 0 if it has none, or does not use it."""
    found: int = kernel.libc().syscall(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint(1))
    return max(found, 0)


def available() -> str:
    """Why programs cannot be confined here, in a sentence; empty if they can."""
    if not version():
        return "this kernel has no Landlock, or was started without it (lsm=landlock)"
    if version() < _ENOUGH:
        return "this kernel's Landlock cannot keep a program from emptying your files; Linux 6.2 or newer can"
    return calls.available()


def weak_points() -> tuple[str, ...]:
    """What Landlock does not keep a confined program from, in sentences."""
    always = (
        "modes, owners and times of your files outside the project can be changed, though not what is in them",
        "the names of hidden files can be seen, though not what is in them",
        "your terminals and what programs share in /dev/shm can be written to",
        "other processes can be seen, and network services on this machine can be reached",
    )
    unscoped = ("your other processes can be signalled, the runner among them",)
    return always if version() >= _WITH_SCOPES else always + unscoped


def confine(confinement: Confinement) -> None:
    """From now on this process and all it starts can do no more than that."""
    kernel.prctl(_PR_SET_DUMPABLE, 0)
    give_up_power()
    handled = _EVERYTHING if version() >= _WITH_IOCTL else _EVERYTHING & ~_IOCTL
    rules = _Rules(handled, _ABSTRACT_SOCKETS | _SIGNALS)
    try:
        for path in _readable(_real(confinement.hidden)):
            rules.allow(path, _READ_FILE)
        for path in confinement.shown:
            rules.allow(path, _READ_FILE)
        for path in (*confinement.writable, *(f"/dev/{name}" for name in _DEVICES)):
            rules.allow(path, _ALLOWED)
        rules.restrict()
    finally:
        rules.close()
    calls.forbid_sockets(network=confinement.network, local=confinement.sockets)


def scope_only() -> bool:
    """No abstract socket of anybody outside can be connected to, and nobody outside signalled; whether this kernel
    can do that. The process gains no new privileges from now on; what it has, it keeps."""
    if version() < _WITH_SCOPES:
        return False
    kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1)
    rules = _Rules(0, _ABSTRACT_SOCKETS | _SIGNALS)
    try:
        rules.restrict()
    finally:
        rules.close()
    return True


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _Rules:
    def __init__(self, handled: int, scoped: int) -> None:
        self._handled = handled
        wanted = _Ruleset(handled, 0, scoped if version() >= _WITH_SCOPES else 0)
        size = ctypes.sizeof(wanted) if version() >= _WITH_SCOPES else ctypes.sizeof(ctypes.c_uint64)
        self._fd = _call("make rules", _CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(size), ctypes.c_uint(0))

    def allow(self, path: str, rights: int) -> None:
        """What has vanished by now needs no rule, and neither does what we cannot reach ourselves."""
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return
        try:
            if not stat.S_ISDIR(os.fstat(fd).st_mode):
                rights &= _OF_FILES
            rule = _PathBeneath(rights & self._handled, fd)
            arguments = (ctypes.c_int(self._fd), ctypes.c_int(_BENEATH), ctypes.byref(rule), ctypes.c_uint(0))
            _call(f"allow {path}", _ADD_RULE, *arguments)
        finally:
            os.close(fd)

    def restrict(self) -> None:
        _call("confine", _RESTRICT_SELF, ctypes.c_int(self._fd), ctypes.c_uint(0))

    def close(self) -> None:
        os.close(self._fd)


def _real(paths: tuple[str, ...]) -> set[str]:
    """Where they really are: a rule is for a place, whatever leads to it."""
    return {os.path.realpath(path) for path in paths if os.path.exists(path)}  # noqa: PTH110  the keeper loads no module


def _readable(hidden: set[str], here: str = "/") -> Iterator[str]:
    """Everything beside the way to what is hidden."""
    if here in hidden:
        return
    below = here.rstrip("/") + "/"
    if not any(path.startswith(below) for path in hidden):
        yield here
        return
    try:
        names = os.listdir(here)  # noqa: PTH208  the keeper loads no module
    except OSError:
        return  # what is in it cannot be read by this user either
    for name in names:
        path = below + name
        if not os.path.islink(path):  # noqa: PTH114  what it leads to has a rule of its own
            yield from _readable(hidden, path)


def _call(what: str, number: int, *arguments: object) -> int:
    answer: int = kernel.libc().syscall(ctypes.c_long(number), *arguments)
    if answer < 0:
        error = ctypes.get_errno()
        raise CannotConfine(error, f"{what}: {os.strerror(error)}")
    return answer
