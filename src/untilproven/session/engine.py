"""What happens when a session goes idle: one decision for each time, from the session's record and the loop's journal.

Whoever calls holds the session's lock. The counter moves when the prompt has been delivered, and not before.
"""

import time
from collections.abc import Callable
from typing import Literal

import msgspec
from msgspec.structs import replace

from untilproven.errors import Busy, Damaged, Foreign, NoSuchLoop
from untilproven.model import events
from untilproven.model.iteration import Continue, Fate
from untilproven.model.session import SessionLoopState
from untilproven.model.state import ProcessIdentity
from untilproven.model.status import TERMINAL, Status
from untilproven.session import constants, sealing, storage, toasts
from untilproven.session.detector import build_continuation_prompt, detect_completion_promise
from untilproven.session.place import SessionPlace
from untilproven.session.records import Toast
from untilproven.store import clock, files
from untilproven.store.layout import Project
from untilproven.store.lifecycle import hand_over
from untilproven.store.lock import FileLock
from untilproven.store.writer import LoopWriter, open_loop

try:
    # hashlib would load all of OpenSSL, which a hook has no time for.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """One idle event."""

    words: Callable[[SessionLoopState], str]
    """What the assistant said last since the loop began."""
    at: float
    """When it was raised, in seconds."""
    quiet: float = 0.0
    """An event is one with those that were raised up to so many seconds before it was dealt with."""
    turn: str = ""
    """Which answer of the agent's it is about, if that is known: what is about another one is another event."""
    accumulates: bool = False
    """Whether the words of earlier turns come again with those of this one."""
    claim: str = ""
    """What the agent says outright, where it need not be looked for in its words."""
    background: bool = False
    """Something of the session's still runs, and will wake it up."""
    runner: ProcessIdentity | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """none: nothing is done; `note` may say why. prompt: go on, with these words. stop: the loop has ended or waits,
    for the reason in `note`. wait: ask again in so many seconds."""

    kind: Literal["none", "prompt", "stop", "wait"] = "none"
    prompt: str = ""
    note: str = ""
    toast: Toast | None = None
    expected: SessionLoopState | None = None
    seconds: float = 0.0


NONE = Answer()


