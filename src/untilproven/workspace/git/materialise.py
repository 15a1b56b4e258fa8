"""The tree of a commit as files in a directory of ours: by plumbing, without filters, hooks or a checkout."""

import os
from collections.abc import Iterable
from pathlib import Path

from untilproven.workspace.git import objects
from untilproven.workspace.git.confined import Git
from untilproven.workspace.git.objects import EXECUTABLE, LINK, SUBMODULE, Entries
from untilproven.workspace.git.running import GitFailed
from untilproven.workspace.git.surroundings import directories_above

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def materialise(git: Git, commit: str, target: Path) -> tuple[Entries, list[str]]:
    """Write all of it below a directory that is empty and nobody else's; what is in submodules is only named."""
    entries = objects.in_commit(git, commit)
    _refuse_names(entries)
    by_name: dict[str, list[str]] = {}
    submodules = sorted(path for path, blob in entries.items() if blob.mode == SUBMODULE)
    for path, blob in entries.items():
        if blob.mode != SUBMODULE:
            by_name.setdefault(blob.name, []).append(path)
    for directory in sorted(directories_above(entries) | set(submodules)):
        (target / directory).mkdir(exist_ok=True)
    for name, data in objects.contents(git, by_name):
        for path in by_name[name]:
            _write(target / path, entries[path].mode, data)
    return entries, submodules


def _refuse_names(entries: Iterable[str]) -> None:
    """A tree that was made by hand can have names that lead out of it, or a link where it also has a directory."""
    known = set(entries)
    for path in known:
        parts = path.split("/")
        if any(part in {"", ".", ".."} or part.lower() == ".git" for part in parts):
            raise GitFailed(f"the commit has the path {path!r}, which leads out of it or into git's own files")
    if both := known & directories_above(known):
        raise GitFailed(f"the commit has {min(both)!r} both as a file and as a directory")


def _write(path: Path, mode: str, data: bytes) -> None:
    if mode == LINK:
        if not data or b"\0" in data:
            raise GitFailed(f"the commit has a link at {path.name!r} that leads nowhere")
        path.symlink_to(os.fsdecode(data))
        return
    fd = os.open(path, _FLAGS, 0o755 if mode == EXECUTABLE else 0o644)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
