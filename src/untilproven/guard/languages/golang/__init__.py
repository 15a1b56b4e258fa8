"""Go."""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache

from ast_grep_py import Config, SgNode

from untilproven.guard.facts import Commented, Facts
from untilproven.guard.languages.golang.declarations import declarations
from untilproven.guard.languages.golang.functions import asks_if_tested, function
from untilproven.guard.languages.golang.statements import EXITS
from untilproven.guard.languages.golang.tests import test
from untilproven.guard.languages.syntax import TODO, code_in_comments, flat_text, is_broken, of_kinds, parsed

__all__ = ["facts", "function", "test"]

_SUPPRESSION = re.compile(
    r"//\s*(?:nolint\b|#nosec\b|nosec\b|nosemgrep\b|lint:(?:file-)?ignore\b|revive:disable|gosec:disable|golangci-lint\b"
    r"|exhaustive:ignore|codespell:ignore|staticcheck:ignore)"
)
_DIRECTIVE = re.compile(
    r"//(?:go:|line |export |extern |sys\b|\s*\+build|nolint|lint:|\s*(?i:unordered )?(?i:output):)"
)
_TEST_IN_COMMENT = re.compile(
    r"\bfunc\s+(?:\(.*\)\s*)?(?:Test|Fuzz)[A-Z_0-9]?\w*\(|\.Run\(\"|^\s*F?It\(\"", re.MULTILINE
)
_STATEMENTS = frozenset(
    {
        "short_var_declaration",
        "assignment_statement",
        "if_statement",
        "for_statement",
        "return_statement",
        "go_statement",
    }
    | {"defer_statement", "expression_switch_statement", "type_switch_statement", "select_statement", "var_declaration"}
    | {"function_declaration", "method_declaration", "expression_statement", "const_declaration", "type_declaration"}
    | {"inc_statement", "dec_statement", "send_statement", "import_declaration"}
)
_TAKES_HOLD = re.compile(r"flag\.Set\(\"test\.|os\.Args\b|os\.Exit\(|os\.Std(?:out|err) = ")
_SUITE_HOOKS: Config = {
    "rule": {
        "kind": "call_expression",
        "has": {
            "field": "function",
            "regex": "^(?:BeforeSuite|SynchronizedBeforeSuite|AfterSuite|ReportAfterSuite|ReportAfterEach)$",
        },
    }
}


def facts(root: SgNode, path: str) -> Facts:
    comments = _Comments(root)
    top = [child for child in root.children() if child.kind() in {"var_declaration", "const_declaration"}]
    is_test = path.endswith("_test.go")
    return Facts(
        declarations=declarations(root, path),
        suppressions=comments.suppressions(),
        todos=comments.todos(),
        commented=comments.commented(),
        hooks=_hooks(root, path),
        exits=_exits(root, path),
        flags=_flags(top),
        asks_if_tested=() if is_test else (one for child in top for one in asks_if_tested(child)),
    )


class _Comments:
    def __init__(self, root: SgNode) -> None:
        self._root = root

    @cached_property
    def _all(self) -> list[tuple[SgNode, str]]:
        return [(comment, comment.text()) for comment in self._root.find_all(kind="comment")]

    def suppressions(self) -> Iterator[str]:
        yield from (text for _, text in self._all if _SUPPRESSION.match(text))

    def todos(self) -> Iterator[str]:
        yield from (text for _, text in self._all if TODO.search(text))

    def commented(self) -> Iterator[Commented]:
        """What stands indented or alone in the text above a declaration is an example, not code that was taken out."""
        comments = [comment for comment, text in self._all if not _DIRECTIVE.match(text)]
        outside = [comment for comment in comments if comment.range().start.column == 0]
        inside = [comment for comment in comments if comment.range().start.column > 0]
        yield from code_in_comments(inside, _is_code, _declares_test)
        yield from code_in_comments(outside, lambda text: _is_no_example(text) and _is_code(text), _declares_test)


def _is_no_example(text: str) -> bool:
    return not text.startswith(("\t", "  ")) and ("\n" in text or _declares_test(text))


def _declares_test(text: str) -> bool:
    return bool(_TEST_IN_COMMENT.search(text))


@lru_cache(maxsize=1024)
def _is_code(text: str) -> bool:
    for source in (f"package p\nfunc _() {{\n{text}\n}}", f"package p\n{text}"):
        root = parsed(source, "go")
        if is_broken(root):
            continue
        top = root.named_children()[1:]
        body = top[0].field("body") if source.startswith("package p\nfunc _()") and len(top) == 1 else None
        inner = [one for block in body.named_children() for one in block.named_children()] if body is not None else top
        return bool(inner) and all(_is_statement(one) for one in inner if one.kind() != "comment")
    return False


def _is_statement(node: SgNode) -> bool:
    if node.kind() == "expression_statement":
        return bool(node.named_children()) and node.named_children()[0].kind() == "call_expression"
    return node.kind() in _STATEMENTS


def _hooks(root: SgNode, path: str) -> Iterator[str]:
    if not path.endswith("_test.go"):
        return
    for one in _starters(root):
        body, named = one.field("body"), one.field("name")
        if named is not None and named.text() == "init" and not _TAKES_HOLD.search(one.text()):
            continue
        yield flat_text(one)[: -len(flat_text(body))].strip() if body is not None else flat_text(one)
    for call in root.find_all(_SUITE_HOOKS) if "Suite(" in root.text() or "ReportAfter" in root.text() else ():
        yield call.text().split("(")[0]


def _starters(root: SgNode) -> Iterator[SgNode]:
    """Functions that are run before, or instead of, the tests."""
    for child in root.children():
        named = child.field("name") if child.kind() == "function_declaration" else None
        if named is not None and named.text() in {"TestMain", "init"}:
            yield child


def _exits(root: SgNode, path: str) -> Iterator[str]:
    for one in _starters(root):
        calls = [flat_text(call) for call in one.find_all(kind="call_expression")]
        named = one.field("name")
        in_main = named is not None and named.text() == "TestMain"
        if in_main and not path.endswith("_test.go"):
            continue
        for call in calls:
            if call.startswith(EXITS) and (not in_main or re.search(r"\(0\)$|Goexit", call)):
                yield call
        if in_main and not any(re.search(r"\bRun\(\)|VerifyTestMain|\w+\(m\b", call) for call in calls):
            yield "TestMain without m.Run()"


def _flags(top: list[SgNode]) -> Iterator[tuple[str, bool]]:
    for declaration in top:
        for spec in declaration.find_all(of_kinds("var_spec", "const_spec")):
            value = spec.field("value")
            names = spec.field_children("name")
            if value is not None and value.text() in {"true", "false"} and len(names) == 1:
                yield names[0].text(), value.text() == "true"
