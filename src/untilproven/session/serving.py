"""What each event of an agent comes to. Whatever of ours is broken, the agent is let go, and told why."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from untilproven.errors import Busy
from untilproven.model import wire as wire_record
from untilproven.model.session import SessionLoopState
from untilproven.session import constants, detector, storage, toasts, wire
from untilproven.session.above import agent_above
from untilproven.session.engine import NONE, Answer, Heard, SessionLoop, digest
from untilproven.session.place import SessionPlace, located
from untilproven.session.wire import Event
from untilproven.store.layout import Project, find_project

_OURS = constants.CONTINUATION_PROMPT_TEMPLATE.partition("{")[0]
"""How every prompt begins with which an agent is sent on."""
_LONGEST_COMMAND = len("/untilproven:cancel-ralph")
Say = Callable[[dict[str, Any]], None]
"""Hands over an answer; raises OSError if nobody takes it."""


def serve(name: str, agent: str, data: bytes, say: Say) -> None:
    """One event, as it came."""
    event = wire.read_event(agent, data)
    match name:
        case "stop":
            stop(agent, event, say)
        case "idle":
            idle(event, say)
        case "error":
            error(event, say)
        case "deleted":
            deleted(event, say)
        case "prompt":
            _typed(agent, event, say)


def _typed(agent: str, event: Event, say: Say) -> None:
    """A message of the user's goes first; it may be for us. Some agents hand us our own words in its place."""
    if event.prompt.startswith(_OURS):
        return
    if found := _found(event):
        SessionLoop(*found).note(user=True)
    if "ralph" in event.prompt.lstrip()[:_LONGEST_COMMAND]:
        from untilproven.session import commands  # noqa: PLC0415  seldom typed

        if said := commands.typed(agent, event):
            say(said)


def stop(agent: str, event: Event, say: Say) -> None:
    """The agent wants to stop. The answer is given, and then counted."""
    found = _found(event)
    if found is None:
        return
    heard = Heard(
        words=event.words,
        at=asked_at(),
        accumulates=agent == "gemini" and event.said is not None,
        background=event.background,
        runner=agent_above(),
    )
    loop = SessionLoop(*found)
    try:
        answer = _turn(loop, heard)
        said = wire.stop_answer(agent, answer)
        if said:
            say(said)
        _count(loop, answer)
    finally:
        loop.close()
        loop.unlock()


def idle(event: Event, say: Say) -> None:
    """The same for a plugin that delivers prompts itself, a moment later: by then the loop may be another, or gone."""
    found = _found(event)
    if found is None:
        say(wire.idle_answer(NONE))
        return
    since = storage.load_link(found[1]).messages_at_start
    said = detector.spoken(event.messages, since)
    heard = Heard(
        words=lambda _: "\n\n".join(reversed(said)),
        at=asked_at(),
        quiet=constants.DUPLICATE_SECONDS,
        turn=event.turn,
        background=event.background,
        runner=agent_above(),
    )
    loop = SessionLoop(*found)
    try:
        answer = _turn(loop, heard)
        if answer.kind == "prompt":
            loop.close()
            loop.unlock()
            time.sleep(_delay(found[0]))
            answer = _still(loop, answer)
        say(wire.idle_answer(answer))
        _count(loop, answer)
    finally:
        loop.close()
        loop.unlock()


def _turn(loop: SessionLoop, heard: Heard) -> Answer:
    """One handler at a time; while another is at it, this event is the same as that one's."""
    if not loop.place.state.exists():
        return loop.gone()
    try:
        loop.lock()
    except Busy:
        return NONE
    answer = loop.turn(heard)
    if answer.kind == "wait":  # deferred, not lost
        loop.close()
        loop.unlock()
        time.sleep(answer.seconds)
        return _turn(loop, replace(heard, at=time.time()))
    return answer


def _delay(project: Project) -> float:
    from untilproven.session.starting import configured  # noqa: PLC0415  only where a prompt is delivered by a plugin

    return configured(project).continuation_delay / 1000


def _still(loop: SessionLoop, answer: Answer) -> Answer:
    loop.lock()
    now = storage.load(loop.place)
    return answer if now and answer.expected and storage.is_same(now, answer.expected) else NONE


def _count(loop: SessionLoop, answer: Answer) -> None:
    if answer.kind == "prompt":
        loop.delivered(answer)
    elif answer.kind == "stop":
        loop.handled()


def error(event: Event, say: Say) -> None:
    """An abort by the user ends the loop; after any other error, idle events wait a little."""
    found = _found(event)
    if found is None:
        say(wire.idle_answer(NONE))
        return
    if event.error in constants.ABORTED:
        from untilproven.session.ending import cancel  # noqa: PLC0415  seldom needed

        state = cancel(*found)
        say(wire.idle_answer(Answer(toast=toasts.cancelled(state.iteration)) if state else NONE))
        return
    SessionLoop(*found).note(error=True)
    say(wire.idle_answer(NONE))


def deleted(event: Event, say: Say) -> None:
    if found := _found(event):
        from untilproven.session.ending import cancel  # noqa: PLC0415  seldom needed

        cancel(*found)
    say(wire.idle_answer(NONE))


def write_down(session_id: str, root: str, before: bytes, prompt: str, words: str, agent: int, at: float) -> None:
    """The journal of a turn that was answered already, by a process that holds the session's lock."""
    project = find_project(Path(root))
    loop = SessionLoop(project, SessionPlace(project.state, session_id))
    state = wire_record.decode(SessionLoopState, before)
    try:
        loop.taken_over(agent_above(agent))
        loop.write_down(state, state.iteration + 1, prompt, said=digest(words), at=at)
    finally:
        loop.close()


def _found(event: Event) -> tuple[Project, SessionPlace] | None:
    """The loop of the event's own session, and never of another."""
    project = located(event.session_id)
    return (project, SessionPlace(project.state, event.session_id)) if project else None


def place_for(session_id: str, cwd: str = "") -> tuple[Project, SessionPlace]:
    """Where a session's loop is, or would be started."""
    project = located(session_id) or find_project(Path(os.environ.get("CLAUDE_PROJECT_DIR") or cwd or Path.cwd()))
    return project, SessionPlace(project.state, session_id)


def asked_at() -> float:
    """When this process was started: that is when the agent asked."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        line = Path("/proc/self/stat").read_bytes()
        ticks = int(line[line.rindex(b")") + 2 :].split()[19])
        # The end of the tick: within the one in which it began, the event before may have ended.
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - (ticks + 1) / os.sysconf("SC_CLK_TCK")
        return time.time() - max(age, 0.0)
    return time.time()
