"""Where a session's record lies: one directory for each, whatever the session is called."""

import re
from functools import cached_property
from pathlib import Path

import msgspec

from untilproven.errors import Damaged, UsageError
from untilproven.session.constants import STATE_FILENAME
from untilproven.session.quick import Pointer
from untilproven.store import files
from untilproven.store.layout import Project, StateDirectory, find_project
from untilproven.store.lock import FileLock
from untilproven.store.vouch import user_state

_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_LONGEST = 96
_LOCK_SECONDS = 5.0
_LARGEST = 8 * files.MIB


def directory_name(session_id: str) -> str:
    """A name that cannot lead out of the directory it is put in, and that no two sessions share."""
    if not session_id.strip():
        raise UsageError("a session without an id cannot have a loop: nobody could tell it from the others")
    if _PLAIN.fullmatch(session_id) and len(session_id) <= _LONGEST:
        return session_id
    from hashlib import blake2b  # noqa: PLC0415  sessions of the agents we know have plain ids

    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", session_id)[:32].strip("-")
    told = blake2b(session_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f".{readable}-{told}"  # no plain one begins with a dot


class SessionPlace(msgspec.Struct, frozen=True, dict=True):
    """The directory of one session."""

    directory: StateDirectory
    session_id: str
    state_dir: Path | None = None

    @cached_property
    def path(self) -> Path:
        return sessions_of(self.directory, self.state_dir) / directory_name(self.session_id)

    @cached_property
    def state(self) -> Path:
        """Source 001's record; it is there as long as the loop is."""
        return self.path / STATE_FILENAME

    @cached_property
    def link(self) -> Path:
        """Which loop it is, and when what happened."""
        return self.path / "link.json"

    def lock(self, seconds: float = _LOCK_SECONDS) -> FileLock:
        """One handler at a time."""
        return FileLock(self.path / "session.lock", timeout=seconds, what=f"the session {self.session_id}")

    def point_to(self, pointer: Pointer) -> None:
        """An agent may go elsewhere in the middle of its work; its session is found by its id alone."""
        path = _pointer(self.session_id)
        with files.explained(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.replace(path, msgspec.json.encode(pointer), durable=False)

    @property
    def pointer(self) -> Pointer | None:
        return pointer_of(self.session_id)

    def clear(self) -> None:
        """The session has no loop any more."""
        with files.explained(self.state):
            self.state.unlink(missing_ok=True)
            _pointer(self.session_id).unlink(missing_ok=True)

    def make(self) -> None:
        if self.state_dir is None:
            self.directory.make()
            files.make_directory(self.directory.path / "sessions")
        else:
            with files.explained(self.state_dir):
                self.state_dir.mkdir(parents=True, exist_ok=True)
        files.make_directory(self.path)


def located(session_id: str) -> Project | None:
    """The project in which a session of this user's has a loop."""
    pointer = pointer_of(session_id)
    return find_project(Path(pointer.root)) if pointer and Path(pointer.root).is_dir() else None


def pointer_of(session_id: str) -> Pointer | None:
    try:
        return msgspec.json.decode(files.read(_pointer(session_id), _LARGEST), type=Pointer)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise Damaged(f"{_pointer(session_id)} does not say where the session's loop is: {error}") from error


def _pointer(session_id: str) -> Path:
    return user_state() / "sessions" / directory_name(session_id)


def sessions_of(directory: StateDirectory, state_dir: Path | None = None) -> Path:
    """Everything below the project may come from a stranger, so no link is followed."""
    if state_dir is not None:
        return state_dir
    directory.refuse_links()
    sessions = directory.path / "sessions"
    files.refuse_link(sessions)
    return sessions
