"""Ending a session's loop from outside of its turn: cancelled, replaced, its session gone, its record lost."""

import contextlib
from pathlib import Path

from untilproven.errors import IllegalTransition, InvalidName, NoSuchLoop, RalphError
from untilproven.model.session import SessionLoopState
from untilproven.model.status import TERMINAL
from untilproven.runtime.control import client
from untilproven.runtime.control.requests import new_request
from untilproven.runtime.restoring import forget_rooms
from untilproven.session import storage
from untilproven.session.place import SessionPlace
from untilproven.store import reader
from untilproven.store.layout import Project


def loop_of(place: SessionPlace) -> str:
    """Which loop is the session's, as far as anything still says so."""
    if known := storage.load_link(place).loop_id:
        return known
    with contextlib.suppress(RalphError):
        pointer = place.pointer
        return Path(pointer.journal).parent.name if pointer and pointer.journal else ""
    return ""


def is_over(project: Project, place: SessionPlace) -> bool:
    """Whether the session's record stands for nothing any more: its loop was ended from elsewhere, or is not there."""
    try:
        return reader.view(project.state, loop_of(place)).state.status in TERMINAL
    except (NoSuchLoop, InvalidName):
        return True
    except RalphError:
        return False


def end_quietly(project: Project, loop_id: str, session_id: str) -> None:
    """Free its slot, if it still has one; what is in the way of that is for the stale check to see to."""
    with contextlib.suppress(RalphError):
        view = reader.view(project.state, loop_id)
        plan = view.state.plan
        if view.foreign or view.state.status in TERMINAL or not plan or plan.session != session_id:
            return
        with contextlib.suppress(IllegalTransition):
            client.ask(project.state, loop_id, new_request("abort"))
        forget_rooms(project, view)


def cancel(project: Project, place: SessionPlace) -> SessionLoopState | None:
    """End the session's loop; what it was, or None if there was none. It holds until a new start: a handler that is
    just at work finds the record gone, and delivers nothing."""
    try:
        state = storage.load(place)
    except RalphError:
        state = None
    loop_id = loop_of(place)
    place.clear()
    if loop_id:
        end_quietly(project, loop_id, place.session_id)
    return state if state and state.active else None
