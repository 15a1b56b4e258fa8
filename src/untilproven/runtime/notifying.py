"""For whoever does not look on: a command of the user's is told when a human is needed, and when the loop has ended."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from untilproven.core.text import cut, printable
from untilproven.core.waiting import needs_a_human
from untilproven.model import events
from untilproven.model.fields import PauseReason
from untilproven.model.hooks import HookCall
from untilproven.model.state import LoopState
from untilproven.runtime.hooks.log import append
from untilproven.store import clock
from untilproven.store.layout import LoopDirectory

SECONDS = 5.0
"""How long it may take; then it is ended."""

Occasion = Literal["gate.opened", "gate.waiting", "loop.paused", "loop.finished"]
_MESSAGE_BYTES = 1024


class Notifier:
    """A watcher. Whatever becomes of the command is logged beside the hooks, and nothing of it reaches the loop."""

    def __init__(self, command: str, loop: LoopDirectory, root: Path, warn: Callable[[str], None]) -> None:
        self._command, self._loop, self._root, self._warn = command, loop, root, warn

    def happened(self, entry: events.Entry, state: LoopState) -> None:
        match entry.event:
            case events.StatusChanged() as change if needs_a_human(change):
                at_gate = change.pause_reason is PauseReason.GATE
                self.tell("gate.opened" if at_gate else "loop.paused", change.reason or "", state.iteration)
            case events.LoopFinished() as end:
                why = f": {end.reason}" if end.reason else ""
                self.tell("loop.finished", f"{end.status.value}{why}", end.iterations)

    def tell(self, occasion: Occasion, message: str, iteration: int) -> None:
        from untilproven.runtime.hooks.commands import run_command  # noqa: PLC0415  not before somebody is told

        name = self._loop.loop_id
        words = " ".join(printable(message.replace("LOOP", name)).split())
        outcome = run_command(
            self._command,
            root=self._root,
            stdin=b"",
            env={"RALPH_LOOP": name, "RALPH_EVENT": occasion, "RALPH_MESSAGE": cut(words, _MESSAGE_BYTES)},
            marker=name,
            timeout=SECONDS,
        )
        if outcome.error:
            self._warn(f"nobody was notified: {outcome.error}")
        call = HookCall(
            timestamp=clock.now(), hook_name="notify", loop_id=name, iteration=iteration, outcomes=(outcome,)
        )
        with contextlib.suppress(OSError):  # a full disk is the journal's business to report
            append(self._loop.hook_log, call)

    def tick(self) -> None:
        """Only what is recorded is told."""

    def noted(self, words: str) -> None:
        """Said to whoever looks on, and not to others."""

    def close(self) -> None:
        """Every command was run to its end."""


def notifier_of(state: LoopState, loop: LoopDirectory, root: Path, warn: Callable[[str], None]) -> Notifier | None:
    """None if the user wants no notice: only what the loop was started with is ever run."""
    command = state.plan.notify if state.plan else None
    return Notifier(command, loop, root, warn) if command else None
