"""`ralph resume` for a loop that lives in a session: it is let run again, and goes on when the agent stops next."""

import contextlib

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from untilproven.errors import IllegalTransition, RalphError
from untilproven.model.plan import Allowance
from untilproven.model.state import LoopConfiguration, LoopState
from untilproven.model.status import TERMINAL, Status
from untilproven.runtime.control.requests import clear_pauses
from untilproven.runtime.deciding import pass_gates
from untilproven.session import storage
from untilproven.session.place import SessionPlace
from untilproven.store.layout import Project
from untilproven.store.reader import LoopView
from untilproven.store.writer import foreign, open_loop


def resume(
    project: Project,
    view: LoopView,
    *,
    allowance: Allowance | UnsetType = UNSET,
    configuration: LoopConfiguration | None = None,
) -> LoopState:
    state = view.state
    if view.foreign:
        raise foreign(state.loop_id)
    if state.status in TERMINAL:
        raise IllegalTransition(
            f"{state.loop_id} has ended ({state.status}), and it lived in a session of {_agent(state)}",
            hint="start it again in a session: /ralph",
        )
    with open_loop(project.state, state.loop_id) as writer:
        clear_pauses(project.state, state.loop_id)
        if writer.state.status is Status.PAUSED:
            pass_gates(writer)
            writer.transition_status(Status.RUNNING, reason="resumed")
        changes = {"allowance": allowance, "configuration": configuration}
        given = {key: msgspec.to_builtins(value) for key, value in changes.items() if value}
        if given:
            writer.update_state(given)
        _tell_session(project, writer.state)
        return writer.state


def _agent(state: LoopState) -> str:
    return state.plan.agent if state.plan else "an agent"


def _tell_session(project: Project, state: LoopState) -> None:
    """The session's record has the limit too."""
    if not state.plan or not state.plan.session or not state.allowance:
        return
    place = SessionPlace(project.state, state.plan.session)
    with contextlib.suppress(RalphError):
        known = storage.load(place)
        if known and known.max_iterations != state.allowance.iterations:
            storage.save(place, replace(known, max_iterations=state.allowance.iterations))
