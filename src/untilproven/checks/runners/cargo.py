"""`cargo test` as text, and `cargo nextest run` as JSON."""

from pathlib import Path

from untilproven.checks.reports import libtest
from untilproven.checks.runners.reporting import Call, Reporting

_QUIET = frozenset({"-q", "--quiet"})


def reporting(call: Call, scratch: Path) -> Reporting | None:
    report = scratch / "cargo.txt"
    match [word for word in call.arguments if not word.startswith("+")]:
        case ["test" | "t", *_]:
            return Reporting(
                dropped=_QUIET,
                printed=report,
                read=lambda: libtest.read(report),
                shown=lambda: libtest.shown(report),
            )
        case ["nextest", "run" | "r", *_]:
            return Reporting(
                before="NEXTEST_EXPERIMENTAL_LIBTEST_JSON=1",
                last="--message-format libtest-json",
                printed=report,
                read=lambda: libtest.read_json(report),
                shown=lambda: libtest.shown(report),
            )
    return None
