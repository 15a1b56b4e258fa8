"""`cargo test` as text, and `cargo nextest run` as JSON."""

from untilproven.checks.reports import libtest
from untilproven.checks.runners.reporting import Call, Reporting
from untilproven.contract import Exchange

_QUIET = frozenset({"-q", "--quiet"})


def reporting(call: Call, scratch: Exchange) -> Reporting | None:
    report, printed = scratch.outside / "cargo.txt", scratch.inside / "cargo.txt"
    match [word for word in call.arguments if not word.startswith("+")]:
        case ["test" | "t", *_]:
            return Reporting(
                dropped=_QUIET,
                printed=printed,
                read=lambda: libtest.read(report),
                shown=lambda: libtest.shown(report),
            )
        case ["nextest", "run" | "r", *_]:
            return Reporting(
                before="NEXTEST_EXPERIMENTAL_LIBTEST_JSON=1",
                last="--message-format libtest-json",
                printed=printed,
                read=lambda: libtest.read_json(report),
                shown=lambda: libtest.shown(report),
            )
    return None
