"""Which statements of a test are reached, and would be heard if they failed."""

from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.languages.python.constants import Known, truth, value
from untilproven.guard.languages.python.nodes import (
    block_of,
    call_of,
    definition,
    dotted,
    errors_of,
    expression,
    is_broad,
    last_name,
    name_of,
    parts,
    statements,
    with_items,
    written,
)

_SKIPS = frozenset({"pytest.skip", "skip", "self.skipTest", "cls.skipTest", "pytest.xfail", "xfail"})
_EXITS = frozenset({"sys.exit", "os._exit", "os.abort", "exit", "quit", "_exit", "pytest.exit"})
_FAILS = frozenset({"pytest.fail", "self.fail", "fail"})
_TALKS = frozenset(
    {"print", "debug", "info", "warning", "warn", "error", "exception", "log", "skip", "skipTest", "xfail"}
)
_SKIP_ERRORS = frozenset({"SkipTest", "unittest.SkipTest", "pytest.skip.Exception", "unittest.case.SkipTest"})
_DEEPEST = 8


def is_skip(statement: SgNode) -> bool:
    """Whether it ends a test without a verdict."""
    if statement.kind() == "raise_statement":
        return any(dotted(_called(part)) in _SKIP_ERRORS for part in parts(statement)[:1])
    call = call_of(expression(statement))
    return call is not None and call.path in _SKIPS


def is_exit(statement: SgNode) -> bool:
    """Whether it ends the process."""
    if statement.kind() == "raise_statement":
        return any(dotted(_called(part)) == "SystemExit" for part in parts(statement)[:1])
    call = call_of(expression(statement))
    return call is not None and call.path in _EXITS


def ending(statement: SgNode, known: Known, depth: int = 0) -> SgNode | None:
    """The statement behind which nothing of this block is run, if this is one or ends in one."""
    if depth > _DEEPEST:
        return None
    match statement.kind():
        case "return_statement" | "raise_statement" | "break_statement" | "continue_statement":
            return statement
        case "expression_statement":
            call = call_of(expression(statement))
            return statement if call and call.path in _SKIPS | _EXITS | _FAILS else None
        case "if_statement":
            return _end_of_if(statement, known, depth)
        case "with_statement" if not any(_expects_error(entered) for entered, _ in with_items(statement)):
            end = _end_of(statement.field("body"), known, depth)
            return None if end and _may_be_caught(end) else end
    return None


def _may_be_caught(statement: SgNode) -> bool:
    """What is entered may be there to take the error that is raised within it; nobody takes a verdict."""
    return statement.kind() == "raise_statement" and not is_skip(statement) and not is_exit(statement)


def _end_of_if(statement: SgNode, known: Known, depth: int) -> SgNode | None:
    condition = statement.field("condition")
    held = truth(condition, known) if condition else None
    yes = _end_of(statement.field("consequence"), known, depth)
    if held is True:
        return yes
    others = statement.field_children("alternative")
    if len(others) != 1 or others[0].kind() != "else_clause":
        return None
    no = _end_of(others[0].field("body"), known, depth)
    return no if held is False or yes else None


def _end_of(block: SgNode | None, known: Known, depth: int) -> SgNode | None:
    ends = (ending(statement, known, depth + 1) for statement in parts(block))
    return next((end for end in ends if end), None)


def reached(function: SgNode, known: Known) -> Iterator[tuple[SgNode, bool]]:
    """Every statement in it, and whether it is run and its failure heard. What stands where a failure is asked for,
    as in `with raises(AssertionError)`, is left out."""
    unused = _never_called(function)
    waiting = _lived(statements(function), True, known)[::-1]
    while waiting:
        statement, alive = waiting.pop()
        yield statement, alive
        for block, lives in _blocks(statement, known, unused):
            waiting += _lived(parts(block), alive and lives, known)[::-1]


def _lived(block: list[SgNode], alive: bool, known: Known) -> list[tuple[SgNode, bool]]:
    found = []
    for statement in block:
        found.append((statement, alive))
        alive = alive and ending(statement, known) is None
    return found


def _blocks(statement: SgNode, known: Known, unused: set[str]) -> Iterator[tuple[SgNode, bool]]:
    match statement.kind():
        case "if_statement" | "while_statement":
            yield from _branches(statement, known)
        case "for_statement":
            source = statement.field("right")
            runs = source is None or value(source, known) not in ([], (), {}, "", frozenset())
            yield from _present((statement.field("body"), runs and written(source or statement) != "range(0)"))
            yield from _present((_else_of(statement), True))
        case "try_statement":
            yield from _tried(statement)
        case "with_statement":
            if not any(_wants_failure(entered) for entered, _ in with_items(statement)):
                heard = not any(_suppresses(entered) for entered, _ in with_items(statement))
                yield from _present((statement.field("body"), heard))
        case "function_definition":
            yield from _present((statement.field("body"), name_of(statement) not in unused))
        case "decorated_definition" | "class_definition":
            yield from _present((definition(statement).field("body"), True))
        case "match_statement":
            cases = parts(statement.field("body"))
            yield from _present(*((block_of(case), True) for case in cases))


