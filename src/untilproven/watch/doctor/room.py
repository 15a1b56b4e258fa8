"""Whether a room can be built here: a child goes into a namespace of its own and mounts an overlay there."""

import ctypes
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Literal

import msgspec

from untilproven.store.layout import Project
from untilproven.store.vouch import user_state
from untilproven.watch.doctor.frame import Finding, in_child
from untilproven.watch.doctor.places import inside
from untilproven.watch.doctor.refusals import Kernel, why_no_namespace, why_no_overlay

_TRIAL_SECONDS = 10.0

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000


def user_namespaces() -> Finding:
    if sys.platform != "linux":
        return _not_linux("user namespaces")
    trial = _try_room()
    root = "; you are root" if os.geteuid() == 0 else ""
    if not trial.failed_at:
        return Finding("user namespaces", "ok", f"can be made{root}")
    why, advice = why_no_namespace(trial.error, Kernel.here())
    return Finding("user namespaces", "problem", f"cannot be made: {trial.words}: {why}{root}", advice)


def overlay(project: Project) -> Finding:
    if sys.platform != "linux":
        return _not_linux("overlay")
    base = user_state()
    if inside(base, project):
        return Finding(
            "overlay", "warning", f"not tried: {base} lies inside the project", "set XDG_STATE_HOME elsewhere"
        )
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="doctor-", dir=base) as directory:
        for name in ("lower", "lower/directory", "upper", "work", "merged"):
            Path(directory, name).mkdir()
        Path(directory, "lower/file").write_text("as it was")
        trial = _try_room(Path(directory))
    kind = _file_system(base)
    if not trial.failed_at:
        return Finding("overlay", "ok", f"can be mounted over {base} ({kind})")
    if trial.failed_at == "namespace":
        return Finding("overlay", "problem", "not tried: it needs a user namespace", "make user namespaces work first")
    why, advice = why_no_overlay(trial.error, kind)
    return Finding("overlay", "problem", f"cannot be mounted over {base}: {trial.words}: {why}", advice)


def _not_linux(name: str) -> Finding:
    found = f"{platform.system()} has none, so a room is best effort here"
    return Finding(name, "warning", found, "run the loop on Linux where the agent must not get out")


def _file_system(directory: Path) -> str:
    device = directory.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in Path("/proc/self/mountinfo").read_text(errors="replace").splitlines():
        fields = line.split(" ")
        if fields[2] == number:
            return fields[fields.index("-") + 1]
    return "unknown file system"


class Trial(msgspec.Struct, frozen=True):
    """How far a child came on its way into a room; `failed_at` is empty when it got there."""

    failed_at: Literal["", "namespace", "overlay"] = ""
    error: int = 0

    @property
    def words(self) -> str:
        return os.strerror(self.error) if self.error else "no answer"


def _try_room(directory: Path | None = None) -> Trial:
    answer = in_child(lambda: msgspec.json.encode(_enter_room(directory)), _TRIAL_SECONDS)
    return Trial("namespace") if answer is None else msgspec.json.decode(answer, type=Trial)


def _enter_room(directory: Path | None) -> Trial:
    """Only in a child: makes this process live in a namespace of its own, and mounts an overlay there."""
    uid, gid = os.geteuid(), os.getegid()
    step: Literal["namespace", "overlay"] = "namespace"
    try:
        _system("unshare", ctypes.c_int(_CLONE_NEWUSER | _CLONE_NEWNS))
        # Where AppArmor forbids it, the namespace is made and the mapping is refused.
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
        _system("mount", None, b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None)
        if directory:
            step = "overlay"
            # Relative names, because a comma or colon in the path would be read as part of the options.
            os.chdir(directory)
            layers = b"lowerdir=lower,upperdir=upper,workdir=work,userxattr"
            _system("mount", b"overlay", b"merged", b"overlay", ctypes.c_ulong(0), layers)
            Path("merged/file").write_text("changed")
            # A directory put in place of one below is what needs the extended attributes.
            Path("merged/directory").rmdir()
            Path("merged/directory").mkdir()
    except OSError as error:
        return Trial(step, error.errno or 0)
    return Trial()


def _system(name: str, *arguments: object) -> None:
    if ctypes.CDLL(None, use_errno=True)[name](*arguments) != 0:
        raise OSError(ctypes.get_errno(), name)
