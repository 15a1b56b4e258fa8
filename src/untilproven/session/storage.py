"""Source 001's record of a session's loop: read, written, cleared, and counted on by one owner only."""

import contextlib
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from untilproven.errors import Damaged, RalphError
from untilproven.model import wire
from untilproven.model.session import SessionLoopState
from untilproven.session.place import SessionPlace
from untilproven.store import clock, files
from untilproven.store.layout import find_project

_LARGEST = 4 * files.MIB


class Link(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which loop of the registry a session's record stands for, and when what happened. Times are in seconds."""

    loop_id: str = ""
    handled_at: float = 0.0
    """When the last idle was dealt with."""
    user_at: float = 0.0
    """When the user last said something."""
    error_at: float = 0.0
    """When the session last reported an error."""
    said: str = ""
    """A digest of the words that were answered last."""
    said_length: int = 0
    turn: str = ""
    """What the agent calls the answer that was dealt with last."""
    messages_at_start: int = -1
    """How many messages the session had when the loop began; -1 if nobody has counted them."""


def place_of(workdir: Path, session_id: str, state_dir: Path | None = None) -> SessionPlace:
    return SessionPlace(find_project(workdir).state, session_id, state_dir)


def read_state(workdir: Path, session_id: str, state_dir: Path | None = None) -> SessionLoopState | None:
    """The session's record; None if there is none, or it cannot be read."""
    with contextlib.suppress(RalphError, OSError):
        return load(place_of(workdir, session_id, state_dir))
    return None


def write_state(workdir: Path, state: SessionLoopState, state_dir: Path | None = None) -> bool:
    try:
        place = place_of(workdir, state.session_id, state_dir)
        place.make()
        save(place, state)
    except (RalphError, OSError):
        return False
    return True


def clear_state(workdir: Path, session_id: str, state_dir: Path | None = None) -> bool:
    """True also if there was none."""
    try:
        place = place_of(workdir, session_id, state_dir)
        place.clear()
    except (RalphError, OSError):
        return False
    return True


def increment_iteration(
    workdir: Path, session_id: str, state_dir: Path | None = None, *, expected: SessionLoopState | None = None
) -> SessionLoopState | None:
    """One more; None if there is no record, or it is not any more the one that was expected."""
    try:
        place = place_of(workdir, session_id, state_dir)
        if not place.state.exists():
            return None
        with place.lock():
            return advanced(place, expected or load(place), clock.now())
    except (RalphError, OSError):
        return None


def advanced(place: SessionPlace, expected: SessionLoopState | None, at: datetime) -> SessionLoopState | None:
    """The same for whoever holds the session's lock: compare owner and iteration, then move on."""
    found = load(place)
    if expected is None or found is None or not is_same(found, expected):
        return None
    moved = replace(found, iteration=found.iteration + 1, last_iteration_at=at)
    save(place, moved)
    return moved


def is_same(one: SessionLoopState, other: SessionLoopState) -> bool:
    """The same turn of the same loop of the same session."""
    return (one.active, one.session_id, one.started_at, one.iteration) == (
        other.active,
        other.session_id,
        other.started_at,
        other.iteration,
    )


def peek(path: Path) -> SessionLoopState:
    """A record by its file, whosever it is."""
    try:
        return wire.decode(SessionLoopState, files.read(path, _LARGEST))
    except wire.UNREADABLE as error:
        raise Damaged(f"{path} is not a session's record: {error}") from error


def load(place: SessionPlace) -> SessionLoopState | None:
    """`Damaged` if it cannot be read; one that is another session's is not read for this one."""
    try:
        state = peek(place.state)
    except FileNotFoundError:
        return None
    if state.session_id != place.session_id:
        raise Damaged(f"{place.state} is the record of another session")
    return state


def save(place: SessionPlace, state: SessionLoopState) -> None:
    files.replace(place.state, wire.encode_pretty(state), durable=False)


def load_link(place: SessionPlace) -> Link:
    """What is lost with it is only that a loop is known by its session: an unreadable one is none."""
    try:
        return msgspec.json.decode(files.read(place.link, _LARGEST), type=Link)
    except (OSError, RalphError, *wire.UNREADABLE):
        return Link()


def save_link(place: SessionPlace, link: Link) -> None:
    files.replace(place.link, msgspec.json.encode(link) + b"\n", durable=False)


def with_messages(link: Link, count: int) -> Link:
    """Counted once: a loop that has moved on is not held to less."""
    return replace(link, messages_at_start=count) if link.messages_at_start < 0 else link
