"""What was there before an installation, kept in the user's own state, so that it can be put back to the byte."""

import base64
import contextlib
import hashlib
from pathlib import Path

import msgspec

from untilproven.errors import Damaged
from untilproven.store import files
from untilproven.store.vouch import user_state


class Before(msgspec.Struct, frozen=True):
    """Of one file that an installation has changed or made."""

    content: str | None
    """In base64; none if there was no such file."""
    after: str
    """The hash of what was written: as long as the file is that, nobody else has changed it."""

    def data(self) -> bytes | None:
        return None if self.content is None else base64.b64decode(self.content)


class Record(msgspec.Struct):
    files: dict[str, Before] = {}
    directories: list[str] = []
    """Those that were made, the outermost first."""


def before(data: bytes | None, after: bytes) -> Before:
    return Before(None if data is None else base64.b64encode(data).decode(), digest(after))


def digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def load(agent: str, root: Path) -> Record:
    path = _path(agent, root)
    try:
        data = files.read(path)
    except FileNotFoundError:
        return Record()
    try:
        return msgspec.json.decode(data, type=Record)
    except msgspec.MsgspecError as error:
        raise Damaged(
            f"{path} cannot be read: {error}",
            hint="it says what settings were before an installation; move it away, and only our entries are removed",
        ) from None


def save(agent: str, root: Path, record: Record) -> None:
    path = _path(agent, root)
    if not record.files:
        with files.explained(path), contextlib.suppress(FileNotFoundError):
            path.unlink()
        return
    with files.explained(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.chmod(0o700)  # settings may hold keys
    files.replace(path, msgspec.json.encode(record), durable=True)


def _path(agent: str, root: Path) -> Path:
    return user_state() / "plugins" / f"{agent}-{digest(str(root).encode())[:16]}.json"
