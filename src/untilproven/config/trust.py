"""Which project's file may run commands and weaken protections: only what this user looked at and allowed.

The user allows a set of settings, not a file: a changed comment keeps the trust, a changed command loses it. The
record is out of every project's reach, and when it cannot be read nothing is trusted and nothing is replaced.
"""

import hashlib
import os
from pathlib import Path

import msgspec

from untilproven.config import values
from untilproven.config.settings import Ask
from untilproven.errors import Damaged, StoreFailed
from untilproven.model.wire import UNREADABLE
from untilproven.store import files
from untilproven.store.lock import FileLock
from untilproven.store.vouch import user_state

_LOCK_SECONDS = 5.0


def is_granted(wanted: Ask) -> bool:
    return _read().get(_name(wanted.file)) == _digest(wanted)


def grant(wanted: Ask) -> None:
    """Remember that the user allowed exactly these settings of this file."""
    with _locked():
        _write({**_read(), _name(wanted.file): _digest(wanted)})


def revoke(files_of_project: list[Path]) -> list[Path]:
    """Forget what was allowed to these files; those that had been allowed something."""
    with _locked():
        granted = _read()
        gone = [path for path in files_of_project if granted.pop(_name(path), None)]
        if gone:
            _write(granted)
    return gone


def _digest(wanted: Ask) -> str:
    plain = {setting.key: values.to_plain(setting.value) for setting in wanted.settings}
    return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()


def _name(path: Path) -> str:
    # The file's own name is not resolved: were it a link now, it would speak for somebody else's file.
    return os.fsencode(path.parent.resolve() / path.name).decode("utf-8", "backslashreplace")


def _store() -> Path:
    try:
        path = user_state() / "trust.json"
    except RuntimeError:
        path = Path("trust.json")
    if not path.is_absolute():
        raise StoreFailed("what you trust has no place: HOME is not an absolute path", hint="set HOME")
    return path


def _locked() -> FileLock:
    path = _store()
    with files.explained(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return FileLock(path.with_name("trust.lock"), timeout=_LOCK_SECONDS, what="the list of trusted files")


def _read() -> dict[str, str]:
    path = _store()
    try:
        return msgspec.json.decode(files.read(path, files.MIB), type=dict[str, str])
    except FileNotFoundError:
        return {}
    except (OSError, *UNREADABLE) as error:
        raise Damaged(
            f"{path} cannot be read, so nothing is trusted: {error}",
            hint=f"it was left as it is; move it away and trust again: mv {path} {path}.old",
        ) from error


def _write(granted: dict[str, str]) -> None:
    path = _store()
    files.replace(path, msgspec.json.format(msgspec.json.encode(granted, order="sorted")) + b"\n", durable=True)
    with files.explained(path):
        path.chmod(0o600)
