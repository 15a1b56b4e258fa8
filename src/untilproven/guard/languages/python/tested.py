"""Code that asks whether it is being tested."""

import re
from collections.abc import Iterator

from ast_grep_py import Rule, SgNode

from untilproven.guard.languages.python.nodes import call_of, dotted, string_in, written

_HINTS = (
    *("sys.modules", "environ", "getenv", "sys.argv", "inspect.stack", "currentframe", "getouterframes", "_getframe"),
    *("extract_stack", "called_from_test", "is_test", "is_under_test", "IS_TEST", "under_test", "UNDER_TEST", "isTest"),
    *("running_test", "running_in_", "running_under_", "running_pytest", "RUNNING_"),
)
_RUNNERS = frozenset({"pytest", "_pytest", "unittest", "nose", "nose2", "doctest", "py.test", "hypothesis"})
_VARIABLE = re.compile(
    r"PYTEST_(?:CURRENT_TEST|VERSION|RUNNING|XDIST_\w+)|CI|GITHUB_ACTIONS|GITLAB_CI|TRAVIS|CIRCLECI"
    r"|JENKINS_URL|TESTING|IS_TESTING|IS_TEST|TEST_MODE|UNDER_TEST|TEST_ENV|RUNNING_TESTS?|IN_TESTS?|UNIT_TEST\w*|TOX_ENV_NAME|\w+_TESTING|TEST|CONTINUOUS_INTEGRATION"
)
_STAGE = re.compile(r"(?:\w+_)?(?:ENV|ENVIRONMENT|MODE|STAGE)")
_NAMED = r"is_?(?:under_)?test(?:ing|s)?|under_test|running_(?:in_|under_)?(?:py)?tests?|called_from_test"
_NAME = re.compile(rf"(?:^|\.)_*(?:{_NAMED})$", re.IGNORECASE)
_FRAMES = re.compile(r"(?:inspect\.(?:stack|currentframe|getouterframes)|sys\._getframe|traceback\.extract_stack)\(")
_TEST_WORD = re.compile(r"""["'][^"'\s]*(?:py)?test""", re.IGNORECASE)
_SAID = "|".join((*map(re.escape, sorted(_RUNNERS)), "test", "testing", "ci", _VARIABLE.pattern, _STAGE.pattern))
_MAY_SAY = re.compile(rf"""["'](?:{_SAID})["']|{_FRAMES.pattern}""")
_MAY_NAME = ("is_test", "istest", "under_test", "running_", "called_from_test")
"""Without one of these nothing below is found; looking through a text is cheaper than through its tree."""
_SEEN: list[Rule] = [
    {
        "kind": "comparison_operator",
        "regex": r"sys\.modules|environ|getenv|sys\.argv|inspect\.|_getframe|extract_stack",
    },
    {"kind": "call", "regex": r"^(?:(?:os\.)?(?:environ\.get|getenv)|sys\.modules\.get|getattr|hasattr|any|next)\("},
    {"kind": "subscript", "regex": r"^(?:os\.)?environ\["},
    {"kind": "attribute", "regex": r"(?:[tT]est|TEST)(?:ing|ING|s|S|)$"},
    {"kind": "identifier", "regex": r"(?:[tT]est|TEST)(?:ing|ING|s|S|)$"},
]
"""Few nodes are left to look at."""


def asked_in(node: SgNode, *, outside: bool = False) -> Iterator[str]:
    """As written; `outside` leaves functions out."""
    text = node.text()
    if not any(hint in text for hint in _HINTS) or not _may_ask(text):
        return
    taken = None
    for found in node.find_all(any=_SEEN):
        if taken is not None and found.range().start.index < taken.end.index:
            continue
        if _asks(found) and not _is_set(found) and not (outside and _is_in_function(found)):
            taken = found.range()
            yield written(found)


def _may_ask(text: str) -> bool:
    small = text.lower()
    return any(name in small for name in _MAY_NAME) or _MAY_SAY.search(text) is not None


def _asks(node: SgNode) -> bool:
    match node.kind():
        case "comparison_operator":
            return _compares(node)
        case "identifier":
            return _NAME.search(node.text()) is not None and not _is_declared(node)
        case "attribute":
            attribute = node.field("attribute")
            return attribute is not None and _NAME.search(attribute.text()) is not None
        case "subscript":
            table, key = node.field("value"), node.field("subscript")
            return dotted(table) in {"os.environ", "environ"} and _VARIABLE.fullmatch(string_in(key) or "") is not None
    call = call_of(node)
    if call is None:
        return False
    if call.path in {"os.environ.get", "os.getenv", "environ.get", "getenv"} and call.positional:
        return _VARIABLE.fullmatch(string_in(call.positional[0]) or "") is not None
    if call.path == "sys.modules.get" and call.positional:
        return string_in(call.positional[0]) in _RUNNERS
    if call.path in {"getattr", "hasattr"} and len(call.positional) > 1:
        return _NAME.search(string_in(call.positional[1]) or "") is not None
    return call.name in {"any", "next"} and _looks_at_frames(node.text())


def _compares(node: SgNode) -> bool:
    text = written(node)
    strings = [said for part in node.find_all(kind="string") if (said := string_in(part)) is not None]
    if "sys.modules" in text:
        return any(said in _RUNNERS for said in strings)
    if "environ" in text or "getenv" in text:
        if any(_VARIABLE.fullmatch(said) for said in strings):
            return True
        return any(_STAGE.fullmatch(said) for said in strings) and any(
            said in {"test", "testing", "ci"} for said in strings
        )
    if "sys.argv" in text:
        return any(said in _RUNNERS or said == "test" for said in strings)
    return _looks_at_frames(text)


def _looks_at_frames(text: str) -> bool:
    return _FRAMES.search(text) is not None and _TEST_WORD.search(text) is not None


def _is_in_function(node: SgNode) -> bool:
    return any(around.kind() == "function_definition" for around in node.ancestors())


def _is_set(node: SgNode) -> bool:
    """`os.environ["CI"] = "1"` asks nothing."""
    around = node.parent()
    if around is None:
        return False
    if around.kind() == "delete_statement":
        return True
    return around.kind() == "assignment" and around.field("left") == node


def _is_declared(node: SgNode) -> bool:
    around = node.parent()
    return around is not None and (
        around.kind() in {"function_definition", "parameters", "keyword_argument", "attribute", "dotted_name"}
        or around.kind().endswith("parameter")
    )
