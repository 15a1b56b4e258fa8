"""What is inside a test."""

import re
from collections.abc import Iterator

import msgspec
from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Declaration, Running, Strength, Test
from untilproven.guard.languages.python.calls import asserted
from untilproven.guard.languages.python.cases import cases_of, mocks_of, retries_of, timeout_of
from untilproven.guard.languages.python.conditions import claims
from untilproven.guard.languages.python.constants import truth
from untilproven.guard.languages.python.doctests import doctest
from untilproven.guard.languages.python.flow import ending, is_exit, reached
from untilproven.guard.languages.python.names import Names, names_in
from untilproven.guard.languages.python.nodes import (
    bare,
    body_of,
    call_of,
    decorators,
    definition,
    dotted,
    expression,
    parts,
    with_items,
    written,
)
from untilproven.guard.languages.python.skipping import Fate, fate_of_body, fate_of_mark, least, never
from untilproven.guard.languages.python.surroundings import fate_around, module_of
from untilproven.guard.languages.syntax import Claim

_OF_MACHINES = re.compile(r"Import|NotFound|NotImplemented|OSError|IOError|Permission|Connection|Timeout|Unsupported")
_SIMPLE = frozenset({"expression_statement", "return_statement"})


def test(declaration: Declaration) -> Test:
    """Also of a helper, whose assertions are those of the tests that call it."""
    node = declaration.node
    if node.kind() in {"string", "concatenated_string"}:
        return doctest(declaration)
    if definition(node).kind() != "function_definition":
        return _assigned(declaration)
    module = module_of(node)
    *classes, _ = module.scopes(node)
    own = {f"{owner}.{name}" for scope in classes for name in scope.helpers for owner in ("self", "cls")}
    names = names_in(node)._replace(helpers=module.helpers | own)
    heard, unheard = _assertions(node, names)
    heard = [_of_error_itself(one, caught) for one in heard] if (caught := _caught(node)) else heard
    around = [mark for scope in (*classes, module) for mark in scope.marking]
    marks = [*decorators(node), *around]
    cases = cases_of(marks, node, module.names)
    fates = [
        *(fate_of_mark(mark, module.names) for mark in decorators(node)),
        fate_around(node, declaration.name) if declaration.is_test else Fate(Running.ALWAYS),
        fate_of_body(body_of(node), names.constants, until=heard[0].line if heard else None),
        *([never("it has no cases")] if cases.none_left else []),
    ]
    fate = least(fates)
    return Test(
        running=fate.running,
        assertions=tuple(heard),
        reason=fate.reason,
        cases=cases.run,
        mocks=tuple(dict.fromkeys(mocks_of(marks, node))),
        unreached=unheard,
        leaves=_leaves(node, names, heard),
        retries=retries_of(marks),
        timeout=timeout_of(marks),
    )


def _assigned(declaration: Declaration) -> Test:
    """`TestCart = CartMachine.TestCase`, `test_total = lambda: ...`."""
    text = written(declaration.node)
    return Test(Running.ALWAYS, (Assertion(text, text, Strength.PARTLY, declaration.line),))


def _caught(node: SgNode) -> frozenset[str]:
    """Names under which errors that are expected are kept, each with the error itself in it."""
    if "raises" not in node.text().lower():
        return frozenset()
    items = (item for statement in definition(node).find_all(kind="with_statement") for item in with_items(statement))
    return frozenset(name.text() for entered, name in items if name and "raises" in entered.text().lower())


def _of_error_itself(asked: Assertion, caught: frozenset[str]) -> Assertion:
    """`caught.value.name` is about what `error.name` is about behind `except ... as error`."""
    name, _, rest = asked.about.partition(".")
    kept, _, of_it = rest.partition(".")
    if name not in caught or kept not in {"value", "exception"}:
        return asked
    return msgspec.structs.replace(asked, about=f"{name}.{of_it}" if of_it else name)


def _assertions(node: SgNode, names: Names) -> tuple[list[Assertion], int]:
    """Those that can fail, in their order, and how many can not."""
    heard: list[Assertion] = [assertion for mark in decorators(node) for assertion in _of_decorator(mark, names)]
    unheard = 0
    runs = not _is_forgotten_generator(node)
    for statement, alive in reached(node, names.constants):
        found = [] if _is_to_raise(statement) else list(_said(statement, names))
        if alive and runs:
            heard += found
        else:
            unheard += len(found)
    return sorted(heard, key=lambda assertion: assertion.line), unheard


def _is_to_raise(statement: SgNode) -> bool:
    """An assertion that is all there is to raise the error that is expected around it: it never holds or fails."""
    block = statement.parent() if statement.kind() == "assert_statement" else None
    around = block.parent() if block and len(parts(block)) == 1 else None
    if around is None or around.kind() != "with_statement":
        return False
    calls = (call_of(entered) for entered, _ in with_items(around))
    return any(call is not None and call.name in {"raises", "assertRaises", "assertRaisesRegex"} for call in calls)


def _said(statement: SgNode, names: Names) -> Iterator[Assertion]:
    """What a statement asserts, those in its blocks apart."""
    kind = statement.kind()
    if kind == "assert_statement":
        yield from _asserted(statement, names)
    elif kind == "raise_statement":
        for raised in parts(statement)[:1]:
            call = call_of(raised)
            if dotted(call.function if call else raised) in {"AssertionError", "self.failureException"}:
                yield _raised(statement)
    elif kind in _SIMPLE:
        yield from _in_expression(statement, names)
    elif kind == "with_statement":
        for entered, _ in with_items(statement):
            call = call_of(entered)
            if call:
                yield from asserted(call, names, alone=True)


