"""How statements of Rust lead on, or end."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.facts import Running, Strength
from untilproven.guard.languages.rust.attributes import running
from untilproven.guard.languages.rust.claims import bare, claims, pieces
from untilproven.guard.languages.syntax import flat_text

EXITS = re.compile(r"(?:(?:::)?std::)?process::(?:exit|abort)\(|^exit\(\s*0\s*\)|libc::_?exit\(")
_SPAWN = re.compile(r"(?:std::)?(?:thread|tokio|task|tokio::task|async_std::task|smol)::spawn(?:_blocking)?")


def macro_name(node: SgNode) -> str:
    named = node.field("macro")
    return named.text().rsplit("::", 1)[-1] if named is not None else ""


def statements(block: SgNode | None) -> Iterator[SgNode]:
    """Of a block, each without its semicolon's node; comments left out."""
    for child in block.named_children() if block is not None else ():
        if child.kind() == "expression_statement" and child.named_children():
            yield child.named_children()[0]
        elif not child.kind().endswith("comment") and child.kind() not in {"attribute_item", "inner_attribute_item"}:
            yield child


def constant(condition: SgNode) -> bool | None:
    """What a condition always is; None if that depends."""
    node = bare(condition)
    if node.kind() == "macro_invocation" and macro_name(node) == "cfg":
        often, _ = running([f"#[cfg({', '.join(pieces(node))})]"])
        return {Running.NEVER: False, Running.ALWAYS: True}.get(often)
    if node.kind() in {"let_condition", "let_chain"}:
        return None
    for passes in (True, False):
        found = list(claims(node, passes))
        if found and all(claim.strength is Strength.NOTHING for claim in found):
            return passes
    return None


def is_parting(statement: SgNode) -> bool:
    """Whatever stands behind it in the same block is never reached, and nothing has failed."""
    inner = statement.named_children()
    node = inner[0] if statement.kind() == "expression_statement" and inner else statement
    kind = node.kind()
    if kind in {"return_expression", "break_expression", "continue_expression"}:
        return True
    if kind == "call_expression":
        return EXITS.match(flat_text(node)) is not None
    if kind == "block":
        return any(is_parting(one) for one in node.named_children())
    if kind == "if_expression" and (asked := node.field("condition")) is not None and constant(asked):
        block = node.field("consequence")
        return block is not None and any(is_parting(one) for one in block.named_children())
    return False


def is_spawned_away(node: SgNode) -> bool:
    """What fails in it is told to nobody: a closure or a future that is dropped, a thread that is not waited for."""
    text = flat_text(node)[:200]
    if node.kind() == "let_declaration":
        pattern, value = node.field("pattern"), node.field("value")
        if pattern is None or value is None or pattern.text() != "_":
            return False
        return value.kind() in {"closure_expression", "async_block"} or "catch_unwind(" in text
    if node.kind() == "expression_statement" and node.named_children():
        inner = node.named_children()[0]
        function = inner.field("function") if inner.kind() == "call_expression" else None
        if inner.kind() == "async_block" or (function is not None and _SPAWN.fullmatch(function.text())):
            return True
        return bool(re.match(r"(?:std::)?(?:panic::)?catch_unwind\(.*\)(?:\.ok\(\))?;$", flat_text(node)))
    return False
