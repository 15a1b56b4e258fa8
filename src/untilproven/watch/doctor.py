"""What this machine can do for a loop, found by trying.

Nothing that the project's tree names is run, nothing is written into it, and no probe can take another down: each
works in a child of its own, with a deadline.
"""

import codecs
import contextlib
import ctypes
import errno
import os
import platform
import select
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from untilproven.errors import Foreign
from untilproven.store import clock, files
from untilproven.store.layout import Project
from untilproven.store.vouch import user_state

OLDEST_PYTHON = (3, 11)
AGENTS = ("claude", "codex", "opencode", "gemini", "qwen", "aider")
GIB = 1024 * files.MIB
SCARCE = GIB
TOO_LITTLE = 100 * files.MIB
CLOCK_TOLERANCE_SECONDS = 300
EARLIEST_YEAR = 2025
PROBE_SECONDS = 15.0
_TRIAL_SECONDS = 10.0
_PROGRAM_SECONDS = 5.0

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000

Verdict = Literal["ok", "warning", "problem"]


class Finding(msgspec.Struct, frozen=True):
    name: str
    verdict: Verdict
    found: str
    advice: str = ""


Probe = Callable[[], Finding | None]


def probes(project: Project, path: str) -> dict[str, Probe]:
    """Everything that is looked at, in the order it is shown; `path` is the user's PATH."""
    programs = SearchPath(path, project)
    return {
        "python": python,
        "search path": partial(search_path, programs),
        "git": partial(git, programs),
        "user namespaces": user_namespaces,
        "overlay": partial(overlay, project),
        "bwrap": partial(bwrap, programs),
        "agents": partial(agents, programs),
        "project state": partial(project_state, project),
        "user state": partial(own_state, project),
        "clock": lambda: system_clock(project, clock.now()),
        "text": lambda: text_encoding(sys.stdout.encoding),
    }


def examine(wanted: Mapping[str, Probe], *, seconds: float = PROBE_SECONDS) -> list[Finding]:
    """What each probe found; one that raises, dies or hangs is itself a finding."""
    found = [_answer(name, probe, seconds) for name, probe in wanted.items()]
    return [finding for finding in found if finding]


def _answer(name: str, probe: Probe, seconds: float) -> Finding | None:
    answer = _in_child(lambda: msgspec.json.encode(_attempt(name, probe)), seconds)
    if answer is None:
        return _failed(name, f"no answer within {seconds:g} s, or its process died")
    return msgspec.json.decode(answer, type=Finding | None)


def _attempt(name: str, probe: Probe) -> Finding | None:
    try:
        finding = probe()
    except Exception as error:  # noqa: BLE001  whatever goes wrong in one probe, the others are still wanted
        finding = _failed(name, f"{type(error).__name__}: {error}")
    return finding and msgspec.structs.replace(finding, found=_unicode(finding.found), advice=_unicode(finding.advice))


def _failed(name: str, why: str) -> Finding:
    return Finding(name, "problem", f"probe failed: {why}", "if it fails again, report it with this line")


def _unicode(text: str) -> str:
    """File names need not be text; JSON must be."""
    return text.encode("utf-8", "backslashreplace").decode()


