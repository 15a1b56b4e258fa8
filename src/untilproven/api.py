"""The same from Python: `from untilproven import Loop, run`. docs/python.md tells how."""

import contextlib
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self, Unpack

import msgspec

from untilproven.core.decide import WAITING
from untilproven.errors import Damaged, RalphError
from untilproven.model import wire
from untilproven.model.events import Entry
from untilproven.model.fields import PauseReason
from untilproven.model.receipt import PROVEN, Proof, Receipt
from untilproven.model.state import LoopState
from untilproven.model.status import Status
from untilproven.options import Duration, Limits, Options, given, settings_of, wanted
from untilproven.runtime import planning, starting
from untilproven.runtime.control import client, requests
from untilproven.runtime.detach import Ready, detached
from untilproven.runtime.hooks import LoopHooks
from untilproven.store import files, journal, reader
from untilproven.store.layout import Project, find_project
from untilproven.store.writer import LoopWriter, open_loop
from untilproven.watch import console
from untilproven.watch.follow import Follower, Outcome, follow, last_iteration

__all__ = [
    "Directory",
    "Duration",
    "Ended",
    "Entry",
    "Limits",
    "Loop",
    "LoopHooks",
    "OnEvent",
    "Options",
    "RalphError",
    "run",
]

Directory = str | os.PathLike[str]
OnEvent = Callable[[Entry], object]
"""Told of every event, in the loop's own thread. What it raises ends the run; the loop is then paused."""

