"""Whose state is this? Only what this user wrote, on this machine, for this project, is acted on.

A clone can bring a state directory along, with pids and commands in it. Ours carries a code made with a key
that never leaves the user's own state directory; without it a loop is shown and nothing more.
"""

import contextlib
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UnsetType

from untilproven.errors import RalphError, StoreFailed
from untilproven.model.state import LoopState, ProcessIdentity
from untilproven.store import files

try:
    # hashlib would load all of OpenSSL, a tenth of what `ralph status` costs.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

_KEY_BYTES = 32


def user_state() -> Path:
    """Where this user's own state lives, out of every project's reach."""
    return _state_of(os.environ.get("XDG_STATE_HOME", ""), os.environ.get("HOME"))


@lru_cache(maxsize=8)
def _state_of(base: str, _home: str | None) -> Path:
    """Asked again and again in every iteration."""
    root = Path(base) if base.startswith("/") else Path.home() / ".local/state"
    if not root.is_absolute():
        raise StoreFailed("HOME is not an absolute path, so there is no place for your own state", hint="set HOME")
    return root / "untilproven"


class Voucher:
    """Makes and checks the codes of one project."""

    def __init__(self, home: Path) -> None:
        self._project = os.fsencode(home.resolve())
        self._cached: bytes | None = None

    def code(self, loop_id: str, started_with: str, process: ProcessIdentity | UnsetType) -> str:
        """Covers what others act on: which loop, where, started with which words, run by which process."""
        return self._mac(self._key(), loop_id, started_with, process)

    def vouches(self, state: LoopState) -> bool:
        key = self._existing_key()
        if not key or not state.vouch or not state.started_with:
            return False
        return state.vouch == self._mac(key, state.loop_id, state.started_with, state.process)

    def _mac(self, key: bytes, loop_id: str, started_with: str, process: ProcessIdentity | UnsetType) -> str:
        who = msgspec.json.encode(process) if process else b""
        parts = (loop_id.encode(), self._project, started_with.encode(), who)
        return blake2b(b"\0".join(parts), key=key, digest_size=32).hexdigest()

    def _key(self) -> bytes:
        key = self._existing_key()
        return key or self._new_key()

    def _existing_key(self) -> bytes | None:
        if self._cached is None:
            # A place that cannot be looked into holds no key of ours; making one there says what is wrong.
            with contextlib.suppress(OSError, RalphError):
                data = files.read(_key_path(), _KEY_BYTES)
                self._cached = data if len(data) == _KEY_BYTES else None
        return self._cached

    def _new_key(self) -> bytes:
        path = _key_path()
        with files.explained(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary = path.with_name(f".key.{os.getpid()}.{os.urandom(4).hex()}")
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                files.write_all(fd, os.urandom(_KEY_BYTES))
                os.fsync(fd)
            finally:
                os.close(fd)
            # Whoever comes second takes the first one's key: a link never replaces a name.
            with contextlib.suppress(FileExistsError):
                os.link(temporary, path)
            temporary.unlink()
        key = self._existing_key()
        if key is None:
            raise StoreFailed(f"{path} is not a key", hint=f"move it away: mv {path} {path}.old")
        return key


def digest(started: dict[str, Any]) -> str:
    """Names the words that a loop was started with."""
    return "blake2b:" + blake2b(msgspec.json.encode(started), digest_size=32).hexdigest()


def _key_path() -> Path:
    return user_state() / "key"
