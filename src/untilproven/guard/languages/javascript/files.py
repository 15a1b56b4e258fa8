"""What a file as a whole says to tools and to a test run."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.facts import Facts
from untilproven.guard.kinds import kind_of
from untilproven.guard.languages.javascript.commented import commented
from untilproven.guard.languages.javascript.declarations import declarations
from untilproven.guard.languages.javascript.holding import taking_hold
from untilproven.guard.languages.javascript.naming import name_of
from untilproven.guard.languages.javascript.nodes import FUNCTIONS, bare, written
from untilproven.guard.languages.javascript.survey import Survey, is_at_top, survey
from untilproven.guard.languages.javascript.tested import asked
from untilproven.guard.languages.syntax import TODO, flat_text

_SUPPRESSION = re.compile(
    r"eslint-disable|@ts-(?:ignore|nocheck|expect-error)|tslint:disable|(?:istanbul|c8|v8) ignore|biome-ignore"
    r"|jshint\s+ignore|\$Flow(?:FixMe|Ignore|ExpectedError)|@flow-ignore|oxlint-disable|deno-lint-ignore|NOSONAR"
    r"|[sS]tryker disable|standard-disable|@vitest-ignore|node:coverage (?:disable|ignore)"
)
_EXIT = re.compile(r"process\.(?:exit|abort|reallyExit|kill)|Deno\.exit")
_ON_SIGNAL = re.compile(r"process\s*\.(?:on|once|addListener)\(\s*[\"']SIG(?:TERM|INT|HUP|QUIT|BREAK|USR[12])[\"']")
_OWN_NUMBER = re.compile(r"(?<![\w$.])process\.pid\b")


def facts(root: SgNode, path: str) -> Facts:
    found = survey(root)
    return Facts(
        declarations=declarations(found, root),
        suppressions=_remarks(found, _SUPPRESSION),
        todos=_remarks(found, TODO),
        commented=commented(found.comments, path),
        hooks=taking_hold(found, root, path),
        exits=_exits(found, is_loaded=kind_of(path) in {"test", "configuration"}),
        flags=_flags(found),
        asks_if_tested=_asking(found),
    )


def _remarks(found: Survey, saying: re.Pattern[str]) -> Iterator[str]:
    yield from (text for text in map(flat_text, found.comments) if saying.search(text))


def _asking(found: Survey) -> Iterator[str]:
    said = (text for node in found.asking if (text := asked(node)) and not _is_inside(node))
    yield from dict.fromkeys(text for text in said if not (text == "import.meta.vitest" and found.openings))


def _is_inside(node: SgNode) -> bool:
    """Whether it stands in a function that has a name."""
    return any(above.kind() in FUNCTIONS and name_of(above) is not None for above in node.ancestors())


def _exits(found: Survey, *, is_loaded: bool) -> Iterator[str]:
    """`is_loaded` if a test run loads the file: then functions of it count as well."""
    for call in found.calls:
        callee = call.field("function")
        if callee is None or not _EXIT.fullmatch(callee.text()):
            continue
        if callee.text() == "process.kill" and not _OWN_NUMBER.search(call.text()):
            continue
        if (is_loaded or not _is_inside(call)) and not _is_on_signal(call):
            yield written(call)
    for node in found.assignments:
        left, right = node.field("left"), node.field("right")
        if left is not None and right is not None and left.text() == "process.exitCode" and right.text() == "0":
            yield written(node)


def _is_on_signal(node: SgNode) -> bool:
    """It is done when the system asks the process to end: no test run comes to it."""
    return any(above.kind() == "call_expression" and _ON_SIGNAL.match(above.text()) for above in node.ancestors())


def _flags(found: Survey) -> Iterator[tuple[str, bool]]:
    for binding in found.bindings:
        name, value = binding.field("name"), binding.field("value")
        if (
            name is None
            or value is None
            or name.kind() != "identifier"
            or value.kind() == "array"
            or not is_at_top(binding)
        ):
            continue
        if value.kind() in {"true", "false"}:
            yield name.text(), value.kind() == "true"
            continue
        for pair in value.named_children():
            key, said = pair.field("key"), pair.field("value")
            if key is not None and said is not None and bare(said).kind() in {"true", "false"}:
                yield f"{name.text()}.{key.text().strip(chr(39) + chr(34))}", bare(said).kind() == "true"
    for node in found.assignments:
        left, right = node.field("left"), node.field("right")
        if left and right and right.kind() in {"true", "false"} and is_at_top(node):
            yield written(left), right.kind() == "true"