def _raised(statement: SgNode) -> Assertion:
    """`if not ready(): raise AssertionError` says no more than `assert ready()`."""
    asked = _asked_around(statement)
    is_bare = re.fullmatch(r"not [\w.]+(?:\(.*\))?", asked) is not None
    claim = Claim(asked.removeprefix("not "), Strength.SOMETHING) if is_bare else Claim(asked, Strength.PARTLY)
    return claim.asserted(statement, written(statement))


def _asserted(statement: SgNode, names: Names) -> Iterator[Assertion]:
    if not parts(statement):
        return
    said = parts(statement)[0]
    inner = call_of(bare(said))
    if inner:
        by_call = list(asserted(inner, names, alone=False))
        if by_call:
            yield from by_call
            return
    if truth(said, names.constants) is False:
        yield Claim(_asked_around(statement), Strength.PARTLY).asserted(statement, written(statement))
        return
    found = list(claims(said, names))
    for node, claim in found:
        yield claim.asserted(node, written(statement) if len(found) == 1 else f"assert {written(node)}")


def _asked_around(statement: SgNode) -> str:
    """What is asked before a test is failed outright."""
    for around in statement.ancestors():
        if around.kind() in {"if_statement", "elif_clause"} and (condition := around.field("condition")):
            return written(condition)
        if around.kind() == "function_definition":
            break
    return written(statement)


def _in_expression(statement: SgNode, names: Names) -> Iterator[Assertion]:
    alone = expression(statement)
    if alone and alone.kind() == "yield" and parts(alone) and parts(alone)[0].kind() in {"expression_list", "tuple"}:
        yield Claim(written(parts(alone)[0]), Strength.PARTLY).asserted(statement, written(statement))
    inner = None
    for node in statement.find_all(kind="call"):
        if inner is not None and inner.start.index <= node.range().start.index < inner.end.index:
            continue
        call = call_of(node)
        found = list(asserted(call, names, alone=node == alone)) if call else []
        if found:
            inner = node.range()
            yield from found


def _of_decorator(mark: SgNode, names: Names) -> Iterator[Assertion]:
    """nose's `@raises(ValueError)`."""
    call = call_of(mark)
    if call and call.name == "raises":
        yield from asserted(call, names, alone=False)


def _is_forgotten_generator(node: SgNode) -> bool:
    """Nothing runs what stands in a test that yields, unless a decorator does; nose ran what is yielded."""
    inside = definition(node)
    if "yield" not in node.text() or decorators(node) or any(child.kind() == "async" for child in inside.children()):
        return False
    yields = [one for one in inside.find_all(kind="yield") if _owner(one) == inside]
    return bool(yields) and not any(
        parts(one) and parts(one)[0].kind() in {"expression_list", "tuple"} for one in yields
    )


def _owner(node: SgNode) -> SgNode | None:
    return next((around for around in node.ancestors() if around.kind() in {"function_definition", "lambda"}), None)


def _leaves(node: SgNode, names: Names, heard: list[Assertion]) -> str | None:
    """By which statement it ends early, under a condition or without; or ends the process."""
    last = max((assertion.line for assertion in heard), default=0)
    statements = body_of(node)
    for at, statement in enumerate(statements):
        end = ending(statement, names.constants)
        if end and any(_says_something(later, names) for later in statements[at + 1 :]):
            return written(end)
        if statement.range().start.line + 1 < last and (gone := _returns_under(statement) or _returns_on(statement)):
            return gone
    if not any(word in node.text() for word in ("exit", "quit", "abort", "SystemExit")):
        return None
    return next(
        (written(statement) for statement, _ in reached(node, names.constants) if _ends_all(statement, node)), None
    )


def _says_something(statement: SgNode, names: Names) -> bool:
    if next(_said(statement, names), None):
        return True
    return statement.find(kind="assert_statement") is not None


def _returns_on(statement: SgNode) -> str | None:
    """An error of what it tests; that something is not there on this machine is another thing."""
    if statement.kind() != "try_statement" or statement.find(kind="assert_statement"):
        return None
    for clause in (part for part in statement.children() if part.kind() == "except_clause"):
        block = next((part for part in clause.children() if part.kind() == "block"), None)
        asked = written(clause).partition(":")[0]
        if block and [written(one) for one in parts(block)] == ["return"] and not _OF_MACHINES.search(asked):
            return f"{asked}: return"
    return None


def _returns_under(statement: SgNode) -> str | None:
    if statement.kind() != "if_statement":
        return None
    condition, inside = statement.field("condition"), parts(statement.field("consequence"))
    if condition and inside and inside[-1].kind() == "return_statement" and len(inside) == 1:
        return f"if {written(condition)}: {written(inside[-1])}"
    return None


def _ends_all(statement: SgNode, function: SgNode) -> bool:
    """A child of a fork ends itself; who expects SystemExit wants it raised."""
    if not is_exit(statement) or _owner(statement) != definition(function):
        return False
    for around in statement.ancestors():
        text = written(around.field("condition") or around) if around.kind() == "if_statement" else ""
        if "fork" in text or "pid" in text:
            return False
        if around.kind() in {"with_statement", "try_statement"} and "SystemExit" in around.text():
            return False
    return True
