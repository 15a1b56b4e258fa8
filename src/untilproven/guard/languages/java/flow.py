"""How a test goes on, and how it does not: branches, jumps, assumptions."""

import re

from ast_grep_py import SgNode

from untilproven.guard.languages.java import words
from untilproven.guard.languages.java.conditions import constant
from untilproven.guard.languages.java.syntax import (
    COMMENTS,
    IFS,
    Call,
    bare,
    call_of,
    code_in,
    flat,
    operation,
    statements,
    unwrapped,
)

JUMPS = frozenset({"return_statement", "throw_statement", "jump_expression", "break_statement", "continue_statement"})
_DEEPEST = 20
_NAMES = frozenset({"identifier", "simple_identifier"})
_BRANCH = COMMENTS | {"control_structure_body"}
ASSUMES = re.compile(r"assume[A-Z]\w*|abort|assumingThat")


def assumption(call: Call) -> tuple[bool | None, str] | None:
    """Whether it holds, None if that depends; and what it asks. None for what only shares its name."""
    asked = [value for value in call.values if "string_literal" not in value.kind()] or list(call.values)
    reason = ", ".join(flat(value) for value in asked) or call.name
    if call.name == "abort":
        return (False, reason) if not call.receiver or flat(call.receiver).endswith("Assumptions") else None
    if call.name in {"assumeTrue", "assumeFalse", "assumingThat"} and asked:
        value = settled(bare(asked[0]))
        return (value if value is None else value is not (call.name == "assumeFalse")), reason
    if call.name == "assumeNotNull" and reason == "null":
        return False, reason
    return None, reason


def settled(condition: SgNode) -> bool | None:
    """What a condition comes to, also by a variable that is set once in the file, and to a literal."""
    value = constant(condition)
    applied = operation(condition)
    if value is None and applied and applied[0] == "!":
        inner = settled(applied[1][0]) if applied[1] and applied[1][0].kind() in _NAMES else None
        return None if inner is None else not inner
    if value is not None or condition.kind() not in _NAMES:
        return value
    name = re.escape(condition.text())
    text = condition.get_root().root().text()
    given = re.findall(rf"(?<![\w$.]){name}(?:\s*:\s*Boolean)?\s*[|&^]?=(?!=)\s*(\w+)", text)
    return given[0] == "true" if given in (["true"], ["false"]) else None


def thrown_by(node: SgNode) -> str | None:
    """The type of error that a statement throws, or the name of it."""
    if node.kind() not in {"throw_statement", "jump_expression"} or not node.text().startswith("throw"):
        return None
    inside = code_in(node)
    if not inside:
        return None
    thrown = bare(inside[0])
    if thrown.kind() == "object_creation_expression":
        made = thrown.field("type")
        return flat(made).split("<")[0] if made else None
    call = call_of(thrown)
    return call.name if call else flat(thrown)


def ends(statement: SgNode, nested: int = 0) -> bool:
    """Nothing that follows it in its block is reached."""
    if nested > _DEEPEST:
        return False
    statement = unwrapped(statement)
    if statement.kind() in JUMPS:
        return True
    if statement.kind() in IFS:
        condition, then, _ = branches(statement)
        certain = condition is not None and settled(condition) is True
        return certain and then is not None and any(ends(one, nested + 1) for one in statements(then))
    if statement.kind() == "block":
        return any(ends(one, nested + 1) for one in code_in(statement))
    call = call_of(statement)
    if call is None:
        return False
    assumed = assumption(call) if ASSUMES.fullmatch(call.name) and call.name != "assumingThat" else None
    return bool(words.EXITS.fullmatch(flat(statement)) or (assumed and assumed[0] is False))


def branches(node: SgNode) -> tuple[SgNode | None, SgNode | None, SgNode | None]:
    """Of an `if`: what it asks, what then, what else."""
    if node.kind() == "if_statement":
        condition = node.field("condition")
        return condition and bare(condition), node.field("consequence"), node.field("alternative")
    parts = node.children()
    condition = next((bare(child) for child in parts if child.is_named() and child.kind() not in _BRANCH), None)
    otherwise = next((at for at, child in enumerate(parts) if child.kind() == "else"), len(parts))
    then = next((child for child in parts[:otherwise] if child.kind() == "control_structure_body"), None)
    return condition, then, next((child for child in parts[otherwise:] if child.is_named()), None)
