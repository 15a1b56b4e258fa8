"""When the program itself is at fault: a report to paste, and exit code 3."""

import contextlib
import platform
import sys
import traceback
from pathlib import Path

from untilproven import __version__
from untilproven.cli import output
from untilproven.core.text import text
from untilproven.errors import RalphError
from untilproven.store import clock
from untilproven.store.vouch import user_state


class InternalError(RalphError):
    kind = "internal"
    exit_code = 3


def internal_error(error: Exception, argv: list[str], *, as_json: bool) -> int:
    """Write the report where the user can find it; if even that fails, print it."""
    report = text(_text(error, argv))
    path: Path | None = None
    with contextlib.suppress(OSError, RuntimeError, RalphError):
        reports = user_state() / "reports"
        reports.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = reports / f"report-{clock.now():%Y%m%d-%H%M%S-%f}.md"
        path.write_text(report, encoding="utf-8")
    hint = f"a report to paste into an issue is in {path}" if path and path.exists() else report
    failure = InternalError(text(f"internal error: {type(error).__name__}: {error}"), hint=hint)
    output.error(failure, as_json=as_json)
    return failure.exit_code


def _text(error: Exception, argv: list[str]) -> str:
    trace = "".join(traceback.format_exception(error))
    return (
        f"### untilproven {__version__}\n\n"
        f"- Python {platform.python_version()} ({sys.executable})\n"
        f"- {platform.platform()}\n"
        f"- command: ralph {' '.join(map(output.quoted, argv))}\n\n"
        f"```\n{trace}```\n"
    )
