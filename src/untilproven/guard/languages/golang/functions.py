"""What is inside a function in Go."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.facts import Declaration, Function, Handler
from untilproven.guard.languages.golang.answers import answers, parameters, returned_by
from untilproven.guard.languages.golang.claims import arguments, bare, called, is_error
from untilproven.guard.languages.golang.statements import call_of, statements
from untilproven.guard.languages.syntax import TODO, flat_text, line_of, of_kinds

_VALIDATING = re.compile(
    r"^(?:validate|sanitize|sanitise|authorize|authenticate|escape(?!d)|IsValid|isValid)", re.IGNORECASE
)
_REFUSING = re.compile(r"(?i)^(?:error|abort\w*|reject\w*|deny\w*|unauthorized|forbidden|badrequest|notfound)$")
_NOT_DONE = re.compile(
    r"(?i)\bnot (?:yet )?(?:been )?implemented\b|\bunimplemented\b|\bTODO\b|\bFIXME\b|\bimplement me\b"
)
_ASKS = re.compile(
    r"flag\.Lookup\(\"test\.|testing\.(?:Testing|Short|CoverMode)\(|os\.(?:Getenv|LookupEnv)\(\"(?:\w*_)?(?:CI"
    r"|GITHUB_ACTIONS|GITLAB_CI|TESTING|GO_TEST\w*|TEST_MODE|IS_TEST|UNIT_TEST\w*|UNDER_TEST)\"\)|os\.Args\[0\].*\btest\b"
    r"|\"_?[\w./]*_test\.go\"|\"testing\.tRunner\""
)
_CLEANING = frozenset(
    {"Close", "Remove", "RemoveAll", "Kill", "Flush", "Sync", "Unlock", "Rollback", "Release", "Wait"}
)
_WRITING = re.compile(r"^(?:fmt\.F?[Pp]rint\w*|io\.Copy|\w+\.Write\w*|hash\w*\.Write)\(")
_RECOVERED = re.compile(r"defer func\(\) \{ ?(?:_ = )?(?:recover\(\)|if r := recover\(\); r != nil \{ ?\}) ?\}\(\)")
_EQUALS = re.compile(r"^(?:Equals?|Eq|IsEqual|DeepEqual|Same)$")
_NOTHING = re.compile(r"nil|\"\"|``|0|(?:\[\]|map\[\w+\])?[\w.*]+\{\}|\[\][\w.*]+\{\}")


def function(declaration: Declaration) -> Function:
    node = declaration.node
    body = node.field("body") or node
    return Function(
        guards=_guards(node),
        raises=_raises(node),
        handlers=_handlers(node),
        stub=lambda: _stub(node, body),
        answers=answers(node),
        asks_if_tested=asks_if_tested(node),
        returns_nothing=lambda: sum(_returns_nothing(one) for one in node.find_all(kind="return_statement")),
        always_equal=lambda: _always_equal(node, body),
    )


def _returns_nothing(statement: SgNode) -> bool:
    values = [flat_text(value) for value in returned_by(statement)]
    return bool(values) and all(_NOTHING.fullmatch(value) for value in values)


def _is_propagation(condition: SgNode) -> bool:
    text = flat_text(bare(condition))
    return text.endswith(" != nil") and is_error(text.removesuffix(" != nil"))


def _guards(node: SgNode) -> Iterator[str]:
    for one in node.find_all(of_kinds("if_statement", "call_expression")):
        if one.kind() == "call_expression":
            if _VALIDATING.search(called(one)):
                yield flat_text(one)
            continue
        condition, made = one.field("condition"), one.field("initializer")
        inner = list(statements(one.field("consequence")))
        if condition is None or not inner or _is_propagation(condition):
            continue
        if _refuses(inner):
            yield flat_text(made) + "; " + flat_text(condition) if made is not None else flat_text(condition)


def _refuses(inner: list[SgNode]) -> bool:
    last = inner[-1]
    calls = [call for one in inner if (call := call_of(one)) is not None]
    if len(calls) < len(inner) - 1:
        return False
    if last.kind() == "return_statement":
        values = returned_by(last)
        return _is_an_error(values[-1]) if values else any(_REFUSING.match(called(call)) for call in calls)
    return any(flat_text(call).startswith(("panic(", "log.Fatal", "log.Panic")) for call in calls)


def _is_an_error(value: SgNode) -> bool:
    return _error_in(value) is not None or is_error(flat_text(value))


def _error_in(value: SgNode) -> str | None:
    """The name of an error that is made here, or stands ready; None for one that is only passed on."""
    text = flat_text(value)
    if value.kind() == "call_expression":
        name, given = called(value), arguments(value)
        if re.search(r"(?i)err|unimplemented|^(?:Wrapf?|WithMessage)$", text.split("(")[0]):
            passed_on = any(is_error(flat_text(one)) for one in given)
            return None if passed_on else text.split("(")[0]
        return name if name.endswith("Error") else None
    if value.kind() in {"identifier", "selector_expression"}:
        last = text.split(".")[-1]
        return text if re.match(r"[eE]rr[A-Z]\w*$|EOF$|\w+Error$", last) else None
    if value.kind() in {"unary_expression", "composite_literal"}:
        named = re.match(r"&?([\w.]*(?:Error|Err)\w*)\{", text)
        return named[1] if named else None
    return None


def _raises(node: SgNode) -> Iterator[str]:
    for one in node.find_all(of_kinds("return_statement", "call_expression")):
        if one.kind() == "call_expression":
            if flat_text(one).startswith("panic("):
                yield "panic"
            continue
        values = returned_by(one)
        name = _error_in(values[-1]) if values else None
        if name is not None:
            yield name


def _handlers(node: SgNode) -> Iterator[Handler]:
    named = node.field("name")
    if named is not None and named.text().startswith("Benchmark"):  # where a result is for nobody
        return
    kinds = of_kinds("if_statement", "assignment_statement", "short_var_declaration", "defer_statement")
    for one in node.find_all(kinds):
        kind = one.kind()
        if kind == "if_statement":
            condition = one.field("condition")
            if condition is not None and _is_propagation(condition):
                yield Handler("", is_broad=True, is_silent=_is_silent(one), line=line_of(one))
        elif kind == "defer_statement":
            if _recovers_silently(one):
                yield Handler("recover()", is_broad=True, is_silent=True, line=line_of(one))
        elif (dropped := _dropped(one)) is not None:
            yield Handler(dropped, is_broad=True, is_silent=True, line=line_of(one))


def _is_silent(branch: SgNode) -> bool:
    """Nothing is done, or nothing is given back by a function that could have given back the error."""
    inner = list(statements(branch.field("consequence")))
    if not inner:
        return True
    if len(inner) > 1:
        return False
    if inner[0].kind() == "continue_statement":
        return True
    if inner[0].kind() != "return_statement":
        return False
    result = _result_of(branch)
    values = [flat_text(value) for value in returned_by(inner[0])]
    if not values:
        return result is None and not any(one.kind() == "defer_statement" for one in branch.ancestors())
    if result is None or not result.endswith(("error", "error)")):
        return False
    return values[-1] == "nil" and all(_NOTHING.fullmatch(value) for value in values)


def _result_of(node: SgNode) -> str | None:
    """Of the function around it, as written."""
    kinds = {"function_declaration", "method_declaration", "func_literal"}
    around = next((one for one in node.ancestors() if one.kind() in kinds), None)
    result = around.field("result") if around is not None else None
    return flat_text(result) if result is not None else None


def _recovers_silently(deferred: SgNode) -> bool:
    text = flat_text(deferred)
    if "recover()" not in text:
        return False
    return bool(_RECOVERED.fullmatch(text))


def _dropped(assignment: SgNode) -> str | None:
    """The error, or the call whose error, is given to nobody; whatever the call is given."""
    left, right = assignment.field("left"), assignment.field("right")
    if left is None or right is None:
        return None
    names = [name.text() for name in left.named_children()]
    values = right.named_children()
    if len(values) != 1 or not names or names[-1] != "_":
        return None
    value = values[0]
    if value.kind() == "identifier":
        return value.text() if is_error(value.text()) else None
    if value.kind() != "call_expression" or len(names) > 1:
        return None
    if any(is_error(one.text()) for one in arguments(value)):
        return None
    if called(value) in _CLEANING or _WRITING.match(flat_text(value)):
        return None
    function = value.field("function")
    return f"_ = {flat_text(function if function is not None else value)}"


def _stub(node: SgNode, body: SgNode) -> str | None:
    if node.field("body") is None:
        return None
    inner = list(statements(body))
    comments = [one.text() for one in body.find_all(kind="comment")]
    if not inner:
        return "{}" if any(TODO.search(text) or _NOT_DONE.search(text) for text in comments) else None
    if len(inner) > 1:
        return None
    text = flat_text(inner[0])
    made = text.startswith("panic(") or re.search(r"(?:errors\.New|Errorf|Error)\(", text) or "Unimplemented" in text
    if made and _NOT_DONE.search(text):
        return text
    said = any(_NOT_DONE.search(comment) for comment in comments)
    return text if said and inner[0].kind() == "return_statement" and _returns_nothing(inner[0]) else None


def asks_if_tested(node: SgNode) -> Iterator[str]:
    if not _ASKS.search(node.text()):
        return
    seen: set[int] = set()
    for one in node.find_all(of_kinds("call_expression", "interpreted_string_literal", "binary_expression")):
        if not _ASKS.search(one.text()):
            continue
        outer = one
        for above in one.ancestors():
            if above.kind() not in {"binary_expression", "call_expression", "argument_list", "unary_expression"}:
                break
            outer = above
        at = outer.range().start.index
        if at not in seen and "func(" not in outer.text():
            seen.add(at)
            yield flat_text(outer)


def _always_equal(node: SgNode, body: SgNode) -> bool:
    named = node.field("name")
    name = named.text() if named is not None else ""
    inner = [flat_text(one) for one in statements(body)]
    if _EQUALS.match(name):
        return inner == ["return true"] and bool(parameters(node))
    return name in {"Compare", "Cmp"} and inner == ["return 0"]
