"""What another terminal wants of a loop: one small file for each kind of wish, out of every project's reach.

The strongest wish counts, so nobody needs a lock to leave one: an abort and a pause left at once are both there, and
whoever runs the loop finds the abort. Only the holder of the loop's lock clears what it has obeyed.
"""

import contextlib
import os
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import msgspec

from untilproven.errors import RalphError, StoreFailed
from untilproven.model.fields import Timestamp
from untilproven.model.wire import UNREADABLE
from untilproven.store import clock, files
from untilproven.store.layout import StateDirectory
from untilproven.store.vouch import user_state

_STRONGEST_FIRST = ("abort-revert", "abort", "pause-now", "pause")
_PAUSES = _STRONGEST_FIRST[2:]
_BELIEVABLE = 4096
_ATTEMPTS = 100


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A wish of the user. An abort always interrupts the running iteration; a pause does with `now`."""

    do: Literal["pause", "abort"]
    now: bool = False
    revert: bool = False
    """After an abort, go back to the tree that the loop began with."""
    at: Timestamp
    id: str

    @property
    def kind(self) -> str:
        if self.do == "abort":
            return "abort-revert" if self.revert else "abort"
        return "pause-now" if self.now else "pause"


def new_request(
    do: Literal["pause", "abort"], *, now: bool = False, revert: bool = False, time: clock.Clock = clock.now
) -> Request:
    return Request(do=do, now=now, revert=revert, at=time(), id=os.urandom(8).hex())


def name_of(directory: StateDirectory, loop_id: str) -> str:
    """A short name for a loop of a project, the same by whichever path the project was reached."""
    whole = os.fsencode(directory.home.resolve()) + b"\0" + loop_id.encode()
    return blake2b(whole, digest_size=12).hexdigest()


def leave(directory: StateDirectory, loop_id: str, request: Request) -> Request:
    """Leave a request so that it survives a power cut.

    Returns the one that counts: this one, or one that was there already and asks for as much or more.
    """
    place = place_of(directory, loop_id)
    with files.explained(place):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = place.with_name(f"{request.id}.draft")
    files.replace(draft, msgspec.json.encode(request) + b"\n", durable=True)
    try:
        with files.explained(place):
            return _put(place, draft, request)
    finally:
        draft.unlink(missing_ok=True)


def _put(place: Path, draft: Path, request: Request) -> Request:
    for _ in range(_ATTEMPTS):
        there = _strongest(place)
        if there is not None and not _stronger(request, there):
            return there
        files.make_directory(place, 0o700)
        # A link never replaces a name: of two equal wishes at once the first one stays, and a directory that whoever
        # runs the loop has just cleared away is made again.
        with contextlib.suppress(FileExistsError, FileNotFoundError):
            os.link(draft, _file(place, request.kind))
            _make_last(place)
            return request
    raise StoreFailed(f"{place} changes all the time; the request could not be left", hint="try again")


def _make_last(place: Path) -> None:
    try:
        files.sync_directory(place)
    except StoreFailed:
        if place.exists():  # else it was obeyed and cleared away at once
            raise
    files.sync_directory(place.parent)


def pending(
    directory: StateDirectory, loop_id: str, complain: Callable[[str], None] = lambda _: None
) -> Request | None:
    """The strongest request that waits for this loop. One that cannot be read is put aside, and is none."""
    try:
        return pending_at(place_of(directory, loop_id), complain)
    except (RalphError, RuntimeError) as error:
        complain(f"requests for {loop_id} cannot be read: {error}")
        return None


def pending_at(place: Path, complain: Callable[[str], None]) -> Request | None:
    """The same for whoever looks again and again, and knows the place."""
    try:
        return _strongest(place, complain)
    except OSError as error:
        complain(f"requests cannot be read: {error}")
        return None


def clear(directory: StateDirectory, loop_id: str, request: Request) -> None:
    """Take away a request that was obeyed or refused, and with it the weaker ones; one that asks for more stays."""
    place = place_of(directory, loop_id)
    there = _read(place, request.kind)
    if there is not None and there.id != request.id:
        return
    _remove(place, _STRONGEST_FIRST[_STRONGEST_FIRST.index(request.kind) :])


def clear_pauses(directory: StateDirectory, loop_id: str) -> None:
    """Take away every wish to pause: whoever resumes a loop wants it to run. A wish to abort stays."""
    _remove(place_of(directory, loop_id), _PAUSES)


def clear_all(directory: StateDirectory, loop_id: str) -> None:
    """Take away every request: the loop has ended."""
    _remove(place_of(directory, loop_id), _STRONGEST_FIRST)


def _remove(place: Path, kinds: tuple[str, ...]) -> None:
    if not place.exists():
        return
    with files.explained(place):
        for kind in kinds:
            _file(place, kind).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        place.rmdir()  # unless a stronger one is still in it


def _stronger(one: Request, other: Request) -> bool:
    return _STRONGEST_FIRST.index(one.kind) < _STRONGEST_FIRST.index(other.kind)


def _strongest(place: Path, complain: Callable[[str], None] = lambda _: None) -> Request | None:
    if not os.path.isdir(place):  # noqa: PTH112  asked before every step, and none is there for most loops
        return None
    found = (_read(place, kind, complain) for kind in _STRONGEST_FIRST)
    return next((request for request in found if request is not None), None)


def _read(place: Path, kind: str, complain: Callable[[str], None] = lambda _: None) -> Request | None:
    path = _file(place, kind)
    try:
        request = msgspec.json.decode(files.read(path, _BELIEVABLE), type=Request)
    except FileNotFoundError:
        return None
    except OSError as error:  # perhaps only for the moment
        complain(f"a request to {kind} cannot be read: {error.strerror}")
        return None
    except (RalphError, *UNREADABLE) as error:
        complain(f"a request to {kind} cannot be read and is put aside: {error}")
    else:
        if request.kind == kind:
            return request
        complain(f"{path} asks for something else than its name says, and is put aside")
    with contextlib.suppress(OSError):
        path.replace(place.with_name(f"{place.name}-{kind}.damaged"))
    return None


def _file(place: Path, kind: str) -> Path:
    return place / f"{kind}.json"


def place_of(directory: StateDirectory, loop_id: str) -> Path:
    """The directory with a loop's requests; it is there only as long as there are any."""
    return user_state() / "control" / name_of(directory, loop_id)
