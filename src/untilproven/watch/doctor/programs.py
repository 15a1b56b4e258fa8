"""The programs a loop uses, and those among them that the project could have planted."""

import os
import subprocess
from pathlib import Path

import msgspec

from untilproven.store.layout import Project
from untilproven.watch.doctor.frame import Finding, Verdict
from untilproven.watch.doctor.places import inside

AGENTS = ("claude", "codex", "opencode", "gemini", "qwen", "aider")
_PROGRAM_SECONDS = 5.0


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
            Program(path.absolute(), bool(self._distrust(entry)) or inside(path, self._project))
            for entry in self._entries
            if os.access(path := Path(entry, name), os.X_OK) and path.is_file()
        ]

    def _distrust(self, entry: str) -> str:
        if not entry:
            return "empty, which means the current directory"
        if not entry.startswith("/"):
            return "relative"
        return "inside the project" if inside(Path(entry), self._project) else ""


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
        advice = "install git; without it all works but what is about commits"
        return Finding("git", "warning", "not found on PATH", advice)
    if hits[0].planted:
        return _planted("git", "problem", hits[0].path)
    version = _ask(hits[0].path, "--version", programs).strip()
    return Finding("git", "ok", f"{version.removeprefix('git version ')} ({hits[0].path})")


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


def _planted(name: str, verdict: Verdict, path: Path) -> Finding:
    advice = f"take {path.parent} out of PATH"
    return Finding(name, verdict, f"{path} is the first on PATH and lies inside the project: it was not run", advice)


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
