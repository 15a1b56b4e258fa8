"""mypy, pyright and ruff."""

import msgspec

from untilproven.checks.metrics.readers.documents import decoded
from untilproven.checks.metrics.tools.tool import Counts, Tool, always, has
from untilproven.checks.metrics.tools.tree import Tree
from untilproven.checks.reports.results import Unreadable

_TARGETS = ("files", "packages", "modules")
_INI_TARGETS = rf"^\s*(?:{'|'.join(_TARGETS)})\s*="


def _uses_mypy(tree: Tree) -> bool:
    configured = tree.has("mypy.ini", ".mypy.ini") or tree.setting("tool", "mypy")
    return configured or has(r"^\[mypy\]", tree.text("setup.cfg")) or tree.needs_python("mypy")


def _mypy_words(tree: Tree) -> tuple[str, ...]:
    """Without a cache it never believes what an earlier run, or somebody else, left in one."""
    named = any(has(_INI_TARGETS, tree.text(name)) for name in ("mypy.ini", ".mypy.ini"))
    named = named or any(tree.setting("tool", "mypy", key) for key in _TARGETS)
    named = named or has(rf"^\[mypy\][^\[]*{_INI_TARGETS}", tree.text("setup.cfg"))
    options = ("--output=json", "--cache-dir=/dev/null", "--no-error-summary", "--no-install-types")
    return options if named else (*options, ".")


class _Said(msgspec.Struct):
    severity: str


def _read_mypy(report: bytes) -> Counts:
    """One document a line; notes are no errors."""
    said = [decoded(line, _Said, "mypy") for line in report.splitlines() if line.strip()]
    return Counts(sum(one.severity == "error" for one in said))


class _Summary(msgspec.Struct, rename="camel"):
    files_analyzed: int
    error_count: int
    warning_count: int


class _Pyright(msgspec.Struct, rename="camel"):
    general_diagnostics: list[_Said]
    summary: _Summary


def _read_pyright(report: bytes) -> Counts:
    found = decoded(report, _Pyright, "pyright")
    if not found.summary.files_analyzed:
        raise Unreadable("it looked at no file")
    errors = sum(one.severity == "error" for one in found.general_diagnostics)
    if errors != found.summary.error_count:
        raise Unreadable(f"it lists {errors} errors and says that there are {found.summary.error_count}")
    return Counts(errors, found.summary.warning_count)


def _uses_ruff(tree: Tree) -> bool:
    return tree.has("ruff.toml", ".ruff.toml") or tree.setting("tool", "ruff") or tree.needs_python("ruff")


class _Violation(msgspec.Struct):
    severity: str = "error"


def _read_ruff(report: bytes) -> Counts:
    found = decoded(report, list[_Violation], "ruff")
    warnings = sum(one.severity != "error" for one in found)
    return Counts(len(found) - warnings, warnings)


TOOLS = (
    Tool(
        name="mypy",
        kind="types",
        program="mypy",
        is_used=_uses_mypy,
        words=_mypy_words,
        read=_read_mypy,
        answers=frozenset({0, 1}),
        fails_on="errors",
    ),
    Tool(
        name="pyright",
        kind="types",
        program="pyright",
        is_used=lambda tree: (
            tree.has("pyrightconfig.json")
            or tree.setting("tool", "pyright")
            or tree.needs_python("pyright")
            or tree.needs_node("pyright")
        ),
        words=always("--outputjson"),
        read=_read_pyright,
        answers=frozenset({0, 1}),
        fails_on="errors",
    ),
    Tool(
        name="ruff",
        kind="lint",
        program="ruff",
        is_used=_uses_ruff,
        words=always("check", "--output-format=json", "--no-cache", "--no-fix", "--no-fix-only", "."),
        read=_read_ruff,
        answers=frozenset({0, 1}),
        fails_on="anything",
    ),
)