def _present(*blocks: tuple[SgNode | None, bool]) -> Iterator[tuple[SgNode, bool]]:
    yield from ((block, lives) for block, lives in blocks if block)


def _else_of(statement: SgNode) -> SgNode | None:
    clause = next((part for part in statement.children() if part.kind() == "else_clause"), None)
    return clause.field("body") if clause else None


def _branches(statement: SgNode, known: Known) -> Iterator[tuple[SgNode, bool]]:
    """Of `if` and `while`."""
    open_still = True
    for branch in [statement, *statement.field_children("alternative")]:
        condition = branch.field("condition")
        held = truth(condition, known) if condition else True
        if condition and last_name(condition) == "TYPE_CHECKING":
            held = False
        body = branch.field("consequence") or branch.field("body")
        yield from _present((body, open_still and held is not False))
        if statement.kind() == "if_statement":
            open_still = open_still and held is not True


def _tried(statement: SgNode) -> Iterator[tuple[SgNode, bool]]:
    clauses = [part for part in statement.children() if part.kind() in {"except_clause", "except_group_clause"}]
    last = next((block_of(part) for part in statement.children() if part.kind() == "finally_clause"), None)
    left_at_last = any(part.kind() in {"return_statement", "break_statement"} for part in parts(last))
    body = statement.field("body")
    heard = not left_at_last and not (body and any(_swallows(clause, body) for clause in clauses))
    yield from _present((body, heard), *((block_of(clause), not left_at_last) for clause in clauses))
    yield from _present((_else_of(statement), not left_at_last), (last, True))


def _swallows(clause: SgNode, body: SgNode) -> bool:
    """Whether a failed assertion in `body` ends here without a word to anyone but the log. A loop that tries until it
    holds, and leaves then, is waiting."""
    if not catches_failures(errors_of(clause)):
        return False
    if any(part.kind() in {"break_statement", "return_statement"} for part in parts(body)):
        return False
    return all(_is_nothing(statement) for statement in parts(block_of(clause)))


def catches_failures(errors: SgNode | None) -> bool:
    """Whether a failed assertion is among these errors; None are all."""
    if is_broad(errors):
        return True
    inside = parts(errors) if errors and errors.kind() == "tuple" else [errors]
    return any(last_name(one) == "AssertionError" for one in inside)


def _is_nothing(statement: SgNode) -> bool:
    if statement.kind() in {"pass_statement", "continue_statement", "break_statement"}:
        return True
    if statement.kind() == "return_statement":
        return not parts(statement) or value(parts(statement)[0], {}) in (None, True, False)
    inside = expression(statement)
    call = call_of(inside)
    return (call is not None and call.name in _TALKS) or (
        inside is not None and inside.kind() in {"string", "ellipsis"}
    )


def _called(node: SgNode) -> SgNode:
    call = call_of(node)
    return call.function if call else node


def _expects_error(entered: SgNode) -> bool:
    call = call_of(entered)
    return call is not None and (
        call.name in {"raises", "suppress", "RaisesGroup"}
        or call.name.lower().startswith(("assertraises", "assert_raises"))
    )


def _wants_failure(entered: SgNode) -> bool:
    call = call_of(entered)
    if call is None or not _expects_error(entered) or call.name == "suppress" or not call.positional:
        return False
    return catches_failures(call.positional[0])


def _suppresses(entered: SgNode) -> bool:
    call = call_of(entered)
    return call is not None and call.name == "suppress" and any(map(catches_failures, call.positional))


def _never_called(function: SgNode) -> set[str]:
    """Functions within that nothing names, or that are started without ever being waited for."""
    inner = [node for node in definition(function).find_all(kind="function_definition") if node != definition(function)]
    if not inner:
        return set()
    uses: dict[str, list[SgNode]] = {name_of(node): [] for node in inner}
    for use in definition(function).find_all(kind="identifier"):
        if use.text() in uses:
            uses[use.text()].append(use)
    unused = set()
    for node in inner:
        name, around = name_of(node), node.parent()
        if around is None or around.kind() == "decorated_definition" or _is_method(node):
            continue
        named = [use for use in uses[name] if use.parent() != node]
        is_async = any(child.kind() == "async" for child in node.children())
        if all(is_async and _is_thrown_away(use) for use in named):
            unused.add(name)
    return unused


def _is_method(node: SgNode) -> bool:
    around = node.parent()
    outer = around.parent() if around and around.kind() == "block" else None
    return outer is not None and outer.kind() == "class_definition"


def _is_thrown_away(use: SgNode) -> bool:
    """`check()` alone in a statement."""
    call = use.parent()
    statement = call.parent() if call and call.kind() == "call" else None
    return statement is not None and statement.kind() == "expression_statement"
