"""Hooks that are Python callables."""

import time
from collections.abc import Callable
from types import CoroutineType
from typing import Any

import msgspec
from msgspec import UNSET

from untilproven.core.text import cut
from untilproven.model.hooks import Anomaly, HookOutcome
from untilproven.model.iteration import Action, IterationResult
from untilproven.model.task import Task

OUTPUT_BYTES = 4096
"""How much of what a hook printed, or of its traceback, is kept."""
ERROR_BYTES = 1024


class LoopHooks(msgspec.Struct, frozen=True, kw_only=True):
    """Source 002's LoopHooks. What they return is ignored, what they raise is logged; each is waited for."""

    on_task_start: Callable[[Task], object] | None = None
    on_iteration_start: Callable[[Task, int], object] | None = None
    on_action: Callable[[Action], object] | None = None
    on_iteration_end: Callable[[Task, int, IterationResult], object] | None = None
    on_task_end: Callable[[Task, bool], object] | None = None
    on_anomaly: Callable[[Anomaly], object] | None = None


def call(hook: Callable[..., object], arguments: tuple[Any, ...]) -> HookOutcome:
    """Call it, and let nothing but Ctrl-C out."""
    began = time.monotonic()
    error = output = ""
    try:
        returned = hook(*arguments)
        if isinstance(returned, CoroutineType):
            returned.close()
            error = "it is a coroutine function and was not run: hooks are plain functions"
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # noqa: BLE001  sys.exit() in a hook must not end the loop
        error, output = _told(raised)
    return HookOutcome(ok=not error, seconds=since(began), error=error or UNSET, output=output or UNSET)


def since(began: float) -> float:
    return round(time.monotonic() - began, 6)


def _told(raised: BaseException) -> tuple[str, str]:
    """The error in a line, and where it came from."""
    import traceback  # noqa: PLC0415  costs start-up time, and is needed only now

    line = "".join(traceback.format_exception_only(raised)).strip()
    return cut(line, ERROR_BYTES), cut("".join(traceback.format_exception(raised)), OUTPUT_BYTES)
