"""What differs between two commits, the index and the working tree: for whoever judges it, as bytes."""

import os
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from untilproven.errors import UsageError
from untilproven.guard.change import Change
from untilproven.process import beneath
from untilproven.workspace.git import objects
from untilproven.workspace.git.confined import Git
from untilproven.workspace.git.objects import EXECUTABLE, REGULAR
from untilproven.workspace.git.running import failed

_FILES = frozenset({REGULAR, EXECUTABLE})
_LARGEST = 8 * 1024 * 1024
_RAW = ("-r", "-z", "--raw", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "-M", "--full-index")


class _Entry(NamedTuple):
    """One line of git's raw format."""

    old_mode: str
    new_mode: str
    old: str
    new: str
    was_at: str
    path: str


def commit(git: Git, name: str) -> str:
    if found := git.commit_named(name):
        return found
    hint = "name the two commits one behind the other: BASE HEAD" if ".." in name else "git log --oneline lists them"
    raise UsageError(f"there is no commit {name!r} here", hint=hint)


def fork_of(git: Git, base: str, head: str) -> str:
    """Where `head` left `base`: what others have added to `base` since then was not taken away by anybody."""
    ended = git.run("merge-base", base, head)
    return base if ended.code else ended.output.decode("ascii").strip() or base


def between(git: Git, base: str, head: str) -> list[Change]:
    """Two commits."""
    return _changes(git, _raw(git.out("diff-tree", *_RAW, base, head)))


def staged(git: Git, base: str) -> list[Change]:
    """A commit, and what is in the index."""
    output = git.out("diff-index", "--cached", *_RAW, base, index=git.repository.index)
    return _changes(git, _raw(output))


def in_working_tree(git: Git, base: str) -> list[Change]:
    """A commit, and the files as they are, those included that git does not know yet and does not ignore."""
    was = {path: blob for path, blob in objects.in_commit(git, base).items() if blob.mode in _FILES}
    listed = git.run(
        *("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name"),
        index=git.repository.index,
        tree=git.repository.top,
    )
    if listed.code:
        raise failed(("ls-files",), listed.said)
    before = dict(objects.contents(git, (blob.name for blob in was.values())))
    changes = []
    for path in sorted({path for path in os.fsdecode(listed.output).split("\0") if path} | set(was)):
        there = beneath.look(git.repository.top, PurePosixPath(path))
        after = beneath.read(git.repository.top, PurePosixPath(path), _LARGEST) if there else None
        old = before[was[path].name] if path in was else None
        if old != after and not (there and after is None):
            changes.append(Change(path, old, after))
    return changes


def _changes(git: Git, entries: Iterator[_Entry]) -> list[Change]:
    differing = [one for one in entries if {one.old_mode, one.new_mode} & _FILES]
    wanted = [
        name for one in differing for mode, name in ((one.old_mode, one.old), (one.new_mode, one.new)) if mode in _FILES
    ]
    content = dict(objects.contents(git, wanted))
    return [
        Change(
            one.path,
            content[one.old] if one.old_mode in _FILES else None,
            content[one.new] if one.new_mode in _FILES else None,
            old_path=one.was_at if one.was_at != one.path else None,
        )
        for one in differing
        if one.old != one.new or one.was_at != one.path
    ]


def _raw(output: bytes) -> Iterator[_Entry]:
    words = iter(os.fsdecode(output).split("\0"))
    for about in words:
        if not about:
            return
        old_mode, new_mode, old, new, status = about.lstrip(":").split(" ")
        was_at = next(words)
        path = next(words) if status[0] in "RC" else was_at
        yield _Entry(old_mode, new_mode, old, new, was_at, path)
