"""`cargo check` and clippy: one JSON object a line, and a last one that says whether it all went well."""

import re
from collections.abc import Iterator

import msgspec

from untilproven.checks.metrics.readers.documents import decoded
from untilproven.checks.metrics.tools.tool import Counts, Tool, always, has
from untilproven.checks.reports.results import Unreadable

_OPTIONS = ("--offline", "--workspace", "--all-targets", "--keep-going", "--message-format=json")
_COMPILER_S = re.compile(r"E\d{4}")


class _Code(msgspec.Struct, frozen=True):
    code: str = ""


class _Span(msgspec.Struct, frozen=True):
    file_name: str
    byte_start: int
    byte_end: int


class _Diagnostic(msgspec.Struct, frozen=True):
    message: str
    level: str
    code: _Code | None = None
    spans: tuple[_Span, ...] = ()


class _Line(msgspec.Struct):
    reason: str
    message: _Diagnostic | None = None
    success: bool | None = None


def _diagnostics(report: bytes) -> Iterator[_Diagnostic]:
    """Each once: what is in a library is told of the library and of its tests."""
    lines = [decoded(line, _Line, "cargo") for line in report.splitlines() if line.startswith(b"{")]
    if not lines or lines[-1].reason != "build-finished":
        raise Unreadable("it did not come to its end")
    found = dict.fromkeys(line.message for line in lines if line.reason == "compiler-message" and line.message)
    if lines[-1].success == any(_is_error(one) for one in found):
        raise Unreadable("it failed without naming an error" if not lines[-1].success else "it names errors, and none")
    yield from found


def _is_error(diagnostic: _Diagnostic) -> bool:
    return diagnostic.level.startswith("error")  # or "error: internal compiler error"


def _read_check(report: bytes) -> Counts:
    found = list(_diagnostics(report))
    return Counts(sum(map(_is_error, found)), sum(one.level == "warning" for one in found))


def _read_clippy(report: bytes) -> Counts:
    found = list(_diagnostics(report))
    for one in found:
        if _is_error(one) and (one.code is None or _COMPILER_S.fullmatch(one.code.code)):
            raise Unreadable(f"the code does not compile: {one.message}")
    return Counts(sum(map(_is_error, found)), sum(one.level == "warning" for one in found))


TOOLS = (
    Tool(
        name="cargo check",
        kind="types",
        program="cargo",
        is_used=lambda tree: tree.has("Cargo.toml"),
        words=always("check", *_OPTIONS),
        read=_read_check,
        answers=frozenset({0, 101}),
        fails_on="errors",
    ),
    Tool(
        name="clippy",
        kind="lint",
        program="cargo",
        needs="cargo-clippy",
        is_used=lambda tree: tree.has("clippy.toml", ".clippy.toml") or has(r"\bclippy\b", tree.text("Cargo.toml")),
        words=always("clippy", *_OPTIONS),
        read=_read_clippy,
        answers=frozenset({0, 101}),
        fails_on="errors",
    ),
)
