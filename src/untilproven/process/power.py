"""What a process gives up so that nothing it starts has power over the system, or ever gains some."""

import ctypes
import platform
import struct

from untilproven.process import kernel
from untilproven.process.mounts import CannotBuild, call

_PR_CAPBSET_DROP, _PR_SET_SECCOMP, _PR_SET_SECUREBITS, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 24, 22, 28, 38, 47
_AMBIENT_CLEAR_ALL, _FILTER, _LAST_CAPABILITY = 4, 2, 63
_CAPABILITY_VERSION = 0x20080522
_NO_ROOT, _NO_AMBIENT = 0b11, 0b11 << 6
"""Being root gives a program no capability, nobody passes one on, and both are so for good."""
_NEWUSER = 0x10000000


def give_up_power() -> None:
    """No capability is left, neither to this process nor to what it starts."""
    _pass_nothing_on()
    call("capset", struct.pack("Ii", _CAPABILITY_VERSION, 0), bytes(24))
    _forbid_namespaces()


def keep_power_from_programs() -> None:
    """This process stays as powerful as it is; what it starts has no capability left and gains none."""
    kernel.prctl(_PR_SET_SECUREBITS, _NO_ROOT | _NO_AMBIENT)
    _pass_nothing_on()
    header, sets = struct.pack("Ii", _CAPABILITY_VERSION, 0), ctypes.create_string_buffer(24)
    call("capget", header, sets)
    effective, permitted, _, effective_too, permitted_too, _ = struct.unpack("6I", sets.raw)
    call("capset", header, struct.pack("6I", effective, permitted, 0, effective_too, permitted_too, 0))
    _forbid_namespaces()


def _pass_nothing_on() -> None:
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            kernel.prctl(_PR_CAPBSET_DROP, capability)
        except OSError:
            break  # there are no more of them
    kernel.prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
    kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1)


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
