"""Which project's file may run commands and weaken protections: only what this user looked at and allowed.

The user allows a set of settings, not a file: a changed comment keeps the trust, a changed command loses it. The
record is out of every project's reach, and when it cannot be read nothing is trusted and nothing is replaced.

The commands of a project's tasks are allowed one by one: a new task must not ask for those of all others again. Each is
a line in a file of its own, the project's digest and the command's.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from untilproven.config import call, values
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


def trust_commands(root: Path, lines: Iterable[str]) -> None:
    """Remember that the user allowed exactly these commands to the tasks of this project."""
    with _locked():
        known = _commands()
        new = [entry for entry in dict.fromkeys(_entry(root, line) for line in lines) if entry not in known]
        if new:
            path = _command_store()
            with files.append_to(path) as file, files.explained(path):
                path.chmod(0o600)
                # One that was never finished, and so trusts nothing, must not become part of the next.
                file.write("\n".join(["", *new, ""]).encode())
                file.flush()
                os.fsync(file.fileno())


def untrusted_commands(root: Path, lines: Iterable[str]) -> list[str]:
    """Those that may not be run for this project's tasks before the user has looked at them."""
    return [] if call.is_trusted(os.environ) else commands_not_granted(root, lines)


def commands_not_granted(root: Path, lines: Iterable[str]) -> list[str]:
    """The same, whatever this one call trusts."""
    wanted = list(dict.fromkeys(lines))
    known = _commands() if wanted else {}
    return [line for line in wanted if _entry(root, line) not in known]


def revoke_commands(root: Path) -> bool:
    """Forget the commands that were allowed to this project's tasks; whether there were any."""
    with _locked():
        known = _commands()
        kept = [entry for entry in known if not entry.startswith(_project(root))]
        if len(kept) < len(known):
            files.replace(_command_store(), "".join(f"{entry}\n" for entry in kept).encode(), durable=True)
            _command_store().chmod(0o600)
    return len(kept) < len(known)


def _command_store() -> Path:
    return _store().with_name("trusted-commands")


def _commands() -> dict[str, None]:
    path = _command_store()
    try:
        return dict.fromkeys(files.read(path).decode("ascii", "replace").split("\n"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Damaged(
            f"{path} cannot be read, so no command of a task is trusted: {error.strerror}",
            hint=f"look at it: ls -l {path}",
        ) from error


def _entry(root: Path, line: str) -> str:
    return f"{_project(root)} {_sha(line)}"


def _project(root: Path) -> str:
    return _sha(_name(root.resolve()))


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


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
