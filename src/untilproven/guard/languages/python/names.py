"""What the names in a test stand for, as far as the test itself says."""

import re
from collections import Counter
from typing import NamedTuple

from ast_grep_py import SgNode

from untilproven.guard.languages.python.constants import UNKNOWN, value
from untilproven.guard.languages.python.nodes import (
    assigned,
    bare,
    call_of,
    definition,
    dotted,
    name_of,
    of_kinds,
    parts,
    with_items,
    written,
)

_BINDING = (
    *("assignment", "augmented_assignment", "named_expression", "for_statement", "as_pattern_target", "with_statement"),
    *("global_statement", "nonlocal_statement", "delete_statement"),
)
_MOCK = re.compile(r"(?:Magic|Async|NonCallable|Property)*Mock|create_autospec|patch|mock_open|object|stub")
_ASSERTING = re.compile(r"assert|eq_$|ok_$")


class Names(NamedTuple):
    constants: dict[str, object]
    """Given one literal, and nothing else."""
    aliases: dict[str, str]
    """Given another name's value, and nothing else."""
    answers: dict[str, str]
    """What mocks of the test were told to be: `load()` and `"x"` after `load.return_value = "x"`."""
    helpers: frozenset[str] = frozenset()
    """What the file calls to assert for it: `common_test`, `self.run_case`."""
    inner: frozenset[str] = frozenset()
    """Functions of the test itself, whose assertions are its own."""

    def plain(self, text: str) -> str:
        return self.aliases.get(text, text)


def names_in(function: SgNode) -> Names:
    """Of a whole test."""
    node = definition(function)
    bound: Counter[str] = Counter()
    literal: dict[str, SgNode] = {}
    aliases: dict[str, str] = {}
    mocks: set[str] = set()
    told: list[tuple[SgNode, SgNode]] = []
    for statement in of_kinds(node, *_BINDING):
        if statement.kind() == "with_statement":
            mocks |= {name.text() for entered, name in with_items(statement) if name and _is_mock(entered)}
            continue
        if statement.kind() != "assignment":
            bound.update(_bound_by(statement))
            continue
        for target, given in assigned(statement):
            if target.kind() != "identifier":
                told.append((target, given))
                bound.update(name.text() for name in target.find_all(kind="identifier"))
                continue
            name = target.text()
            bound[name] += 1
            if _is_mock(given):
                mocks.add(name)
                told.extend(_told_when_made(target, given))
            elif given.kind() == "identifier":
                aliases[name] = given.text()
            else:
                literal[name] = given
    once = {name for name, times in bound.items() if times == 1} - set(_parameters(node))
    constants = {name: value(given, {}) for name, given in literal.items() if name in once}
    return Names(
        {name: said for name, said in constants.items() if said is not UNKNOWN and _stays(name, said, node)},
        {name: other for name, other in aliases.items() if name in once and bound[other] <= 1},
        _answers(told, mocks),
        inner=frozenset(name_of(one) for one in node.find_all(kind="function_definition")),
    )


def _bound_by(statement: SgNode) -> list[str]:
    target = statement.field("left") or statement.field("name") or statement
    return [name.text() for name in target.find_all(kind="identifier")]


def _parameters(node: SgNode) -> list[str]:
    parameters = node.field("parameters")
    return [name.text() for name in parameters.find_all(kind="identifier")] if parameters else []


def _is_mock(node: SgNode) -> bool:
    call = call_of(bare(node))
    return call is not None and _MOCK.fullmatch(call.name) is not None


def _stays(name: str, said: object, node: SgNode) -> bool:
    """A list or a set can be filled by whoever is given it: it must only be looked at by assertions."""
    if not isinstance(said, list | dict | frozenset):
        return True
    uses = [use for use in node.find_all(kind="identifier") if use.text() == name]
    return sum(not _is_asserted(use) for use in uses) == 1


def _is_asserted(use: SgNode) -> bool:
    for around in use.ancestors():
        if around.kind() == "assert_statement":
            return True
        call = call_of(around)
        if call:
            return _ASSERTING.match(call.name) is not None
        if around.kind() == "block":
            return False
    return False


def _told_when_made(target: SgNode, given: SgNode) -> list[tuple[SgNode, SgNode]]:
    call = call_of(bare(given))
    answer = call.named.get("return_value") if call else None
    return [(target, answer)] if answer else []


def _answers(told: list[tuple[SgNode, SgNode]], mocks: set[str]) -> dict[str, str]:
    answers = {}
    for target, given in told:
        path = dotted(target)
        root, _, attribute = path.partition(".")
        if root not in mocks or not _is_plain(given):
            continue
        if path == root or attribute.endswith("return_value"):
            answers[path.removesuffix("return_value").removesuffix(".") + "()"] = written(given)
        else:
            answers[path] = written(given)
    return answers


def _is_plain(node: SgNode) -> bool:
    return value(node, {}) is not UNKNOWN or (node.kind() == "identifier" and not parts(node))
