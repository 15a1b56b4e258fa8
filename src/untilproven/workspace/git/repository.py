"""Finding the repository around a tree by looking at files: nothing is run, and nothing is followed out of it."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from untilproven.errors import Damaged, RalphError, UsageError
from untilproven.store import files

_SMALL = 64 * 1024
_PARTS = ("HEAD", "objects", "refs")
_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "sequencer": "a cherry-pick or revert",
    "BISECT_LOG": "a bisection",
}


class NoRepository(UsageError):
    """There is none around the tree, or none that can be taken for the tree's own."""

    kind = "no_repository"


class Repository(msgspec.Struct, frozen=True):
    """`directory` has HEAD and the index of this working tree, `common` the objects and branches of all of them."""

    top: Path
    directory: Path
    common: Path

    @property
    def is_bare(self) -> bool:
        return self.top == self.directory

    @property
    def index(self) -> Path:
        return self.directory / "index"

    def under_way(self) -> str:
        """What somebody has begun and not finished, by its name; empty if nothing."""
        return next((what for name, what in _UNDER_WAY.items() if os.path.lexists(self.directory / name)), "")

    def elsewhere(self, ref: str) -> Path | None:
        """Another working tree that has this branch checked out."""
        for directory in self._others():
            if _symbolic(directory / "HEAD") == ref:
                return directory
        return None

    def _others(self) -> Iterator[Path]:
        linked = self.common / "worktrees"
        found = sorted(linked.iterdir()) if linked.is_dir() else []
        yield from (path for path in (self.common, *found) if path != self.directory)

    def refuse_links(self, ref: str) -> None:
        """What git will write to is where it seems to be."""
        written = ("HEAD", "index", "logs", "logs/HEAD")
        shared = ("objects", "refs", "refs/heads", "logs", "logs/refs", "logs/refs/heads", "packed-refs")
        paths = [self.directory / name for name in written] + [self.common / name for name in shared]
        for path in (*paths, *_on_the_way(self.common, ref), *_on_the_way(self.common / "logs", ref)):
            files.refuse_link(path)


def find(root: Path, *, bare: bool = False) -> Repository:
    """The repository whose working tree `root` lies in, or, with `bare`, the one without a working tree around it."""
    for directory in (root, *root.parents):
        if os.path.lexists(directory / ".git"):
            return _opened(directory)
        if bare and all((directory / name).exists() for name in _PARTS):
            return Repository(directory, directory, directory)
    raise NoRepository(f"{root} is not in a git repository", hint="make one: git init")


def _opened(top: Path) -> Repository:
    link = top / ".git"
    mode = link.lstat().st_mode
    if stat.S_ISDIR(mode):
        found = Repository(top, link, link)
    elif stat.S_ISREG(mode):
        found = _led_to(top, link)
    else:
        raise NoRepository(f"{link} is neither a directory nor a file; it is not followed", hint=_YOURSELF)
    for path in (found.directory / _PARTS[0], *(found.common / name for name in _PARTS[1:])):
        if not path.exists():
            raise NoRepository(f"{link} is no repository: it has no {path.name}", hint="look at it: git status")
    return found


_YOURSELF = "commit the work yourself, with git"


def _led_to(top: Path, link: Path) -> Repository:
    """A linked working tree, or a submodule: only if what the file leads to knows of this place."""
    text = _line(link)
    directory = (top / text.removeprefix("gitdir:").strip()).resolve()
    if text.startswith("gitdir:"):
        if (directory / "commondir").is_file():
            common = (directory / _line(directory / "commondir")).resolve()
            if Path(_line(directory / "gitdir")).resolve() == link.resolve():
                return Repository(top, directory, common)
        elif _worktree_of(directory) == top.resolve():
            return Repository(top, directory, directory)
    raise NoRepository(f"{link} leads to {directory}, which does not know of {top}; it is not followed", hint=_YOURSELF)


def _worktree_of(directory: Path) -> Path | None:
    from untilproven.workspace.git.settings import in_file  # noqa: PLC0415  seldom needed

    named = in_file(directory / "config", directory).get("core.worktree")
    return (directory / named[-1]).resolve() if named else None


def _symbolic(path: Path) -> str:
    try:
        return _line(path).removeprefix("ref:").strip()
    except RalphError:
        return ""


def _line(path: Path) -> str:
    try:
        return os.fsdecode(files.read(path, _SMALL)).strip()
    except OSError as error:
        raise Damaged(f"{path} cannot be read: {error.strerror}") from error


def _on_the_way(base: Path, ref: str) -> list[Path]:
    parts = ref.split("/")
    return [base.joinpath(*parts[:count]) for count in range(1, len(parts) + 1)]