_OBEYED_SECONDS = 30.0


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended. A loop that is paused, failed or aborted can be resumed."""

    loop_id: str
    status: Status
    exit_code: int
    """What `ralph run` would have returned."""
    iterations: int
    reason: str = ""
    proof: Proof | None = None
    receipt: Receipt | None = None
    """Written when a loop ends; one that is paused has none."""

    @property
    def proven(self) -> bool:
        """Whether a check that failed before the work passes now; green checks and a claim are not enough."""
        return self.proof in PROVEN


def run(
    task: str,
    *,
    directory: Directory = ".",
    loop_id: str | None = None,
    agent_arguments: Sequence[str] = (),
    hooks: LoopHooks | None = None,
    on_event: OnEvent | None = None,
    **options: Unpack[Options],
) -> Ended:
    """Work on a task until it is proven done, a limit is reached, or a human is needed.

    Raises a RalphError where `ralph run` would not start.
    """
    loop = Loop.start(task, directory=directory, loop_id=loop_id, agent_arguments=agent_arguments, **options)
    return loop.run(hooks=hooks, on_event=on_event)


class Loop:
    """A loop of a project: one that can be run here, or one that runs, rests or has ended elsewhere.

    One that was started or resumed is locked until it has been run or closed; `with` closes it.
    """

    def __init__(self, loop_id: str, *, directory: Directory = ".") -> None:
        """A loop to look at and to control; `start` and `resume` give one that can be run."""
        self._project = find_project(Path(directory))
        self._id = reader.resolve(self._project.state, loop_id).state.loop_id
        self._hold: _Hold | None = None
        self._runs_in: int | None = None

    @classmethod
    def start(
        cls,
        task: str,
        *,
        directory: Directory = ".",
        loop_id: str | None = None,
        agent_arguments: Sequence[str] = (),
        **options: Unpack[Options],
    ) -> Self:
        """Register a new loop; `run` runs it."""
        project = find_project(Path(directory))
        return cls._holding(project, starting.begin(project, wanted(project, task, loop_id, agent_arguments, options)))

    @classmethod
    def resume(cls, loop_id: str, *, directory: Directory = ".", **limits: Unpack[Limits]) -> Self:
        """Go on with a loop that was paused, killed, failed or aborted; `run` runs it.

        One that has ended is continued by a new loop, with an id of its own.
        """
        project = find_project(Path(directory))
        said = given(limits, Limits)
        state = reader.resolve(project.state, loop_id).state
        allowance, configuration = planning.raised(state, settings_of(project, said), said)
        writer = starting.take_up(project, loop_id, allowance=allowance, configuration=configuration)
        return cls._holding(project, writer)

    @classmethod
    def detached(
        cls,
        task: str,
        *,
        directory: Directory = ".",
        loop_id: str | None = None,
        agent_arguments: Sequence[str] = (),
        **options: Unpack[Options],
    ) -> Self:
        """Start a loop in a process of its own, which outlives this one. It forks: call it before you start threads."""
        project = find_project(Path(directory))
        asked = wanted(project, task, loop_id, agent_arguments, options)

        def work(ready: Ready) -> int:
            writer = starting.begin(project, asked)
            ready(writer.state.loop_id, writer.loop.path / "run.log")
            watchers = (console.for_terminal(sys.stdout),)
            with starting.driving(project, writer, watchers=watchers) as driver:
                return driver.run()

        return cls(detached(work).loop_id, directory=project.root)

    @classmethod
    def _holding(cls, project: Project, writer: LoopWriter) -> Self:
        loop = cls(writer.state.loop_id, directory=project.root)
        loop._hold = _Hold(loop, writer)
        return loop

    @property
    def loop_id(self) -> str:
        return self._id

    @property
    def state(self) -> LoopState:
        """As it is at this moment, whoever runs it."""
        return reader.view(self._project.state, self._id).state

    def run(self, *, hooks: LoopHooks | None = None, on_event: OnEvent | None = None) -> Ended:
        """Run it in this process and thread, to its end or until a human is needed.

        When an exception ends the run, `on_event`'s own for one, the agent is ended and the loop is paused.
        """
        writer = self._take()
        watchers = (_Listener(on_event),) if on_event else ()
        self._runs_in = threading.get_ident()
        try:
            with starting.driving(self._project, writer, watchers=watchers, hooks=hooks) as driver:
                code = driver.run()
        except BaseException as error:
            self._set_aside(f"the program that ran it stopped: {type(error).__name__}: {error}")
            raise
        finally:
            self._runs_in = None
        return self._ended(code)

    def attach(self, on_event: OnEvent | None = None) -> Ended:
        """Look on at a loop that runs elsewhere, from its running iteration on, until it ends, waits, or is left alone.

        What `on_event` raises ends the looking on; the loop goes on.
        """
        seen = reader.resolve(self._project.state, self._id)
        with Follower(seen, since=last_iteration(seen.directory)) as follower:
            outcome = follow(follower, _Listener(on_event or (lambda _: None)))
        if follower.finished:
            return self._ended(follower.finished.exit_code)
        if outcome is Outcome.PAUSED:
            return self._ended(WAITING)
        return self._ended(0 if follower.state.status is Status.COMPLETED else 1)

    def pause(self, *, now: bool = False) -> LoopState:
        """Set it aside at the end of its iteration, or now: then this waits until it is so, and what the iteration
        did does not count. From within `on_event` or a hook it only leaves the wish."""
        if self._hold:
            self.close()
            return self.state
        return self._ask(requests.new_request("pause", now=now), wait=now)

    def abort(self) -> LoopState:
        """End it and everything it started, and wait until it is so; within `on_event` or a hook, leave the wish."""
        self.close()
        return self._ask(requests.new_request("abort"), wait=True)

    def close(self) -> None:
        """Let go of a loop that was started and not run: it is paused, and can be resumed. Otherwise do nothing."""
        if self._hold:
            with self._take() as writer:
                _pause(writer, "it was not run yet")

    def events(self) -> Iterator[Entry]:
        """Its journal so far, oldest first; lines that cannot be read are passed over."""
        loop = self._project.state.loop(self._id)
        return (found for found in journal.scan(loop.journal, self._id) if isinstance(found, Entry))

    @property
    def receipt(self) -> Receipt | None:
        """What was asked, claimed and proven; None before the loop has ended."""
        path = self._project.state.loop(self._id).receipt
        try:
            return wire.decode(Receipt, files.read(path))
        except FileNotFoundError:
            return None
        except wire.UNREADABLE as error:
            raise Damaged(f"{path} is not valid: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Loop {self._id}>"

    def _take(self) -> LoopWriter:
        hold, self._hold = self._hold, None
        if hold is None:
            raise RalphError(
                f"{self._id} is not held by this program, or has been run already",
                hint=f"to go on with it: Loop.resume({self._id!r}).run()",
            )
        return hold.taken()

    def _ask(self, request: requests.Request, *, wait: bool) -> LoopState:
        directory = self._project.state
        if self._runs_in == threading.get_ident():
            requests.leave(directory, self._id, request)
            return self.state
        answer = client.ask(directory, self._id, request)
        if wait and answer.kind == "seen":
            answer = client.wait_until_done(directory, answer, seconds=_OBEYED_SECONDS)
        return answer.state

    def _set_aside(self, why: str) -> None:
        """This process may live on, so a loop that it no longer runs must not look as if it ran."""
        with contextlib.suppress(RalphError), open_loop(self._project.state, self._id) as writer:
            _pause(writer, why)

    def _ended(self, code: int) -> Ended:
        state, receipt = self.state, self.receipt
        return Ended(
            loop_id=self._id,
            status=state.status,
            exit_code=code,
            iterations=state.iteration,
            reason=state.reason or "",
            proof=(receipt.proof or None) if receipt else None,
            receipt=receipt,
        )


class _Hold:
    """A loop that is locked and waits to be run. One that nobody can run any more does not stay locked."""

    def __init__(self, loop: Loop, writer: LoopWriter) -> None:
        self._writer = writer
        self._process = os.getpid()
        self._forgotten = weakref.finalize(loop, _forget, writer, self._process)
        self._forgotten.atexit = False  # the end of the process frees the lock

    def taken(self) -> LoopWriter:
        self._forgotten.detach()
        if os.getpid() != self._process:
            raise RalphError(
                f"{self._writer.loop.loop_id} was started by process {self._process}; only that can run it"
            )
        return self._writer


class _Listener:
    """Passes on what happens."""

    gone = False

    def __init__(self, tell: OnEvent) -> None:
        self._tell = tell

    def happened(self, entry: Entry, state: LoopState) -> None:  # noqa: ARG002  a Watcher
        self._tell(entry)

    def tick(self) -> None:
        pass

    def noted(self, words: str) -> None:
        pass

    def close(self) -> None:
        pass


def _pause(writer: LoopWriter, why: str) -> None:
    if writer.state.status is Status.RUNNING:
        writer.transition_status(Status.PAUSED, reason=why, pause_reason=PauseReason.USER)


def _forget(writer: LoopWriter, holder: int) -> None:
    """In a fork, a copy that goes away is no business of the loop's."""
    if os.getpid() == holder:
        writer.close()
        warnings.warn(f"{writer.loop.loop_id} was started and neither run nor closed", ResourceWarning, stacklevel=2)
