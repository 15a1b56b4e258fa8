"""What a user types in a session: /ralph, /cancel-ralph, /ralph-status."""

from typing import Any

from untilproven.core.text import cut
from untilproven.errors import IllegalTransition, RalphError, UsageError
from untilproven.session import constants, storage, toasts, wire
from untilproven.session.above import agent_above
from untilproven.session.arguments import RalphArgs, parse_ralph_args
from untilproven.session.serving import asked_at, place_for
from untilproven.session.starting import Started, start
from untilproven.session.wire import Event
from untilproven.store import reader

_SHOWN = 200
_PLUGIN = "/untilproven:"
"""What Claude Code puts before the commands of a plugin."""
_NAMES = {
    ("codex", "ralph:"): "/ralph",
    ("codex", "cancel-ralph:"): "/cancel-ralph",
    ("codex", "ralph-status:"): "/ralph-status",
}
"""Codex may keep words with a slash to itself."""


def begin(agent: str, session_id: str, args: RalphArgs, cwd: str = "") -> Started:
    """`/ralph "task" ...`"""
    if not session_id.strip():
        raise UsageError("a session without an id cannot have a loop: nobody could tell it from the others")
    project, place = place_for(session_id, cwd)
    return start(project, place, args.prompt, args.options, agent=agent, runner=agent_above())


def told(started: Started) -> str:
    """For the user: which loop it is, and what will decide."""
    state = started.state
    judged = f"checked with {', '.join(started.checks)}" if started.checks else "taken at the agent's word"
    first = f"Ralph Loop Started: {started.loop_id}, max {state.max_iterations} iterations, {judged}"
    return "; ".join((first, *started.notes))


def stop(session_id: str) -> str:
    """`/cancel-ralph`"""
    from untilproven.session.ending import cancel  # noqa: PLC0415  a start does without

    state = cancel(*place_for(session_id))
    toast = toasts.cancelled(state.iteration) if state else toasts.no_active_loop()
    return f"{toast.title}: {toast.message}"


def status(session_id: str) -> str:
    """`/ralph-status`"""
    project, place = place_for(session_id)
    state = storage.load(place)
    if state is None or not state.active:
        toast = toasts.no_active_loop()
        return f"{toast.title}: {toast.message}"
    lines = [f"Ralph Loop: iteration {state.iteration}/{state.max_iterations}, promise {state.completion_promise}"]
    link = storage.load_link(place)
    if link.loop_id:
        seen = reader.view(project.state, link.loop_id).state
        why = f" ({seen.reason})" if seen.reason else ""
        lines.append(f"loop: {seen.loop_id}, {seen.status}{why}; `ralph show {seen.loop_id}` tells more")
        if seen.completion_criteria:
            lines.append(f"checked with: {seen.completion_criteria}")
    return "\n".join((*lines, f"task: {cut(state.prompt, _SHOWN)}"))


def _begun(agent: str, event: Event, args: RalphArgs) -> dict[str, Any]:
    try:
        begun = begin(agent, event.session_id, args, event.cwd)
    except IllegalTransition:
        if _is_begun_already(event, args):
            return {}
        raise
    return wire.context_answer(agent, begun.prompt, told(begun))


def _is_begun_already(event: Event, args: RalphArgs) -> bool:
    """Whether the loop that is in the way is this one: another hook has heard the same words."""
    _, place = place_for(event.session_id, event.cwd)
    known = storage.load(place)
    if known is None or known.iteration != 1 or known.prompt != args.prompt:
        return False
    return place.state.stat().st_mtime > asked_at() - constants.TWICE_SECONDS


def typed(agent: str, event: Event) -> dict[str, Any]:
    """A prompt that may be for us; empty if it is not."""
    word, rest = (*event.prompt.split(None, 1), "", "")[:2]
    try:
        match _NAMES.get((agent, word), word.replace(_PLUGIN, "/", 1)):
            case "/ralph" | "/ralph-loop":
                return _begun(agent, event, parse_ralph_args(rest))
            case "/cancel-ralph":
                return wire.refusal(agent, stop(event.session_id))
            case "/ralph-status":
                return wire.refusal(agent, status(event.session_id))
    except RalphError as error:
        return wire.refusal(agent, "; ".join(part for part in (f"ralph: {error.message}", error.hint) if part))
    return {}