class SessionLoop:
    """The loop of one session, for as long as one event is dealt with."""

    def __init__(self, project: Project, place: SessionPlace) -> None:
        self.project = project
        self.place = place
        self._writer: LoopWriter | None = None
        self._lock: FileLock | None = None

    def lock(self, seconds: float = constants.LOCK_SECONDS) -> None:
        """From here on no other handler of this session is at work."""
        if self._lock is None:
            lock = self.place.lock(seconds)
            lock.acquire()
            self._lock = lock

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def turn(self, heard: Heard) -> Answer:
        """What the session is told now that it is idle."""
        try:
            state = storage.load(self.place)
        except Damaged as error:
            return self._ended(f"its record cannot be read, so it is over: {error.message}")
        if state is None or not state.active:
            return NONE
        link = storage.load_link(self.place)
        if heard.at < link.handled_at + heard.quiet and heard.turn in {"", link.turn}:
            return NONE
        if heard.background:
            return Answer(note="ralph: background work of the session goes first; the loop goes on when it stops next")
        left = link.error_at + constants.RECOVERY_SECONDS - time.time()
        if 0 < left <= constants.RECOVERY_SECONDS:
            return Answer(kind="wait", seconds=left)
        words = heard.words(state)
        if not words and 0 <= time.time() - link.user_at < constants.USER_SECONDS:
            return NONE
        return self._answered(state, link, heard, words)

    def gone(self) -> Answer:
        """Somebody has removed the session's record, and not with the words for it."""
        return self._ended("its record is gone, so it is over") if self.place.pointer else NONE

    def _answered(self, state: SessionLoopState, link: storage.Link, heard: Heard, words: str) -> Answer:
        try:
            writer = self._open(link, state)
        except Busy:
            return NONE  # somebody is at it, and sees the same
        except (Damaged, Foreign, NoSuchLoop) as error:
            return self._ended(f"its loop cannot be gone on with: {error.message}")
        loop = writer.state
        if loop.status is Status.PAUSED:
            return NONE
        if loop.status in TERMINAL:
            return self._ended(f"its loop is {loop.status}: {loop.reason or 'ended from elsewhere'}")
        if heard.runner and heard.runner != loop.process:
            hand_over(writer, heard.runner)
        if heard.accumulates and link.said == digest(words[: link.said_length]):
            words = words[link.said_length :]
            said, length = digest(heard.words(state)), link.said_length + len(words)
        else:
            said, length = digest(words), len(words)
        if not writer.state.iteration_in_progress and said == link.said and (told := self._told_before(state)):
            return Answer(kind="prompt", prompt=told, expected=state, toast=_next_toast(state))
        state = self._caught_up(state)
        claim = heard.claim or self._claim(state, words)
        storage.save_link(self.place, replace(link, said=said, said_length=length, turn=heard.turn))
        if claim or state.iteration >= state.max_iterations:
            return self._proven(state, claim)
        return self._continued(state)

    def _caught_up(self, state: SessionLoopState) -> SessionLoopState:
        """The prompt that was made last reached nobody, and the agent has worked all the same: that was a turn, too."""
        loop = self.writer.state
        if loop.iteration_in_progress or loop.iteration < state.iteration or state.iteration >= state.max_iterations:
            return state
        return storage.advanced(self.place, state, clock.now()) or state

    def _continued(self, state: SessionLoopState) -> Answer:
        following = replace(state, iteration=state.iteration + 1)
        told = build_continuation_prompt(constants.CONTINUATION_PROMPT_TEMPLATE, following)
        told += sealing.judged_by(self.writer.state)
        return Answer(kind="prompt", prompt=told, expected=state, toast=_next_toast(state))

    def _claim(self, state: SessionLoopState, words: str) -> str:
        promise = state.completion_promise
        is_given = detect_completion_promise(words, promise, prompt=self._prompt(state.iteration))
        return f"<promise>{promise}</promise>" if is_given else ""

    def _proven(self, state: SessionLoopState, claim: str) -> Answer:
        """The promise starts the checks, the checks decide."""
        from untilproven.session import proving  # noqa: PLC0415  most turns end without a claim

        settled = proving.settle(self.project, self.writer, state, claim)
        sealing.seal(self.project, self.place, self.writer)
        match settled.kind:
            case "continue":
                toast = toasts.refused(state.iteration + 1, state.max_iterations, settled.words)
                note = f"ralph: the agent said that it is done, and it is not: {settled.words}"
                return Answer(kind="prompt", prompt=settled.prompt, note=note, expected=state, toast=toast)
            case "late":
                return Answer(kind="stop", note=f"ralph: {settled.words}", toast=toasts.stopped(settled.words))
            case "paused":
                waits = f"ralph: {self.writer.state.loop_id} waits: {settled.words}"
                return Answer(kind="stop", note=waits, toast=toasts.stopped(settled.words))
        self.clear()
        toast = (
            toasts.complete(state.iteration)
            if settled.kind == "done"
            else toasts.limit(state.max_iterations)
            if settled.kind == "limit"
            else toasts.stopped(settled.words)
        )
        return Answer(kind="stop", note=f"ralph: {settled.words}", toast=toast)

    def delivered(self, answer: Answer, at: float = 0.0) -> bool:
        """The prompt is with the agent: from here on, or from `at`, the next iteration is under way. False if the loop
        has moved on, or was cancelled, meanwhile."""
        if answer.kind != "prompt" or answer.expected is None:
            return False
        moved = storage.advanced(self.place, answer.expected, clock.now())
        if moved is None:
            return False
        self.write_down(answer.expected, moved.iteration, answer.prompt, at=at)
        return True

    def write_down(
        self, before: SessionLoopState, number: int, prompt: str, *, said: str = "", at: float = 0.0
    ) -> None:
        """What happened, into the journal; then the loop is sealed as it is."""
        link = storage.load_link(self.place)
        storage.save_link(self.place, replace(link, handled_at=at or time.time(), said=said or link.said))
        writer = self._open(link, None)
        passed: list[events.Event] = []
        unfinished = writer.state.iteration_in_progress
        if not unfinished and writer.state.iteration < before.iteration:  # it was begun without us, or is begun again
            unfinished = before.iteration
            passed = [events.IterationStarted(iteration=unfinished)]
        if unfinished:
            began = before.last_iteration_at or before.started_at
            passed += _passed(unfinished, max((clock.now() - began).total_seconds(), 0.0))
        files.replace(writer.loop.prompt(number), prompt.encode("utf-8", "replace"), durable=False)
        writer.record(*passed, events.IterationStarted(iteration=number))
        writer.update_heartbeat()
        sealing.seal(self.project, self.place, writer)

    def taken_over(self, runner: ProcessIdentity) -> None:
        """Another process may be the agent by now: a session can be left and taken up again."""
        writer = self.writer
        if runner != writer.state.process and writer.state.status not in TERMINAL:
            hand_over(writer, runner)

    def handled(self) -> None:
        """An event was dealt with, and nothing was delivered."""
        if self.place.state.exists():
            link = storage.load_link(self.place)
            storage.save_link(self.place, replace(link, handled_at=time.time()))

    def note(self, *, user: bool = False, error: bool = False) -> None:
        """The user said something, or the session had trouble that is not the user's doing."""
        if self.place.state.exists():
            link, now = storage.load_link(self.place), time.time()
            link = replace(link, user_at=now if user else link.user_at, error_at=now if error else link.error_at)
            storage.save_link(self.place, link)

    def clear(self) -> None:
        """The session has no loop any more."""
        self.place.clear()

    @property
    def writer(self) -> LoopWriter:
        return self._open(storage.load_link(self.place), None)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _open(self, link: storage.Link, state: SessionLoopState | None) -> LoopWriter:
        if self._writer is None:
            if not link.loop_id:
                raise NoSuchLoop("nothing says which loop it is")
            sealing.refuse_rewritten(self.place, self.project.state.loop(link.loop_id).journal)
            writer = open_loop(self.project.state, link.loop_id)
            plan = writer.state.plan
            if not plan or plan.session != self.place.session_id:
                writer.close()
                raise Damaged(f"{link.loop_id} is not the loop of this session")
            self._writer = writer
        if state is not None:
            self._refuse_other(state)
        return self._writer

    def _refuse_other(self, state: SessionLoopState) -> None:
        """What the record in the tree says counts only as far as the journal says the same."""
        assert self._writer is not None  # noqa: S101  it was opened
        plan, allowance = self._writer.state.plan, self._writer.state.allowance
        if not plan or plan.promise != state.completion_promise or not allowance:
            raise Damaged("the session's record does not agree with the journal of its loop")
        from untilproven.runtime.planning import hash_of  # noqa: PLC0415  the commonest events do without

        if plan.task_hash != hash_of(state.prompt):
            raise Damaged("the session's record has another task than the journal of its loop")
        if state.max_iterations != allowance.iterations or state.iteration < self._writer.state.iteration:
            raise Damaged("the session's record does not agree with the journal of its loop")

    def _ended(self, why: str) -> Answer:
        """Nothing holds the agent any more, and no dead loop holds a slot."""
        from untilproven.session.ending import cancel  # noqa: PLC0415  seldom needed

        self.close()
        cancel(self.project, self.place)
        return Answer(kind="stop", note=f"ralph: {why}", toast=toasts.stopped(why))

    def _told_before(self, state: SessionLoopState) -> str:
        """A prompt that was made and that nobody got."""
        return self._prompt(state.iteration + 1)

    def _prompt(self, number: int) -> str:
        try:
            return self.writer.loop.prompt(number).read_text("utf-8", "replace")
        except OSError:
            return ""


def digest(words: str) -> str:
    """Names what was said, so that the same event is known again."""
    return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _passed(number: int, seconds: float) -> list[events.Event]:
    """An iteration after which nothing was claimed; what it changed is seen when something is."""
    result = Continue(reason="it stopped without saying that it is done")
    return [
        events.IterationObserved(iteration=number, delta=(), result=result, duration_seconds=round(seconds, 3)),
        events.IterationFinished(
            iteration=number,
            result=result,
            fate=Fate.KEPT,
            counted=True,
            progressed=False,
            duration_seconds=round(seconds, 3),
        ),
    ]


def _next_toast(state: SessionLoopState) -> Toast:
    return toasts.progress(state.iteration + 1, state.max_iterations)
