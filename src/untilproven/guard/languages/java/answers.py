"""Answers that were looked up rather than worked out: a literal for a literal."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.languages.java.flow import branches
from untilproven.guard.languages.java.syntax import (
    IFS,
    bare,
    call_of,
    code_in,
    flat,
    is_literal,
    member,
    name_of,
    operation,
    statements,
    unwrapped,
)
from untilproven.guard.languages.syntax import Nodes

_PARAMETERS = frozenset({"formal_parameters", "function_value_parameters"})
_TABLES = re.compile(r"(?:Map|ImmutableMap)\.(?:of|ofEntries)|mapOf|hashMapOf|mutableMapOf")
_ENTRIES = frozenset({"switch_block_statement_group", "switch_rule", "when_entry"})
_ASSIGNS = frozenset({"assignment", "assignment_expression"})
_SUMS = frozenset({"binary_expression", "additive_expression", "multiplicative_expression"})
_DEEPEST = 20
_SWITCHES = frozenset({"switch_expression", "when_expression"})


def answers(function: SgNode, nodes: Nodes) -> Iterator[str]:
    """One for each literal returned, however many inputs share it."""
    asked = _parameters(function)
    if not asked:
        return
    for node in nodes:
        kind = node.kind()
        if kind in IFS or kind == "ternary_expression":
            yield from _in_branch(node, asked)
        elif kind in _SWITCHES:
            yield from _cases(node, asked)
        else:
            yield from _in_table(node, asked, nodes)


def _in_branch(node: SgNode, asked: set[str]) -> Iterator[str]:
    if node.kind() == "ternary_expression":
        condition, then = node.field("condition"), node.field("consequence")
        answered = then is not None and _is_answer(then)
    else:
        condition, then, _ = branches(node)
        answered = then is not None and _returned(then)
    given = _compared(condition, asked) if condition and answered else None
    if given:
        yield given


def _in_table(node: SgNode, asked: set[str], nodes: Nodes) -> Iterator[str]:
    """`table.get(x)`, `table[x]`"""
    table, index = None, None
    if node.kind() == "indexing_expression":
        parts = code_in(node)
        table, index = (parts[0], next(iter(code_in(parts[1])), None)) if len(parts) == 2 else (None, None)
    elif (call := call_of(node)) and call.name in {"get", "getOrDefault", "getValue", "getOrElse"} and call.arguments:
        table, index = call.receiver, call.arguments[0]
    if table and index and flat(index) in asked:
        yield from _looked_up(table, nodes)


def _parameters(function: SgNode) -> set[str]:
    listed = next((child for child in function.children() if child.kind() in _PARAMETERS), None)
    if listed is None:
        return set()
    names = set()
    for one in code_in(listed):
        spread = one.kind() == "spread_parameter"
        declared = next((child for child in code_in(one) if child.kind() == "variable_declarator"), one)
        names.add(name_of(declared if spread else one))
    return names - {""}


def _compared(condition: SgNode, asked: set[str], nested: int = 0) -> str | None:
    """The literal that a parameter is compared with; of several at once, all of them."""
    condition = bare(condition)
    applied = operation(condition)
    if applied and applied[0] == "&&" and nested < _DEEPEST:
        found = [_compared(part, asked, nested + 1) for part in applied[1]]
        return " && ".join(one for one in found if one) if all(found) else None
    if applied and applied[0] in {"==", "==="} and len(applied[1]) == 2:
        one, other = applied[1]
    elif (call := call_of(condition)) and call.name in {"equals", "equalsIgnoreCase"} and call.receiver and call.values:
        one, other = call.receiver, call.values[-1]
        if flat(one) == "Objects" and len(call.values) == 2:
            one = call.values[0]
    else:
        return None
    if is_literal(one):
        one, other = other, one
    return (
        flat(other)
        if flat(one) in asked and is_literal(other) and flat(other) not in {"null", "true", "false"}
        else None
    )


def _returned(then: SgNode) -> bool:
    """It returns a literal, and does nothing else."""
    done = statements(then)
    if len(done) != 1:
        return False
    one = done[0]
    said = code_in(one)[-1:] if one.kind() in {"return_statement", "jump_expression"} else []
    return bool(said) and one.text().startswith("return") and _is_answer(said[0])


def _is_answer(node: SgNode) -> bool:
    return is_literal(node) and flat(node) != "null"


def _cases(switch: SgNode, asked: set[str]) -> Iterator[str]:
    parts = code_in(switch)
    if not parts or flat(bare(_subject(parts[0]))) not in asked or _is_reckoned_with(switch):
        return
    block = next((one for one in parts if one.kind() == "switch_block"), switch)
    for entry in code_in(block):
        if entry.kind() not in _ENTRIES:
            continue
        labels = [one for one in code_in(entry) if one.kind() in {"switch_label", "when_condition"}]
        given = [value for label in labels for value in code_in(label)]
        if given and all(is_literal(value) for value in given) and _answered(entry):
            yield ", ".join(flat(value) for value in given)


def _is_reckoned_with(switch: SgNode) -> bool:
    """What it gives is added to something, or the like: it is no answer yet."""
    around = switch.parent()
    if around is None:
        return False
    is_changed = around.kind() in _ASSIGNS and re.search(r"[-+*/%]=\s*$", around.text().partition(switch.text())[0])
    return around.kind() in _SUMS or bool(is_changed)


def _subject(node: SgNode) -> SgNode:
    inside = code_in(node)
    return inside[-1] if node.kind() == "when_subject" and inside else node


def _answered(entry: SgNode) -> bool:
    done = [one for one in code_in(entry) if one.kind() not in {"switch_label", "when_condition"}]
    done = [one for part in done for one in statements(part)]
    if len(done) != 1:
        return False
    one = unwrapped(done[0])
    if one.kind() in {"return_statement", "jump_expression", "yield_statement"}:
        said = code_in(one)[-1:]
        return bool(said) and not one.text().startswith("throw") and _is_answer(said[0])
    return _is_answer(one)


def _looked_up(table: SgNode, nodes: Nodes) -> Iterator[str]:
    """Keys of a table from literals to literals that stands in the function."""
    made = bare(table)
    if made.kind() in {"identifier", "simple_identifier"}:
        named = made.text()
        declared = (one for one in nodes if one.kind() in {"variable_declarator", "property_declaration"})
        found = next((one for one in declared if _declares(one, named)), None)
        made = bare(code_in(found)[-1]) if found else made
    call = call_of(made)
    if call is None:
        return
    of, name = member(made) if not call.name else (call.receiver, call.name)
    if not _TABLES.fullmatch(f"{flat(of)}.{name}" if of else name):
        return
    values = list(call.arguments)
    if values and (pair := call_of(values[0])) and pair.name in {"to", "entry"}:
        pairs = [
            (one.receiver or one.arguments[0], one.arguments[-1])
            for value in values
            if (one := call_of(value)) and one.arguments
        ]
    else:
        pairs = list(zip(values[::2], values[1::2], strict=False))
    yield from (flat(key) for key, value in pairs if is_literal(key) and is_literal(value))


def _declares(node: SgNode, name: str) -> bool:
    if node.kind() == "variable_declarator":
        return name_of(node) == name
    return any(name_of(one) == name for one in code_in(node) if one.kind() == "variable_declaration")
