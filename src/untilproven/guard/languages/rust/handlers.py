"""What a function in Rust does with errors."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.facts import Handler
from untilproven.guard.languages.rust.claims import method
from untilproven.guard.languages.rust.statements import macro_name, statements
from untilproven.guard.languages.syntax import flat_text, line_of, of_kinds

_ANY = re.compile(r"(?:_|_?[a-z]\w*|\.\.)")
_NOTHING = re.compile(r"\{ ?\}|\(\)|None|Ok\(\(\)\)|Ok\(None\)|continue|return|return None|return Ok\(\((?:\))\)|break")
_TO_NOBODY = frozenset(
    {"send", "try_send", "set", "join", "lock", "flush", "wake", "notify", "take", "insert", "replace"}
)
_CERTAIN = frozenset({"unwrap", "expect", "black_box", "from_raw", "spawn", "drop", "swap"})
_CLEANING = frozenset({"kill", "remove_file", "remove_dir_all", "shutdown", "close", "wait", "unlock", "abort"})


def handlers(node: SgNode) -> Iterator[Handler]:
    named = node.field("name")
    in_drop = named is not None and named.text() == "drop"  # which has nobody to tell
    for one in node.find_all(of_kinds("match_arm", "if_expression", "let_declaration", "expression_statement")):
        kind = one.kind()
        if kind == "match_arm":
            yield from _of_arm(one)
        elif kind == "if_expression":
            condition = one.field("condition")
            found = re.match(r"let Err\((.*?)\) = ", flat_text(condition)) if condition is not None else None
            if found:
                yield _handler(found[1], one.field("consequence"), one)
        elif not in_drop and (dropped := _dropped(one)) is not None:
            yield Handler(dropped, is_broad=True, is_silent=True, line=line_of(one))


def _of_arm(arm: SgNode) -> Iterator[Handler]:
    pattern, value = arm.field("pattern"), arm.field("value")
    found = re.fullmatch(r"Err\((.*?)\)(?: if .*)?", flat_text(pattern)) if pattern is not None else None
    if found and pattern is not None and value is not None:
        only = flat_text(pattern).partition(" if ")[2]
        yield _handler(found[1] if not only else f"{found[1]} if {only}", value, arm)


def _handler(errors: str, block: SgNode | None, at: SgNode) -> Handler:
    is_broad = _ANY.fullmatch(errors) is not None
    return Handler("" if is_broad else errors, is_broad, _is_silent(block), line_of(at))


def _is_silent(block: SgNode | None) -> bool:
    if block is None:
        return False
    if block.kind() != "block":
        return _NOTHING.fullmatch(flat_text(block)) is not None
    inner = list(statements(block))
    return not inner or (len(inner) == 1 and _NOTHING.fullmatch(flat_text(inner[0])) is not None)


def _dropped(statement: SgNode) -> str | None:
    """A result that is looked at by nobody: `let _ = f();`, `f().ok();`."""
    if statement.kind() == "let_declaration":
        pattern, value = statement.field("pattern"), statement.field("value")
        if pattern is None or value is None or pattern.text() != "_":
            return None
        if value.kind() == "macro_invocation" and macro_name(value).startswith("write"):
            return None
        text = flat_text(value)
        known = method(value) or text.split("(")[0].rsplit("::", 1)[-1]
        if value.kind() not in {"call_expression", "await_expression"} or known in _TO_NOBODY | _CLEANING | _CERTAIN:
            return None
        return f"let _ = {_called(value)}"
    inner = statement.named_children()
    if len(inner) != 1 or method(inner[0]) != "ok" or not flat_text(statement).endswith(";"):
        return None
    return flat_text(statement)


def _called(value: SgNode) -> str:
    """Without what it is given: the same call with other arguments drops the same errors."""
    inner = value.named_children()
    call = inner[0] if value.kind() == "await_expression" and inner else value
    function = call.field("function")
    return flat_text(function if function is not None else call)
