"""The agent's own directory, into which both the agent and we write: no link in it leads us anywhere."""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from untilproven.process import beneath
from untilproven.store import files
from untilproven.store.agent_place import agent_home, agent_place

_LARGEST = 1024 * 1024
_LONGEST = 64 * _LARGEST
_PRIVATE = 0o700
_BELOW = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Home:
    """Of one loop. It stays from one iteration to the next, with the agent's sessions in it."""

    def __init__(self, root: Path, loop_id: str) -> None:
        self.path = agent_home(root, loop_id)
        self.beside = agent_place(root, loop_id)
        """Where the agent does not come."""

    def make(self) -> None:
        with files.explained(self.path):
            self._make()

    def _make(self) -> None:
        for path in (*reversed(self.beside.parents[:2]), self.beside):
            path.mkdir(_PRIVATE, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISDIR(self.path.lstat().st_mode):
                self.path.unlink()
        self.path.mkdir(_PRIVATE, exist_ok=True)

    def read(self, name: str) -> bytes | None:
        return beneath.read(self.path, PurePosixPath(name), _LARGEST)

    def newest(self, pattern: str) -> bytes | None:
        """The file that was written last, of those whose paths match; None too if it is too large."""
        found = [
            (look.st_mtime_ns, path)
            for path in beneath.find(self.path, pattern)
            if (look := beneath.look(self.path, path))
        ]
        return beneath.read(self.path, max(found)[1], _LONGEST) if found else None

    def write(self, name: str, data: bytes) -> None:
        """In one step, private, over whatever is there; a link on the way to it is replaced by a directory."""
        with self._directory(PurePosixPath(name).parts[:-1]) as directory:
            last = PurePosixPath(name).name
            draft = f".{last}.{os.getpid()}"
            fd = os.open(
                draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=directory
            )
            try:
                files.write_all(fd, data)
            finally:
                os.close(fd)
            os.rename(draft, last, src_dir_fd=directory, dst_dir_fd=directory)

    def remove(self, name: str) -> None:
        with contextlib.suppress(OSError), self._directory(PurePosixPath(name).parts[:-1]) as directory:
            os.unlink(PurePosixPath(name).name, dir_fd=directory)

    @contextlib.contextmanager
    def _directory(self, parts: tuple[str, ...]) -> Iterator[int]:
        directory = os.open(self.path, _BELOW)
        try:
            for part in parts:
                inner = _entered(directory, part)
                os.close(directory)
                directory = inner
            yield directory
        finally:
            os.close(directory)


def forget(root: Path, loop_id: str) -> None:
    """Nothing of the agent's is left; there may have been nothing."""
    place = agent_place(root, loop_id)
    shutil.rmtree(place, ignore_errors=True)
    with contextlib.suppress(OSError):
        place.parent.rmdir()


def _entered(directory: int, name: str) -> int:
    try:
        return os.open(name, _BELOW, dir_fd=directory)
    except FileNotFoundError:
        pass
    except NotADirectoryError:
        os.unlink(name, dir_fd=directory)
    except OSError:  # a link: ELOOP
        os.unlink(name, dir_fd=directory)
    os.mkdir(name, _PRIVATE, dir_fd=directory)
    return os.open(name, _BELOW, dir_fd=directory)
