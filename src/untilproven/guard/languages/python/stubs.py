"""Bodies that are none."""

import re

from ast_grep_py import SgNode

from untilproven.guard.languages.python.constants import UNKNOWN, value
from untilproven.guard.languages.python.nodes import (
    body_of,
    call_of,
    decorators,
    docstring,
    dotted,
    expression,
    last_name,
    name_of,
    parts,
    string_in,
    written,
)

_INTERFACE = re.compile(
    r"Protocol|ABC|Abstract|Interface|Base|Mixin|Null|No_?[oO]p|Dummy|Fake|Mock|Stub|Visitor|Plugin|Hook|Spec"
)
_HARMLESS_MARKS = frozenset(
    {"staticmethod", "classmethod", "property", "cached_property", "lru_cache", "cache", "override"}
)
_NO_OP = re.compile(
    r"__\w+__|_*(?:no_?op|nop|do_nothing|dummy|ignore|null|empty|placeholder|pass|setup|teardown|set_up|tear_down)\w*"
    r"|_*(?:on|pre|post|before|after|handle|visit|depart|pytest|begin|end|start|stop|close|flush|reset|init|initialize)(?:_\w+)?"
    r"|_*(?:setUp|tearDown|on[A-Z])\w*|f|g|fn|foo|bar|func|_+"
)
_UNDONE = re.compile(r"not (?:yet )?implemented|to ?do\b|unimplemented|implement me|placeholder|\bstub", re.IGNORECASE)
_REFUSED = re.compile(
    r"\b(?:not|n't|cannot|never|no)\b.{0,40}\b(?:support|available|possible|applicable)|unsupported|unavailable"
    r"|\bonly\b.{0,40}\bsupport",
    re.IGNORECASE,
)
_SPECIAL = re.compile(r"__\w+__")
_FEWEST_WORDS = 3
"""Of a message that tells somebody what is wrong."""
_MOST_STATEMENTS = 2


def stub_of(node: SgNode) -> str | None:
    """Interfaces, hooks that do nothing by design, and what a decorator gives its body are none."""
    body = body_of(node)
    if len(body) > _MOST_STATEMENTS:
        return None
    if len(body) == 1 and (found := _said_so(body[0], node)):
        return found
    if not all(map(_is_empty, body)) or _is_by_design(node):
        return None
    return written(body[0]) if body else written(docstring(node) or node)[:40]


def left_open(node: SgNode) -> str | None:
    """What stands in an interface in place of a body, or says that there will be none."""
    body = body_of(node)
    if len(body) == 1 and _refuses(body[0], node):
        return written(body[0])
    if not body or len(body) > _MOST_STATEMENTS or not _is_interface(node):
        return None
    raised = [parts(statement)[0] for statement in body if statement.kind() == "raise_statement" and parts(statement)]
    errors = [dotted(call.function if (call := call_of(one)) else one) for one in raised]
    is_open = all(map(_is_empty, body)) or (len(body) == 1 and errors == ["NotImplementedError"])
    return written(body[0]) if is_open else None


def _refuses(statement: SgNode, node: SgNode) -> bool:
    """It raises that something is not supported: nobody means to write it. A method that the language calls is there
    to refuse that, whatever it says of it."""
    raised = parts(statement)[0] if statement.kind() == "raise_statement" and parts(statement) else None
    call = call_of(raised) if raised else None
    message = string_in(call.positional[0]) if call and call.positional else None
    if message is None or _UNDONE.search(message):
        return False
    is_told = _SPECIAL.fullmatch(name_of(node)) is not None and len(message.split()) >= _FEWEST_WORDS
    return is_told or _REFUSED.search(message) is not None


def _said_so(statement: SgNode, node: SgNode) -> str | None:
    if _refuses(statement, node):
        return None
    if statement.kind() == "raise_statement" and parts(statement):
        raised = parts(statement)[0]
        call = call_of(raised)
        error = dotted(call.function if call else raised)
        message = string_in(call.positional[0]) if call and call.positional else None
        undone = message is not None and _UNDONE.search(message) is not None
        if (error == "NotImplementedError" and not _is_interface(node)) or (undone and error != "NotImplementedError"):
            return written(statement)
        return None
    if statement.kind() == "return_statement":
        constant = not parts(statement) or value(parts(statement)[0], {}) is not UNKNOWN
        return written(statement) if constant and _has_note(node) else None
    call = call_of(expression(statement))
    if call and call.name in {"print", "warn", "warning"} and call.positional:
        message = string_in(call.positional[0])
        return written(statement) if message and _UNDONE.search(message) else None
    return None


def _has_note(node: SgNode) -> bool:
    return any(_UNDONE.search(comment.text()) for comment in node.find_all(kind="comment"))


def _is_empty(statement: SgNode) -> bool:
    inside = expression(statement)
    return statement.kind() == "pass_statement" or (inside is not None and inside.kind() in {"ellipsis", "string"})


def _is_by_design(node: SgNode) -> bool:
    if node.find(kind="comment"):
        return not _has_note(node)
    if _NO_OP.fullmatch(name_of(node)) or _is_interface(node):
        return True
    marks = decorators(node)
    return any(last_name(call.function if (call := call_of(mark)) else mark) not in _HARMLESS_MARKS for mark in marks)


def _is_interface(node: SgNode) -> bool:
    for mark in decorators(node):
        call = call_of(mark)
        if last_name(call.function if call else mark).startswith(("abstract", "overload")):
            return True
    around = next((one for one in node.ancestors() if one.kind() == "class_definition"), None)
    if around is None:
        return False
    bases = around.field("superclasses")
    if _INTERFACE.search(name_of(around)) or (bases and _INTERFACE.search(bases.text())):
        return True
    return _is_derived_from(around)


def is_only_declared(node: SgNode) -> bool:
    """It tells a type checker how a function is called, which has its body elsewhere."""
    return all(map(_is_empty, body_of(node))) and (_is_overload(node) or _is_for_types(node))


def _is_overload(node: SgNode) -> bool:
    return any(last_name(mark) == "overload" for mark in decorators(node))


def _is_for_types(node: SgNode) -> bool:
    """Under `if TYPE_CHECKING`."""
    below = node
    for around in node.ancestors():
        asks = around.kind() == "if_statement" and last_name(around.field("condition")) == "TYPE_CHECKING"
        if asks and around.field("consequence") == below:
            return True
        below = around
    return False


def _is_derived_from(around: SgNode) -> bool:
    """Another class of the file builds on it."""
    name = name_of(around)
    root = around.get_root().root()
    for other in root.find_all(kind="class_definition"):
        bases = other.field("superclasses")
        if bases and any(last_name(base) == name for base in parts(bases)):
            return True
    return False
