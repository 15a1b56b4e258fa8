"""What stands around the changed paths: nested repositories, and the files that say what is ignored or converted.

Git is not let into the working tree, where an agent may have laid a pipe in its way: it gets copies of those files.
"""

import errno
import os
import stat
from collections.abc import Iterable

from untilproven.errors import Damaged
from untilproven.store import files
from untilproven.workspace.git import running
from untilproven.workspace.git.confined import Git
from untilproven.workspace.git.lines import ATTRIBUTES
from untilproven.workspace.overlay.beneath import Beneath, split

_NAMES = (".gitignore", ".gitattributes")
_LARGEST = 4 * files.MIB
_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO}
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def directories_above(paths: Iterable[str]) -> set[str]:
    """Every directory on the way to one of these, the top included."""
    found = {""}
    for path in paths:
        parent = split(path)[0]
        while parent and parent not in found:
            found.add(parent)
            parent = split(parent)[0]
    return found


class Surroundings:
    """Of some paths of the working tree."""

    def __init__(self, git: Git, paths: Iterable[str]) -> None:
        self._git = git
        self._copies = git.private / f"tree-{os.urandom(4).hex()}"
        self.nested: set[str] = set()
        """Directories that are the top of another repository."""
        with Beneath(git.repository.top) as tree:
            for directory in sorted(directories_above(paths)):
                self._look(tree, directory)

    def _look(self, tree: Beneath, directory: str) -> None:
        here = self._copies / directory
        here.mkdir(parents=True, exist_ok=True)
        fd = tree.directory_if_any(directory)
        if fd is None:
            return
        for name in _NAMES:
            data = _contents(fd, name, f"{directory}/{name}".lstrip("/"))
            if data is not None:
                (here / name).write_bytes(data)
        if directory and tree.seen(f"{directory}/.git") is not None:
            self.nested.add(directory)

    def ignored(self, paths: Iterable[str]) -> set[str]:
        """Those that git would not take without being told to."""
        asked = _joined(f"./{path}" for path in paths)  # so that none begins with what git takes for more than a name
        if not asked:
            return set()
        words = ("check-ignore", "--no-index", "-z", "--stdin")
        ended = self._git.run(*words, stdin=asked, tree=self._copies, env={"GIT_LITERAL_PATHSPECS": "0"})
        if ended.code not in {0, 1}:
            raise running.failed(words, ended.said)
        return {os.fsdecode(path).removeprefix("./") for path in ended.output.split(b"\0") if path}

    def attributes(self, paths: Iterable[str]) -> dict[str, dict[str, str]]:
        """What is said of how each is stored."""
        asked = _joined(paths)
        if not asked:
            return {}
        words = ("check-attr", "-z", "--stdin", *ATTRIBUTES)
        ended = self._git.run(*words, stdin=asked, tree=self._copies, index=self._git.repository.index)
        if ended.code:
            raise running.failed(words, ended.said)
        fields = os.fsdecode(ended.output).split("\0")
        found: dict[str, dict[str, str]] = {}
        for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
            found.setdefault(path, {})[name] = value
        return found


def _joined(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _contents(directory: int, name: str, path: str) -> bytes | None:
    """None if there is no such regular file; git does not follow a link here either."""
    try:
        fd = os.open(name, _FLAGS, dir_fd=directory)
    except OSError as error:
        if error.errno in _NOT_THERE:
            return None
        raise Damaged(f"{path} cannot be read: {error.strerror}; so nothing is committed") from error
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return None
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise Damaged(f"{path} is larger than can be believed, so nothing is committed", hint="look at it")
    return data
