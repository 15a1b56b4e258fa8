"""Installing and uninstalling: everything is worked out before the first file is touched."""

import contextlib
import os
import stat
from pathlib import Path
from typing import NamedTuple

from untilproven.errors import Busy, Foreign, StoreFailed
from untilproven.session.plugins import record
from untilproven.session.plugins.pieces import Own, Piece
from untilproven.session.plugins.record import Before, Record
from untilproven.store import files

_NEW_FILE = 0o644
_LARGEST = 16 * files.MIB


class Change(NamedTuple):
    """Of one file: what it says now, and what it is to say; None where there is none."""

    path: Path
    now: bytes | None
    then: bytes | None
    note: str = ""
    """Why it is left as it is, although something of ours may be in it."""


class Plan(NamedTuple):
    changes: tuple[Change, ...]
    after: Record
    """What is to be remembered once they are made."""


def to_install(pieces: tuple[Piece, ...], root: Path, known: Record, *, inside: bool) -> Plan:
    """What an installation would change. `inside`: no link may lead out of the root."""
    changes, remembered = [], {}
    for piece in pieces:
        path = _real(piece.path, root, inside=inside)
        now = _read(path)
        old = known.files.get(str(path))
        if now is None or (old and record.digest(now) == old.after):
            base = old.data() if old and now is not None else None
        else:
            base = now if isinstance(piece, Own) else _without_us(piece, now, old)
        then = piece.applied(base)
        changes.append(Change(path, now, then))
        remembered[str(path)] = record.before(base, then)
    made = _missing_directories(changes)
    directories = [*known.directories, *(str(path) for path in made if str(path) not in known.directories)]
    return Plan(tuple(changes), Record({**known.files, **remembered}, directories))


def to_uninstall(pieces: tuple[Piece, ...], root: Path, known: Record, *, inside: bool) -> Plan:
    """What taking it out again would change: files nobody touched since become what they were, to the byte."""
    own = {_real(piece.path, root, inside=inside): piece for piece in pieces}
    paths = [*own, *(Path(path) for path in known.files if Path(path) not in own)]
    changes = [_restored(path, own.get(path), known) for path in paths]
    return Plan(tuple(changes), Record())


def _restored(path: Path, piece: Piece | None, known: Record) -> Change:
    now = _read(path)
    old = known.files.get(str(path))
    if now is None:
        return Change(path, None, None)
    if old and record.digest(now) == old.after:
        return Change(path, now, old.data())
    if piece is None:
        return Change(path, now, now, "changed since it was installed")
    then = _without_us(piece, now, old)
    if isinstance(piece, Own) and then is not None:
        return Change(path, now, now, "changed since it was installed" if old else "not from this version of ralph")
    return Change(path, now, then)


def _without_us(piece: Piece, now: bytes, old: Before | None) -> bytes | None:
    """What a file would say; nothing if it is one of ours alone, or we made it and nobody has added to it."""
    left = piece.stripped(now)
    made = old is not None and old.content is None
    return None if made and left is not None and left.strip() in {b"", b"{}"} else left


def carry_out(plan: Plan, agent: str, root: Path, *, installing: bool) -> None:
    """Make the changes. What was there is remembered first, and forgotten last."""
    known = record.load(agent, root)
    if installing:
        record.save(agent, root, plan.after)
    for change in plan.changes:
        if change.then != change.now:
            _write(change)
    if not installing:
        for path in reversed(known.directories):
            with contextlib.suppress(OSError):  # somebody has put something into it
                Path(path).rmdir()
        record.save(agent, root, plan.after)


def _write(change: Change) -> None:
    path = change.path
    if _read(path) != change.now:
        raise Busy(f"{path} has just been changed by somebody else", hint="type the command again")
    with files.explained(path):
        if change.then is None:
            path.unlink()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            _put(temporary, change.then, like=path)
            temporary.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        files.sync_directory(path.parent)


def _put(temporary: Path, data: bytes, *, like: Path) -> None:
    """A new file with the mode, and if it may be the owner, of the one it will take the place of."""
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _NEW_FILE)
    try:
        with contextlib.suppress(FileNotFoundError):
            found = like.stat()
            with contextlib.suppress(PermissionError):
                os.fchown(fd, found.st_uid, found.st_gid)
            os.fchmod(fd, stat.S_IMODE(found.st_mode))
        files.write_all(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)


def _read(path: Path) -> bytes | None:
    try:
        return files.read(path, _LARGEST)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreFailed(f"cannot read {path}: {error.strerror}", hint=f"look at it: ls -l {path}") from error


def _real(path: Path, root: Path, *, inside: bool) -> Path:
    """Where a file really is: a user may keep settings elsewhere and link to them. A project's must be its own."""
    real = Path(os.path.realpath(path))
    if inside and not real.is_relative_to(os.path.realpath(root)):
        raise Foreign(f"{path} leads out of the project, to {real}", hint="nothing was changed; use --user instead")
    return real


def _missing_directories(changes: list[Change]) -> list[Path]:
    found: dict[Path, None] = {}
    for change in changes:
        for parent in reversed(change.path.parents):
            if not parent.exists():
                found[parent] = None
    return list(found)
