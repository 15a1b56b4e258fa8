"""Why a kernel refuses a namespace or an overlay, and what to do about it."""

import contextlib
import errno
import sys
from pathlib import Path

import msgspec


class Kernel(msgspec.Struct, frozen=True):
    """The settings that keep a user from making namespaces; empty where this kernel has no such setting."""

    apparmor_restrict: str = ""
    userns_clone: str = ""
    max_user_namespaces: str = ""
    container: bool = False

    @classmethod
    def here(cls) -> "Kernel":
        return cls(
            apparmor_restrict=_setting("kernel/apparmor_restrict_unprivileged_userns"),
            userns_clone=_setting("kernel/unprivileged_userns_clone"),
            max_user_namespaces=_setting("user/max_user_namespaces"),
            container=any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv")),
        )


def _setting(name: str) -> str:
    with contextlib.suppress(OSError):
        return Path("/proc/sys", name).read_text().strip()
    return ""


def why_no_namespace(error: int, kernel: Kernel) -> tuple[str, str]:
    """What most likely forbids it on such a kernel, and what to do about it."""
    match error:
        case errno.ENOSPC | errno.EUSERS:
            why = f"user.max_user_namespaces is {kernel.max_user_namespaces or 'unknown'}"
            return why, "sudo sysctl -w user.max_user_namespaces=15000"
        case errno.EPERM | errno.EACCES if kernel.container:
            advice = "start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
            return "this is a container, and its policy forbids it", advice
        case errno.EPERM | errno.EACCES if kernel.apparmor_restrict == "1":
            why = "kernel.apparmor_restrict_unprivileged_userns is 1, so AppArmor forbids it"
            advice = f"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or a profile for {sys.executable}"
            return why, advice
        case errno.EPERM | errno.EACCES if kernel.userns_clone == "0":
            return "kernel.unprivileged_userns_clone is 0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"
        case errno.EPERM | errno.EACCES:
            return "a security policy or a chroot forbids it", "ask who set up this machine to allow user namespaces"
        case errno.ENOSYS | errno.EINVAL:
            return "the kernel was built without them", "use a kernel with CONFIG_USER_NS"
    return "the kernel does not say why", "use a kernel from 5.12 on"


def why_no_overlay(error: int, kind: str) -> tuple[str, str]:
    """What most likely keeps an upper layer off such a file system, and what to do about it."""
    match error, kind:
        case errno.ENODEV, _:
            return "the kernel has no overlay file system", "sudo modprobe overlay"
        case ((errno.EPERM | errno.EACCES), _):
            return "a security policy, or a kernel before 5.11, forbids it", "allow it, or use a newer kernel"
        case _, "overlay":
            advice = "mount a volume or a tmpfs there, or set XDG_STATE_HOME to a directory on one"
            return "it lies on an overlay itself, as in a container", advice
    return f"{kind} cannot hold an upper layer", "set XDG_STATE_HOME to a directory on ext4, xfs, btrfs or tmpfs"
