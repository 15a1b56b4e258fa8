"""The same from Python: `from untilproven import Loop, run`."""

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack

import msgspec

from untilproven.config import layers
from untilproven.contract import Watcher
from untilproven.errors import RalphError
from untilproven.model import wire
from untilproven.model.events import Entry, LoopFinished
from untilproven.model.receipt import Receipt
from untilproven.model.state import LoopState
from untilproven.model.status import Status
from untilproven.runtime import planning, starting
from untilproven.runtime.control import client
from untilproven.runtime.control.requests import new_request
from untilproven.runtime.hooks import LoopHooks
from untilproven.store import files, journal, reader
from untilproven.store.layout import find_project
from untilproven.store.writer import LoopWriter

__all__ = ["Ended", "Loop", "LoopHooks", "Options", "run"]

Duration = str | timedelta
"""`"90m"`, `"8h"`, or a timedelta."""


class Options(TypedDict, total=False):
    """Every option of `ralph run`, with its meaning and its default. What is left out comes from the settings."""

    until: Sequence[str]
    agent: str
    agent_cmd: str
    model: str
    promise: str
    trust_promise: bool
    require_proof: bool
    auto_test: bool
    max_iterations: int
    timeout: Duration
    iteration_timeout: Duration
    idle_timeout: Duration
    max_cost: float
    max_tokens: int
    allow_unknown_cost: bool
    check_timeout: Duration
    context: str
    sandbox: str
    checkpoint_interval: int


class Limits(TypedDict, total=False):
    """The limits that `resume` may raise."""

    max_iterations: int
    timeout: Duration
    iteration_timeout: Duration
    idle_timeout: Duration
    max_cost: float
    max_tokens: int
    allow_unknown_cost: bool


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended. `exit_code` is what `ralph run` would have returned; a paused loop can be resumed."""

    loop_id: str
    status: Status
    exit_code: int
    iterations: int
    reason: str = ""
    proof: str = ""
    """red-to-green or new-tests are proven; suite-green+claim and claimed are not."""
    receipt: Receipt | None = None

    @property
    def proven(self) -> bool:
        return self.proof in {"red-to-green", "new-tests"}


def run(
    task: str,
    *,
    directory: str | os.PathLike[str] = ".",
    hooks: LoopHooks | None = None,
    on_event: Callable[[Entry], object] | None = None,
    **options: Unpack[Options],
) -> Ended:
    """Work on a task until it is proven done, a limit is reached, or a human is needed. Raises a RalphError where
    `ralph run` would not start."""
    return Loop.start(task, directory=directory, **options).run(hooks=hooks, on_event=on_event)


class Loop:
    """A loop of a project: one to be run here, or one that runs, rests or ended elsewhere."""

    def __init__(
        self, loop_id: str, *, directory: str | os.PathLike[str] = ".", holding: LoopWriter | None = None
    ) -> None:
        """The loop with this id, to look at and to control; `start` and `resume` give one that can be run."""
        self._project = find_project(Path(directory))
        self._id = reader.resolve(self._project.state, loop_id).state.loop_id
        self._writer = holding

    @classmethod
    def start(
        cls,
        task: str,
        *,
        directory: str | os.PathLike[str] = ".",
        loop_id: str | None = None,
        agent_arguments: Sequence[str] = (),
        **options: Unpack[Options],
    ) -> Self:
        """Register a new loop; `run` runs it."""
        project = find_project(Path(directory))
        settings = layers.load(project.root, _given(dict(options)))
        wanted = starting.Wanted(
            task=task,
            plan=planning.plan_of(settings, project, task, tuple(agent_arguments)),
            allowance=planning.allowance_of(settings),
            configuration=planning.configuration_of(settings),
            loop_id=loop_id,
        )
        writer = starting.begin(project, wanted)
        return cls(writer.state.loop_id, directory=project.root, holding=writer)

    @classmethod
    def resume(cls, loop_id: str, *, directory: str | os.PathLike[str] = ".", **limits: Unpack[Limits]) -> Self:
        """Go on with a loop that was paused, killed, failed or aborted; `run` runs it."""
        project = find_project(Path(directory))
        given = _given(dict(limits))
        state = reader.resolve(project.state, loop_id).state
        allowance, configuration = planning.raised(state, layers.load(project.root, given), given)
        writer = starting.take_up(project, loop_id, allowance=allowance, configuration=configuration)
        return cls(writer.state.loop_id, directory=project.root, holding=writer)

    @property
    def loop_id(self) -> str:
        return self._id

    @property
    def state(self) -> LoopState:
        """As it is at this moment, whoever runs it."""
        return reader.view(self._project.state, self._id).state

    def run(self, *, hooks: LoopHooks | None = None, on_event: Callable[[Entry], object] | None = None) -> Ended:
        """Run it in this process and thread, to its end or until a human is needed."""
        if self._writer is None:
            raise RalphError(f"{self._id} is not held by this program", hint="use Loop.start or Loop.resume")
        writer, self._writer = self._writer, None
        watchers: tuple[Watcher, ...] = (_Listener(on_event),) if on_event else ()
        with starting.driving(self._project, writer, watchers=watchers, hooks=hooks) as driver:
            code = driver.run()
        return self._ended(code)

    def close(self) -> None:
        """Let go of a loop that was started and not run; it can be resumed."""
        if self._writer:
            self._writer.close()
            self._writer = None

    def pause(self, *, now: bool = False) -> None:
        """Ask whoever runs it to set it aside, at the end of its iteration or now."""
        client.ask(self._project.state, self._id, new_request("pause", now=now))

    def abort(self) -> None:
        """End it and everything it started."""
        client.ask(self._project.state, self._id, new_request("abort"))

    def events(self) -> Iterator[Entry]:
        """Its journal so far."""
        loop = self._project.state.loop(self._id)
        return (found for found in journal.scan(loop.journal, self._id) if isinstance(found, Entry))

    @property
    def receipt(self) -> Receipt | None:
        """What was asked, claimed and proven; none before it has ended."""
        try:
            return wire.decode(Receipt, files.read(self._project.state.loop(self._id).receipt))
        except FileNotFoundError:
            return None

    def _ended(self, code: int) -> Ended:
        state = self.state
        last = next((entry.event for entry in self.events() if isinstance(entry.event, LoopFinished)), None)
        return Ended(
            loop_id=self._id,
            status=state.status,
            exit_code=code,
            iterations=state.iteration,
            reason=state.reason or "",
            proof=(last.proof or "") if last else "",
            receipt=self.receipt,
        )


class _Listener:
    """Passes on what happens; what it raises ends the run, as an exception in the caller's own code does."""

    def __init__(self, tell: Callable[[Entry], object]) -> None:
        self._tell = tell

    def happened(self, entry: Entry, state: LoopState) -> None:  # noqa: ARG002  a Watcher
        self._tell(entry)

    def tick(self) -> None:
        pass

    def close(self) -> None:
        pass


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if key == "until" else value for key, value in options.items() if value is not None}
