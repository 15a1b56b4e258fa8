"""Calls to the kernel that a process forbids itself and all it starts: those that reach others without a file."""

import ctypes
import platform
import struct
from typing import NamedTuple

from untilproven.process import kernel

_PR_SET_SECCOMP, _FILTER = 22, 2
_MACHINES = {"x86_64": (0xC000003E, 41, 53, 425), "aarch64": (0xC00000B7, 198, 199, 425)}
"""The audit architecture, and the numbers of socket, socketpair and io_uring_setup."""
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ARCHITECTURE, _NUMBER, _FIRST, _SECOND = 4, 0, 16, 24
"""Where they are in what the kernel tells of a call."""
_X32 = 0x40000000
"""From here on, on x86_64, the same calls once more under other numbers."""
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_ENOSYS, _EACCES = 38, 13
_UNIX, _DATAGRAM, _KINDS = 1, 2, 0xF


class _Step(NamedTuple):
    """One instruction; `yes` and `no` name the step to go on with, or are empty for the next one."""

    code: int
    value: int
    yes: str = ""
    no: str = ""
    name: str = ""


def available() -> str:
    """Why calls cannot be forbidden here; empty if they can."""
    return "" if platform.machine() in _MACHINES else f"no rules for programs on {platform.machine()}"


def forbid_sockets(*, network: bool, local: bool) -> None:
    """Without `local` no unix socket can be made, for it could be connected to whoever listens in the file system, and
    only such pairs as cannot be connected elsewhere. Without `network` no other socket can be made.

    io_uring makes sockets too, out of sight of these rules: it is said not to exist. The process must have given up
    new privileges before.
    """
    if network and local:
        return
    architecture, socket, pair, ring = _MACHINES[platform.machine()]
    steps = [
        _Step(_LOAD, _ARCHITECTURE),
        _Step(_EQUAL, architecture, no="kill"),
        _Step(_LOAD, _NUMBER),
        _Step(_AT_LEAST, _X32, yes="kill"),
        _Step(_EQUAL, ring, yes="absent"),
        _Step(_EQUAL, socket, yes="family"),
        _Step(_EQUAL, pair, no="allow"),
        _Step(_LOAD, _SECOND),
        _Step(_AND, _KINDS),
        _Step(_EQUAL, _DATAGRAM, yes="allow" if local else "refuse", no="allow"),
        _Step(_LOAD, _FIRST, name="family"),
        _Step(_EQUAL, _UNIX, yes="allow" if local else "refuse", no="allow" if network else "refuse"),
        _Step(_RETURN, _ALLOW, name="allow"),
        _Step(_RETURN, _ERROR | _EACCES, name="refuse"),
        _Step(_RETURN, _ERROR | _ENOSYS, name="absent"),
        _Step(_RETURN, _KILL, name="kill"),
    ]
    program = ctypes.create_string_buffer(_assembled(steps))
    described = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program)))
    kernel.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.addressof(described))


def _assembled(steps: list[_Step]) -> bytes:
    places = {step.name: at for at, step in enumerate(steps) if step.name}

    def ahead(at: int, name: str) -> int:
        return places[name] - at - 1 if name else 0

    return b"".join(
        struct.pack("HBBI", step.code, ahead(at, step.yes), ahead(at, step.no), step.value)
        for at, step in enumerate(steps)
    )
