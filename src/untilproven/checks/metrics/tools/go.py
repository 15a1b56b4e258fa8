"""`go vet` and golangci-lint."""

import re
from typing import Any

import msgspec

from untilproven.checks.metrics.readers.documents import decoded
from untilproven.checks.metrics.tools.tool import Counts, Tool, always, has
from untilproven.checks.metrics.tools.tree import Tree
from untilproven.checks.reports.results import Unreadable

_CONFIGURATIONS = tuple(f".golangci.{ending}" for ending in ("yml", "yaml", "toml", "json"))
_SECOND_VERSION = r"""^[\s{]*["']?version["']?\s*[:=]\s*["']?2"""


def _read_vet(report: bytes) -> Counts:
    """A document for each package, by its analyzers; older versions put a line with its name before it."""
    text = re.sub(r"(?m)^#.*$", "", report.decode("utf-8", "replace")).strip()
    # Documents stand one after another; what is between them cannot stand in a string, where a brace is no line.
    documents = re.split(r"(?m)^(?=\{)", text)
    packages = [decoded(one.encode(), dict[str, dict[str, Any]], "go vet") for one in documents if one.strip()]
    if not packages:
        raise Unreadable("it looked at no package")
    errors = 0
    for analyzers in (found for package in packages for found in package.values()):
        for name, found in analyzers.items():
            if not isinstance(found, list):
                raise Unreadable(f"its {name} could not look: {found}")
            errors += len(found)
    return Counts(errors)


class _Issue(msgspec.Struct, rename="pascal"):
    from_linter: str
    text: str = ""
    severity: str = ""


class _Golangci(msgspec.Struct, rename="pascal"):
    issues: list[_Issue] | None = None


def _golangci_words(tree: Tree) -> tuple[str, ...]:
    """Everything it finds, not the first few of a kind."""
    second = any(has(_SECOND_VERSION, tree.text(name)) for name in _CONFIGURATIONS)
    form = ("--output.json.path=stdout", "--show-stats=false") if second else ("--out-format=json",)
    return ("run", *form, "--issues-exit-code=1", "--max-issues-per-linter=0", "--max-same-issues=0", "--fix=false")


def _read_golangci(report: bytes) -> Counts:
    """The line that is its document; the project's settings may have it print in other forms as well."""
    line = next((line for line in report.splitlines() if line.startswith(b'{"Issues":')), b"")
    issues = decoded(line, _Golangci, "golangci-lint").issues or []
    for issue in issues:
        if issue.from_linter == "typecheck":
            raise Unreadable(f"the code does not compile: {issue.text}")
    warnings = sum(issue.severity.lower() in {"warning", "warn", "info"} for issue in issues)
    return Counts(len(issues) - warnings, warnings)


TOOLS = (
    Tool(
        name="go vet",
        kind="types",
        program="go",
        is_used=lambda tree: tree.has("go.mod"),
        words=always("vet", "-json", "./..."),
        read=_read_vet,
        # Of a package that does not compile it names the first error alone, and fails.
        answers=frozenset({0}),
        fails_on="nothing",
        on_stderr=True,
    ),
    Tool(
        name="golangci-lint",
        kind="lint",
        program="golangci-lint",
        is_used=lambda tree: tree.has(*_CONFIGURATIONS),
        words=_golangci_words,
        read=_read_golangci,
        answers=frozenset({0, 1}),
        fails_on="anything",
    ),
)
