"""Hooks that are commands: a line of shell in the project, on the host, trusted before it got here."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

from msgspec import UNSET

from untilproven.core.text import cut
from untilproven.model.hooks import HookOutcome
from untilproven.model.program import Ending, Grades, Limits
from untilproven.process.records import Program
from untilproven.process.spool import Excerpt
from untilproven.process.watch import run
from untilproven.runtime.hooks.callables import ERROR_BYTES, OUTPUT_BYTES, since

_GRADES = Grades(interrupt=0, terminate=0.5)
_NOTE_BYTES = 64


def run_command(
    command: str, *, root: Path, stdin: bytes, env: Mapping[str, str], marker: str, timeout: float
) -> HookOutcome:
    """Run it to its end, or to the end of its time; nothing that it started is left, and nothing is raised."""
    began = time.monotonic()
    printed = Excerpt(OUTPUT_BYTES - _NOTE_BYTES)
    try:
        ending = run(
            Program(command=command, cwd=root, env={**os.environ, **env}, stdin=stdin, marker=marker, merged=True),
            output=lambda _, chunk: printed.write(chunk),
            limits=Limits(wall=timeout),
            grades=_GRADES,
        )
    except Exception as failure:  # noqa: BLE001  no processes left, no memory: not the loop's business
        return HookOutcome(ok=False, seconds=since(began), error=cut(f"could not be run: {failure}", ERROR_BYTES))
    error = _error(ending, timeout)
    return HookOutcome(
        ok=not error,
        seconds=since(began),
        exit_code=UNSET if ending.exit_code is None or ending.stopped_because else ending.exit_code,
        error=cut(error, ERROR_BYTES) if error else UNSET,
        output=cut(printed.text(), OUTPUT_BYTES) or UNSET,
    )


def _error(ending: Ending, timeout: float) -> str:
    if ending.not_started:
        return ending.not_started
    if ending.stopped_because == "wall":
        return f"not done after {timeout:.3g} s, and ended"
    if ending.stopped_because:
        return f"ended: {ending.stopped_because}"
    if ending.signal is not None:
        return f"died of signal {ending.signal}"
    if ending.survivors:
        return f"{ending.survivors} of its processes could not be ended"
    return f"exit code {ending.exit_code}" if ending.exit_code else ""
