"""Source 001's hook, for a host that has sessions of its own and registers hooks for their events."""

import asyncio
import contextlib
import inspect
import time
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import TypeVar

from untilproven.errors import Busy, RalphError
from untilproven.model.session import SessionLoopState
from untilproven.session import constants, detector, storage, toasts
from untilproven.session.engine import Answer, Heard, SessionLoop
from untilproven.session.place import SessionPlace, sessions_of
from untilproven.session.records import HookContext, Message, RalphLoopOptions, StartLoopOptions, Toast
from untilproven.store import process
from untilproven.store.layout import find_project

_TOAST_SECONDS = 5.0
T = TypeVar("T")


class RalphLoopHook:
    """`name`, `priority`, `events` and `handler` for the host's registry; the rest for its commands."""

    name = constants.HOOK_NAME
    description = constants.HOOK_DESCRIPTION
    priority = constants.HOOK_PRIORITY
    events = constants.HOOK_EVENTS

    def __init__(self, options: RalphLoopOptions) -> None:
        self._options = options
        self._config = options.config
        self._project = find_project(options.workdir or Path.cwd())
        self._at_work: set[str] = set()
        self._delivering: dict[str, float] = {}
        self._again: dict[str, float] = {}
        self._background: set[asyncio.Task[None]] = set()
        self.problem: RalphError | None = None
        """Why the last start was refused."""

    def start_loop(self, session_id: str, prompt: str, options: StartLoopOptions | None = None) -> bool:
        """Whether the session has a loop of its own now; `problem` says why not."""
        from untilproven.session.starting import start  # noqa: PLC0415  loads all that checks need

        self.problem = None
        try:
            started = start(
                self._project,
                self._place(session_id),
                prompt,
                options or StartLoopOptions(),
                config=self._config,
                agent=self._options.agent,
                runner=process.this_process(),
            )
        except RalphError as error:
            self.problem = error
            return False
        self._count_messages(session_id)
        self._show_soon(toasts.started(started.state.max_iterations, started.state.completion_promise))
        return True

    def cancel_loop(self, session_id: str) -> bool:
        """By the session itself only; it holds until a new start."""
        from untilproven.session.ending import cancel  # noqa: PLC0415  seldom needed

        try:
            state = cancel(self._project, self._place(session_id))
        except RalphError:
            return False
        self._show_soon(toasts.cancelled(state.iteration) if state else toasts.no_active_loop())
        return state is not None

    def get_state(self, session_id: str | None = None) -> SessionLoopState | None:
        """A session's record; without an id, that of the session whose loop moved last."""
        if session_id is not None:
            with contextlib.suppress(RalphError):
                return storage.load(self._place(session_id))
            return None
        found = self._all()
        return max(found, key=lambda state: state.last_iteration_at or state.started_at) if found else None

    def is_loop_active(self, session_id: str) -> bool:
        state = self.get_state(session_id)
        return state is not None and state.active

    async def handler(self, context: HookContext) -> None:
        """One event of the host's. Nothing that goes wrong here reaches it."""
        if not self._config.enabled:
            return
        with contextlib.suppress(Exception):
            match context.event:
                case "session.deleted":
                    await self._deleted(str(context.data.get("sessionId") or context.session_id))
                case "session.error":
                    await self._error(context)
                case "session.idle":
                    await self._idle(context.session_id)

    async def user_said(self, session_id: str) -> None:
        """The user has typed something: it goes first."""
        SessionLoop(self._project, self._place(session_id)).note(user=True)

    async def _deleted(self, session_id: str) -> None:
        from untilproven.session.ending import cancel  # noqa: PLC0415  seldom needed

        cancel(self._project, self._place(session_id))

    async def _error(self, context: HookContext) -> None:
        error = context.data.get("error")
        name = error.get("name") if isinstance(error, dict) else getattr(error, "name", None)
        if name in constants.ABORTED:
            await self._deleted(context.session_id)
        else:
            SessionLoop(self._project, self._place(context.session_id)).note(error=True)

    async def _idle(self, session_id: str) -> None:
        """One handler at a time for each session. A host that waits for the whole answer to a prompt says that the
        session is idle while that prompt is still being delivered: such an idle is looked at when that is done."""
        now = time.time()
        if session_id in self._at_work:
            if now - self._delivering.get(session_id, now) > constants.DUPLICATE_SECONDS:
                self._again[session_id] = now
            return
        self._at_work.add(session_id)
        try:
            while await self._handled(session_id, now) and session_id in self._again:
                now = self._again.pop(session_id)
        finally:
            self._at_work.discard(session_id)
            self._again.pop(session_id, None)

    async def _handled(self, session_id: str, at: float) -> bool:
        """Whether a prompt was delivered."""
        await self._clear_orphans(session_id)
        place = self._place(session_id)
        if not place.state.exists():
            return False
        while True:
            heard = await self._heard(place, at)
            answer = await asyncio.to_thread(self._turn, place, heard)
            if answer.kind != "wait":
                break
            await asyncio.sleep(answer.seconds)
            at = time.time()
        if answer.kind != "prompt":
            if answer.kind == "stop" and answer.toast:
                await self._show(answer.toast)
            return False
        await asyncio.sleep(self._config.continuation_delay / 1000)
        try:
            return await self._deliver(place, answer)
        finally:
            self._delivering.pop(session_id, None)

    async def _heard(self, place: SessionPlace, at: float) -> Heard:
        messages = await self._messages(place.session_id)
        said = "\n\n".join(reversed(detector.spoken(messages, storage.load_link(place).messages_at_start)))
        background = await _got(self._options.has_background_work, place.session_id, default=False)
        last = messages[-1] if messages else {}
        turn = str(last.get("id") or "") if last.get("role") == "assistant" else ""
        quiet = constants.DUPLICATE_SECONDS
        return Heard(words=lambda _: said, at=at, quiet=quiet, turn=turn, background=bool(background))

    async def _messages(self, session_id: str) -> Sequence[Message]:
        return await _got(self._options.get_messages, session_id, default=())

    def _turn(self, place: SessionPlace, heard: Heard) -> Answer:
        loop = SessionLoop(self._project, place)
        try:
            loop.lock()
            return loop.turn(heard)
        except Busy:
            return Answer()
        finally:
            loop.close()
            loop.unlock()

    async def _deliver(self, place: SessionPlace, answer: Answer) -> bool:
        """The state is read again after the delay; the counter moves once the prompt has really been taken."""
        now = storage.load(place)
        if now is None or answer.expected is None or not storage.is_same(now, answer.expected):
            return False
        began = self._delivering[place.session_id] = time.time()
        if self._options.inject_prompt is not None:
            try:
                await _settled(self._options.inject_prompt(place.session_id, answer.prompt))
            except Exception:  # noqa: BLE001  the host's; the next idle tries again
                return False
        loop = SessionLoop(self._project, place)
        try:
            loop.lock()
            counted = loop.delivered(answer, began)
        finally:
            loop.close()
            loop.unlock()
        if counted and answer.toast:
            await self._show(answer.toast)
        return counted

    async def _clear_orphans(self, session_id: str) -> None:
        """Loops of sessions that the host positively says are gone; a check that fails says nothing."""
        if self._options.check_session_exists is None:
            return
        for state in self._all():
            if state.session_id == session_id:
                continue
            with contextlib.suppress(Exception):
                if await _settled(self._options.check_session_exists(state.session_id)) is False:
                    await self._deleted(state.session_id)

    def _all(self) -> list[SessionLoopState]:
        found = []
        sessions = sessions_of(self._project.state, self._config.state_dir)
        for path in sessions.glob(f"*/{constants.STATE_FILENAME}") if sessions.is_dir() else ():
            with contextlib.suppress(RalphError, OSError):
                state = storage.peek(path)
                if state.active and self._place(state.session_id).state == path:
                    found.append(state)
        return found

    def _place(self, session_id: str) -> SessionPlace:
        return SessionPlace(self._project.state, session_id, self._config.state_dir)

    def _count_messages(self, session_id: str) -> None:
        """What was said before the loop began is no claim."""

        async def count() -> None:
            with contextlib.suppress(Exception):  # the host's; the loop has begun
                messages = await self._messages(session_id)
                state = self.get_state(session_id)
                if state and state.iteration == 1:
                    place = self._place(session_id)
                    link = storage.load_link(place)
                    storage.save_link(place, storage.with_messages(link, len(messages)))

        self._run(count())

    def _show_soon(self, toast: Toast) -> None:
        self._run(self._show(toast))

    def _run(self, what: "Awaitable[None]") -> None:
        """At once where nobody else is running; else as soon as whoever is has a moment."""

        async def run() -> None:
            await what

        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(run())
            return
        task = running.create_task(run())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _show(self, toast: Toast) -> None:
        """Best effort: one that fails, or never ends, holds nobody up."""
        if self._options.show_toast is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(_settled(self._options.show_toast(toast)), _TOAST_SECONDS)


async def _settled(value: "T | Awaitable[T]") -> T:
    return await value if inspect.isawaitable(value) else value


async def _got(source: object, session_id: str, *, default: T) -> T:
    """What the host says; nothing if it says nothing."""
    if not callable(source):
        return default
    value: T = await _settled(source(session_id))
    return value


def create_ralph_loop_hook(options: RalphLoopOptions | None = None) -> RalphLoopHook:
    """The hook of source 001, to be registered among others."""
    return RalphLoopHook(options or RalphLoopOptions())
