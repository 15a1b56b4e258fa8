"""Telling the hooks what happens. Whatever they do, the loop goes on."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from untilproven.core.text import cut
from untilproven.model import wire
from untilproven.model.hooks import Anomaly, Hook, HookCall, HookOutcome
from untilproven.model.iteration import Action, IterationResult
from untilproven.model.state import LoopState
from untilproven.model.task import Task, TaskStatus
from untilproven.runtime.hooks.callables import ERROR_BYTES, LoopHooks, call
from untilproven.runtime.hooks.log import append
from untilproven.store import clock

CALL_SECONDS = 5.0
"""How long one command may take."""
ITERATION_SECONDS = 30.0
"""How long the hooks of one iteration may take together before the commands of onAction are skipped."""
REMEMBERED = 20


def task_of(state: LoopState) -> Task:
    """The task of the queue that a loop was begun for; any other loop is a task of its own."""
    words = state.task or ""
    of_queue = state.plan.task_id if state.plan else UNSET
    title = next((line.strip() for line in words.splitlines() if line.strip()), "")
    return Task(
        id=of_queue or state.loop_id,
        title=title,
        description=words or UNSET,
        status=TaskStatus.IN_PROGRESS,
        created_at=state.started_at,
    )


class Hooks:
    """The hooks of one loop. `commands` are by source 002's names: onTaskStart, onAction.

    `problems` has what could not even be logged, each once.
    """

    def __init__(
        self,
        callables: LoopHooks,
        commands: Mapping[str, str],
        log: Path,
        room_root: Path,
        loop_id: str,
        marker: str,
        *,
        call_seconds: float = CALL_SECONDS,
        iteration_seconds: float = ITERATION_SECONDS,
    ) -> None:
        given: dict[Hook, Callable[..., object] | None] = {
            Hook.TASK_START: callables.on_task_start,
            Hook.ITERATION_START: callables.on_iteration_start,
            Hook.ACTION: callables.on_action,
            Hook.ITERATION_END: callables.on_iteration_end,
            Hook.TASK_END: callables.on_task_end,
            Hook.ANOMALY: callables.on_anomaly,
        }
        self._callables = {hook: callable_ for hook, callable_ in given.items() if callable_ is not None}
        self._commands = {hook: commands[hook] for hook in Hook if commands.get(hook)}
        self._log, self._root, self._loop_id, self._marker = log, room_root, loop_id, marker
        self._call_seconds, self._iteration_seconds = call_seconds, iteration_seconds
        self._iteration = 0
        self._used = 0.0
        self._skipped = 0
        self.problems: list[str] = []

    def on_task_start(self, task: Task) -> None:
        self._tell(Hook.TASK_START, self._iteration, (task,), task=task)

    def on_iteration_start(self, task: Task, iteration: int) -> None:
        self._log_skipped()
        self._iteration, self._used = iteration, 0.0
        self._tell(Hook.ITERATION_START, iteration, (task, iteration), task=task)

    def on_action(self, action: Action) -> None:
        self._tell(Hook.ACTION, self._iteration, (action,), action=action)

    def on_iteration_end(self, task: Task, iteration: int, result: IterationResult) -> None:
        self._log_skipped()
        self._tell(Hook.ITERATION_END, iteration, (task, iteration, result), task=task, result=result)

    def on_task_end(self, task: Task, success: bool) -> None:
        self._log_skipped()
        self._tell(Hook.TASK_END, self._iteration, (task, success), task=task, success=success)

    def on_anomaly(self, anomaly: Anomaly) -> None:
        self._tell(Hook.ANOMALY, anomaly.iteration, (anomaly,), anomaly=anomaly)

    def _tell(self, hook: Hook, iteration: int, arguments: tuple[Any, ...], **words: wire.Record | bool) -> None:
        given, command = self._callables.get(hook), self._commands.get(hook)
        outcomes: list[HookOutcome] = []
        if given is not None:
            outcomes.append(call(given, arguments))
            self._used += outcomes[-1].seconds
        if command is not None and self._may_run(hook):
            outcomes.append(self._run(command, hook, iteration, words))
            self._used += outcomes[-1].seconds
        if outcomes:
            self._write(hook, iteration, *outcomes)

    def _may_run(self, hook: Hook) -> bool:
        if hook is Hook.ACTION and self._used >= self._iteration_seconds:
            self._skipped += 1
            return False
        return True

    def _run(self, command: str, hook: Hook, iteration: int, words: Mapping[str, wire.Record | bool]) -> HookOutcome:
        from untilproven.runtime.hooks.commands import run_command  # noqa: PLC0415  most loops have no commands

        try:
            stdin = self._as_json(hook, iteration, words)
        except Exception as error:  # noqa: BLE001  what is told may hold anything
            return HookOutcome(ok=False, seconds=0.0, error=cut(f"could not be told: {error}", ERROR_BYTES))
        left = self._iteration_seconds - self._used
        return run_command(
            command,
            root=self._root,
            stdin=stdin,
            env={"RALPH_HOOK": hook.value, "RALPH_LOOP_ID": self._loop_id, "RALPH_ITERATION": str(iteration)},
            marker=self._marker,
            timeout=min(self._call_seconds, left) if hook is Hook.ACTION else self._call_seconds,
        )

    def _as_json(self, hook: Hook, iteration: int, words: Mapping[str, wire.Record | bool]) -> bytes:
        told: dict[str, Any] = {"hook": hook.value, "loop_id": self._loop_id, "iteration": iteration}
        for name, value in words.items():
            told[name] = wire.to_builtins(value) if isinstance(value, wire.Record) else value
        return msgspec.json.encode(told) + b"\n"

    def _log_skipped(self) -> None:
        if self._skipped:
            why = f"commands skipped: the hooks of this iteration had used {self._iteration_seconds:.3g} s"
            outcome = HookOutcome(ok=False, seconds=0.0, error=f"{self._skipped} {why}")
            self._skipped = 0
            self._write(Hook.ACTION, self._iteration, outcome)

    def _write(self, hook: Hook, iteration: int, *outcomes: HookOutcome) -> None:
        made = HookCall(
            timestamp=clock.now(),
            hook_name=hook.value,
            loop_id=self._loop_id,
            iteration=iteration,
            outcomes=outcomes,
        )
        try:
            append(self._log, made)
        except Exception as error:  # noqa: BLE001  a full disk is the journal's business to report
            self._remember(f"{self._log.name} cannot be written: {getattr(error, 'strerror', None) or error}")
            for outcome in outcomes:
                if outcome.error:
                    self._remember(f"{hook.value}: {outcome.error}")

    def _remember(self, problem: str) -> None:
        if problem not in self.problems and len(self.problems) < REMEMBERED:
            self.problems.append(problem)
