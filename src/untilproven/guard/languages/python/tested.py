"""Code that asks whether it is being tested."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.languages.python.nodes import call_of, dotted, of_kinds, string_in, written

_HINTS = ("modules", "environ", "getenv", "argv", "stack", "_getframe", "called_from_test", "TEST", "test_mode")
_RUNNERS = frozenset({"pytest", "_pytest", "unittest", "nose", "nose2", "doctest", "py.test", "hypothesis"})
_VARIABLE = re.compile(
    r"PYTEST_\w+|CI|GITHUB_ACTIONS|GITLAB_CI|TRAVIS|CIRCLECI|JENKINS_URL|TESTING|IS_TESTING|IS_TEST|TEST_MODE|UNDER_TEST"
    r"|TEST_ENV|RUNNING_TESTS?|IN_TESTS?|UNIT_TEST\w*|TOX_ENV_NAME|\w+_TESTING|TEST|CONTINUOUS_INTEGRATION"
)
_STAGE = re.compile(r"(?:\w+_)?(?:ENV|ENVIRONMENT|MODE|STAGE)")
_NAME = re.compile(
    r"_*(?:is_(?:under_)?test(?:ing|s)?|under_test|running_(?:in_|under_)?(?:py)?tests?|_?called_from_test)",
    re.IGNORECASE,
)
_FRAMES = re.compile(r"(?:inspect\.(?:stack|currentframe|getouterframes)|sys\._getframe|traceback\.extract_stack)\(")
_TEST_WORD = re.compile(r"""["'][^"'\s]*(?:py)?test""", re.IGNORECASE)
_SEEN = ("comparison_operator", "call", "subscript", "attribute", "identifier")


def asked_in(node: SgNode, *, outside: bool = False) -> Iterator[str]:
    """As written; `outside` leaves functions out."""
    text = node.text()
    if not any(hint in text for hint in _HINTS) and not _NAME.search(text):
        return
    taken = None
    for found in of_kinds(node, *_SEEN):
        if taken is not None and found.range().start.index < taken.end.index:
            continue
        if _asks(found) and not _is_set(found) and not (outside and _is_in_function(found)):
            taken = found.range()
            yield written(found)


def _asks(node: SgNode) -> bool:
    match node.kind():
        case "comparison_operator":
            return _compares(node)
        case "identifier":
            return _NAME.fullmatch(node.text()) is not None and not _is_declared(node)
        case "attribute":
            attribute = node.field("attribute")
            return attribute is not None and _NAME.fullmatch(attribute.text()) is not None
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
        return _NAME.fullmatch(string_in(call.positional[1]) or "") is not None
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