def _in_child(work: Callable[[], bytes], seconds: float) -> bytes | None:
    """What `work` returns in a forked child, or None: what it does to itself, and what it waits for, stays there."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        failed = 1
        try:
            os.setpgid(0, 0)
            files.write_all(writer, work())
            failed = 0
        finally:
            os._exit(failed)
    os.close(writer)
    answer = None
    try:
        answer = _read_until(time.monotonic() + seconds, reader)
    finally:
        os.close(reader)
        if answer is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
    # A process stuck in the kernel does not die when killed, so it is not waited for.
    _, status = os.waitpid(child, os.WNOHANG if answer is None else 0)
    return answer if status == 0 else None


def _read_until(deadline: float, reader: int) -> bytes | None:
    data = b""
    while select.select([reader], [], [], max(deadline - time.monotonic(), 0))[0]:
        chunk = os.read(reader, 65536)
        if not chunk:
            return data
        data += chunk
    return None


class Program(msgspec.Struct, frozen=True):
    """A file that a shell would run; `planted` when the project could have put it there."""

    path: Path
    planted: bool


class SearchPath:
    """PATH, without the entries that the project or the current directory could fill."""

    def __init__(self, path: str, project: Project) -> None:
        self._entries = path.split(os.pathsep)
        self._project = project

    def distrusted(self) -> dict[str, str]:
        """The entries that are skipped, and why."""
        return {entry: why for entry in self._entries if (why := self._distrust(entry))}

    def trusted(self) -> str:
        return os.pathsep.join(entry for entry in self._entries if not self._distrust(entry))

    def hits(self, name: str) -> list[Program]:
        """Every program of that name, in the order of PATH."""
        return [
            Program(path.absolute(), bool(self._distrust(entry)) or _inside(path, self._project))
            for entry in self._entries
            if os.access(path := Path(entry, name), os.X_OK) and path.is_file()
        ]

    def _distrust(self, entry: str) -> str:
        if not entry:
            return "empty, which means the current directory"
        if not entry.startswith("/"):
            return "relative"
        return "inside the project" if _inside(Path(entry), self._project) else ""


def _inside(path: Path, project: Project) -> bool:
    real = Path(os.path.realpath(path))
    return real.is_relative_to(project.root) or real.is_relative_to(project.home)


def _ask(program: Path, argument: str, programs: SearchPath) -> str:
    """What a program says of itself, far from the project and from the user's environment."""
    return subprocess.run(
        [program, argument],
        cwd="/",
        env={"PATH": programs.trusted(), "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_PROGRAM_SECONDS,
        check=True,
    ).stdout.decode("utf-8", "replace")


def python(version: tuple[int, ...] = sys.version_info[:3]) -> Finding:
    found = f"{'.'.join(map(str, version))} ({sys.executable})"
    if version >= OLDEST_PYTHON:
        return Finding("python", "ok", found)
    wanted = ".".join(map(str, OLDEST_PYTHON))
    return Finding("python", "problem", found, f"install Python {wanted} or newer")


def search_path(programs: SearchPath) -> Finding:
    skipped = programs.distrusted()
    if not skipped:
        return Finding("search path", "ok", "every entry of PATH is used")
    found = "not used: " + ", ".join(f"{entry!r} ({why})" for entry, why in skipped.items())
    # An activated environment inside the project is ordinary; an entry that changes with every cd is not.
    if all(entry.startswith("/") for entry in skipped):
        return Finding("search path", "ok", found)
    return Finding("search path", "warning", found, "take empty and relative entries out of PATH")


def git(programs: SearchPath) -> Finding:
    hits = programs.hits("git")
    if not hits:
        advice = "install git; without it all works but commits and `ralph guard`"
        return Finding("git", "warning", "not found on PATH", advice)
    if hits[0].planted:
        return _planted("git", "problem", hits[0].path)
    version = _ask(hits[0].path, "--version", programs).strip()
    return Finding("git", "ok", f"{version.removeprefix('git version ')} ({hits[0].path})")


def _planted(name: str, verdict: Verdict, path: Path) -> Finding:
    advice = f"take {path.parent} out of PATH"
    return Finding(name, verdict, f"{path} is the first on PATH and lies inside the project: it was not run", advice)


def bwrap(programs: SearchPath) -> Finding:
    hits = programs.hits("bwrap")
    if not hits:
        return Finding("bwrap", "ok", "not found on PATH; not needed where namespaces and overlay work")
    path = hits[0].path
    if hits[0].planted:
        return _planted("bwrap", "warning", path)
    version = _ask(path, "--version", programs).strip().removeprefix("bubblewrap ")
    can = "can" if "--overlay-src" in _ask(path, "--help", programs) else "cannot"
    return Finding("bwrap", "ok", f"{version} ({path}), {can} mount an overlay")


def agents(programs: SearchPath) -> Finding:
    """Which coding agents are there; none of them is started."""
    hits = {name: hits[0] for name in AGENTS if (hits := programs.hits(name))}
    usable = [f"{name} ({hit.path})" for name, hit in hits.items() if not hit.planted]
    planted = [f"{hit.path} lies inside the project and is not used" for hit in hits.values() if hit.planted]
    found = ", ".join(usable) or "none found on PATH"
    if usable and not planted:
        return Finding("agents", "ok", found)
    advice = "" if usable else f"install one ({', '.join(AGENTS)}), or name your own with --agent-cmd"
    return Finding("agents", "warning", "; ".join([found, *planted]), advice or "install it outside the project")


class Trial(msgspec.Struct, frozen=True):
    """How far a child came on its way into a room; `failed_at` is empty when it got there."""

    failed_at: Literal["", "namespace", "overlay"] = ""
    error: int = 0

    @property
    def words(self) -> str:
        return os.strerror(self.error) if self.error else "no answer"


def _try_room(directory: Path | None = None) -> Trial:
    answer = _in_child(lambda: msgspec.json.encode(_enter_room(directory)), _TRIAL_SECONDS)
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


def user_namespaces() -> Finding:
    if sys.platform != "linux":
        return _not_linux("user namespaces")
    trial = _try_room()
    root = "; you are root" if os.geteuid() == 0 else ""
    if not trial.failed_at:
        return Finding("user namespaces", "ok", f"can be made{root}")
    why, advice = why_no_namespace(trial.error, Kernel.here())
    return Finding("user namespaces", "problem", f"cannot be made: {trial.words}: {why}{root}", advice)


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


def overlay(project: Project) -> Finding:
    if sys.platform != "linux":
        return _not_linux("overlay")
    base = user_state()
    if _inside(base, project):
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


def _file_system(directory: Path) -> str:
    device = directory.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in Path("/proc/self/mountinfo").read_text(errors="replace").splitlines():
        fields = line.split(" ")
        if fields[2] == number:
            return fields[fields.index("-") + 1]
    return "unknown file system"


def _not_linux(name: str) -> Finding:
    found = f"{platform.system()} has none, so a room is best effort here"
    return Finding(name, "warning", found, "run the loop on Linux where the agent must not get out")


def project_state(project: Project) -> Finding:
    """Only looked at: the project is not the doctor's to write."""
    state = project.state
    try:
        state.exists()
    except Foreign as link:
        return Finding("project state", "problem", link.message, link.hint)
    directory = next(path for path in (state.path, state.path.parent, state.home) if path.is_dir())
    if not os.access(directory, os.W_OK | os.X_OK):
        advice = f"check who owns it and how it is mounted: ls -ld {directory}"
        return Finding("project state", "problem", f"{directory} cannot be written", advice)
    return _space("project state", directory)


def own_state(project: Project) -> Finding:
    directory = user_state()
    if _inside(directory, project):
        found = f"{directory} lies inside the project, within an agent's reach; nothing was written there"
        return Finding("user state", "warning", found, "set XDG_STATE_HOME elsewhere, or work in a directory below")
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(prefix="doctor-", dir=directory) as file:
            file.write(b"written by ralph doctor")
    except OSError as error:
        advice = f"check who owns it and how it is mounted: ls -ld {directory}; or set XDG_STATE_HOME"
        return Finding("user state", "problem", f"{directory} cannot be written: {error.strerror}", advice)
    return _space("user state", directory)


def _space(name: str, directory: Path) -> Finding:
    numbers = os.statvfs(directory)
    free = numbers.f_bavail * numbers.f_frsize
    found = f"{directory} can be written, {free / files.MIB:,.0f} MiB free"
    if free >= SCARCE:
        return Finding(name, "ok", found)
    return Finding(name, "problem" if free < TOO_LITTLE else "warning", found, f"free some space: df {directory}")


def system_clock(project: Project, now: datetime) -> Finding:
    shown = f"{now:%Y-%m-%d %H:%M:%S} UTC"
    if now.year < EARLIEST_YEAR:
        return Finding("clock", "warning", f"{shown} is before this program was written", "set the clock")
    newest = max((modified for modified in _modified(project)), default=0.0)
    ahead = newest - now.timestamp()
    if ahead > CLOCK_TOLERANCE_SECONDS:
        found = f"{shown}; the newest state file is from {ahead:,.0f} s later: the clock was set back"
        return Finding("clock", "warning", found, "set the clock; times and limits of running loops are off until then")
    return Finding("clock", "ok", shown)


def _modified(project: Project) -> Iterator[float]:
    """When each file of the state was written; a link is not one of them."""
    with contextlib.suppress(Foreign):
        if project.state.exists():
            for path in (project.state.registry, *(loop.state for loop in project.state.all_loops())):
                with contextlib.suppress(OSError):
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode):
                        yield status.st_mtime


def text_encoding(encoding: str | None) -> Finding | None:
    """Says something only when there is something to say."""
    if encoding and codecs.lookup(encoding).name == "utf-8":
        return None
    found = f"output is encoded as {encoding}, so some characters cannot be shown"
    return Finding("text", "warning", found, "export LANG=C.UTF-8")
