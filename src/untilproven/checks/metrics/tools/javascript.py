"""tsc and eslint."""

import re

import msgspec

from untilproven.checks.metrics.readers.documents import decoded
from untilproven.checks.metrics.tools.tool import Counts, Tool, always
from untilproven.checks.metrics.tools.tree import Tree
from untilproven.checks.reports.results import Unreadable

_ERROR = re.compile(r"(?:\S.*\(\d+,\d+\): )?error TS\d+: ")
_FILE = re.compile(r"(?:/|[A-Z]:).*\.(?:[cm]?[jt]sx?|json)")


def _read_tsc(report: bytes) -> Counts:
    """An error a line, its details indented below it; then the files that were looked at."""
    lines = report.decode("utf-8", "replace").splitlines()
    errors = sum(_ERROR.match(line) is not None for line in lines)
    if not any(_FILE.fullmatch(line) and "/node_modules/" not in line for line in lines):
        # A tsconfig.json that only refers to others has no files of its own, and so no errors.
        raise Unreadable("it looked at no file of the project")
    return Counts(errors)


class _Message(msgspec.Struct):
    severity: int


class _File(msgspec.Struct, rename="camel"):
    messages: list[_Message]
    error_count: int
    warning_count: int


def _read_eslint(report: bytes) -> Counts:
    found = decoded(report, list[_File], "eslint")
    counts = Counts(sum(file.error_count for file in found), sum(file.warning_count for file in found))
    listed = [message.severity for file in found for message in file.messages]
    if Counts(listed.count(2), listed.count(1)) != counts:
        raise Unreadable("it says another number of problems than it lists")
    return counts


def _uses_eslint(tree: Tree) -> bool:
    return (
        tree.matches("eslint.config.*")
        or tree.matches(".eslintrc*")
        or "eslintConfig" in tree.json("package.json")
        or tree.needs_node("eslint")
    )


TOOLS = (
    Tool(
        name="tsc",
        kind="types",
        program="tsc",
        is_used=lambda tree: tree.has("tsconfig.json"),
        words=always(
            *("--noEmit", "--pretty", "false", "--listFiles"),
            # What keeps it from writing down what it has built, whatever the project's settings say.
            *("--incremental", "false", "--composite", "false", "--tsBuildInfoFile", "null"),
        ),
        read=_read_tsc,
        answers=frozenset({0, 1, 2}),
        fails_on="errors",
    ),
    Tool(
        name="eslint",
        kind="lint",
        program="eslint",
        is_used=_uses_eslint,
        words=always("--format", "json", "."),
        read=_read_eslint,
        answers=frozenset({0, 1}),
        fails_on="errors",
    ),
)
