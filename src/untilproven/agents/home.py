"""The agent's own directory, into which both the agent and we write: no link in it leads us anywhere."""

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from untilproven.process import beneath
from untilproven.store import files
from untilproven.store.agent_place import agent_home, agent_place, agents_of

_LARGEST = 1024 * 1024
_LONGEST = 64 * _LARGEST
_PRIVATE = 0o700
_BELOW = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Home:
    """Of one loop and one agent. It stays from one iteration to the next, with the agent's sessions in it."""

    def __init__(self, root: Path, loop_id: str, agent: str) -> None:
        self._all, self._own = agent_home(root, loop_id), agent
        self.path = self._all / agent
        self.beside = agent_place(root, loop_id)
        """Where the agent does not come."""

    def make(self) -> None:
        with files.explained(self.path):
            self._make()
            with self._directory(()):
                pass

    def _make(self) -> None:
        for path in (*reversed(self.beside.parents[:2]), self.beside):
            path.mkdir(_PRIVATE, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISDIR(self._all.lstat().st_mode):
                self._all.unlink()
        self._all.mkdir(_PRIVATE, exist_ok=True)

    def read(self, name: str) -> bytes | None:
        return beneath.read(self._all, PurePosixPath(self._own, name), _LARGEST)

    def newest(self, pattern: str) -> bytes | None:
        """The file that was written last, of those whose paths match; None too if it is too large."""
        found = [
            (look.st_mtime_ns, path)
            for path in beneath.find(self._all, f"{self._own}/{pattern}")
            if (look := beneath.look(self._all, path))
        ]
        return beneath.read(self._all, max(found)[1], _LONGEST) if found else None

    def write(self, name: str, data: bytes) -> None:
        """In one step, private, over whatever is there; a link on the way to it is replaced by a directory."""
        path = PurePosixPath(name)
        with files.explained(self.path / name), self._directory(path.parts[:-1]) as directory:
            put(directory, path.name, data)

    def remove(self, name: str) -> None:
        with contextlib.suppress(OSError), self._directory(PurePosixPath(name).parts[:-1]) as directory:
            _clear(directory, PurePosixPath(name).name)

    @contextlib.contextmanager
    def _directory(self, parts: tuple[str, ...]) -> Iterator[int]:
        directory = os.open(self._all, _BELOW)
        try:
            for part in (self._own, *parts):
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
    if place.exists():
        _open_up(place)
        shutil.rmtree(place, ignore_errors=True)
    with contextlib.suppress(OSError):
        place.parent.rmdir()


def left_in(root: Path) -> list[str]:
    """The loops of a project of which an agent's directory is there."""
    try:
        return [place.name for place in agents_of(root).iterdir()]
    except OSError:
        return []


def _open_up(place: Path) -> None:
    """The agent may have forbidden everybody to enter its directories, us too."""
    for directory, names, _ in os.walk(place):
        for path in (Path(directory, name) for name in names):
            if not path.is_symlink():
                with contextlib.suppress(OSError):
                    path.chmod(_PRIVATE)


def put(directory: int, name: str, data: bytes) -> None:
    """A private file in an open directory, in one step, over whatever is there; it survives a power cut."""
    draft = f".{secrets.token_hex(8)}"  # nobody can have put anything in its way
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=directory)
    try:
        try:
            files.write_all(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
        try:
            os.rename(draft, name, src_dir_fd=directory, dst_dir_fd=directory)
        except IsADirectoryError:
            _clear(directory, name)
            os.rename(draft, name, src_dir_fd=directory, dst_dir_fd=directory)
        os.fsync(directory)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(draft, dir_fd=directory)
        raise


def _clear(directory: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=directory)
    except IsADirectoryError:
        shutil.rmtree(name, dir_fd=directory)


def _entered(directory: int, name: str) -> int:
    try:
        return os.open(name, _BELOW, dir_fd=directory)
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
            raise
        os.unlink(name, dir_fd=directory)  # a file, or a link
    os.mkdir(name, _PRIVATE, dir_fd=directory)
    return os.open(name, _BELOW, dir_fd=directory)
