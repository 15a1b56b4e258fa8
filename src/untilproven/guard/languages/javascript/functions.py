"""What is inside a function that is no test."""

import re
from collections.abc import Iterator
from functools import cached_property

from ast_grep_py import SgNode

from untilproven.guard.facts import Declaration, Function, Handler
from untilproven.guard.languages.javascript.answers import answers
from untilproven.guard.languages.javascript.handlers import handler_of, silenced
from untilproven.guard.languages.javascript.naming import name_of
from untilproven.guard.languages.javascript.nodes import (
    FUNCTIONS,
    Link,
    bare,
    chain,
    expression_of,
    number_of,
    opposite,
    statements,
    walk,
    written,
)
from untilproven.guard.languages.javascript.openings import value_at
from untilproven.guard.languages.javascript.tested import asked
from untilproven.guard.languages.syntax import Nodes

_PASSED_ON = re.compile(r"(?:next|cb|callback|done|reject|fail|fn|onError|resolveWithError)")
_ERROR = re.compile(r"(?:[A-Z]\w*)?(?:Error|Exception|Err|Failure|Rejection)")
_ERRORS_MADE = re.compile(
    r"(?:create|make|new|build|to|throw|raise|http)\w*(?:Error|Exception|Failure)|[A-Z]\w*(?:Error|Exception)"
    r"|err|errAsync|failure|unauthorized|forbidden|badRequest|notFound"
)
_VALIDATING = re.compile(
    r"(?:validate|sanitize|sanitise|authorize|authorise|authenticate|verify|ensure|assert|escape|invariant)(?:[A-Z_]\w*|s)?"
    r"|check(?:[A-Z_]\w*)|escapeHTML|timingSafeEqual|purify"
)
_MISSING = re.compile(
    r"not[\s_-]*(?:yet[\s_-]*)?implemented|unimplemented|\bTODO\b|implement me|to be implemented|stub(?:bed)?\b",
    re.IGNORECASE,
)
_EMPTY = frozenset({"null", "undefined", "void 0", "[]", "{}", '""', "``", "new Map()", "new Set()"})
_LONGEST_NOTHING = len("new Map()") + 3
_EQUALITY = re.compile(r"(?:.*\.)?(?:\w*[eE]quals?(?:To)?|isEqual\w*|areEqual\w*|eq|deepEqual|isSame\w*)")
_EMPTY_BY_NAME = re.compile(
    r"constructor$|[nN]oop|[nN]othing|[eE]mpty|[dD]ummy|[fF]ake|[mM]ock|[sS]tub|[dD]efault|[nN]ull|(?:^|[.>]\s*)on[A-Z]\w*$"
)
_REFUSALS = range(400, 600)
_LEAVING = frozenset({"return_statement", "throw_statement"})


def function(declaration: Declaration) -> Function:
    node = declaration.node
    own = _Own(lambda: _own(node))
    return Function(
        guards=_guards(own),
        raises=_raises(own),
        handlers=_handlers(own),
        stub=lambda: _stub(declaration),
        answers=answers(node, own),
        asks_if_tested=_asking(own),
        returns_nothing=lambda: sum(_is_nothing(value) for value in _returned(node)),
        always_equal=lambda: _is_always_equal(declaration),
    )


class _Own(Nodes):
    @cached_property
    def calls(self) -> list[tuple[SgNode, list[Link]]]:
        return [(one, chain(one)) for one in self if one.kind() == "call_expression"]


def _own(function: SgNode) -> Iterator[SgNode]:
    """Its nodes, those of functions declared in it left out: they are declarations of their own."""
    stack = [child for child in function.named_children() if child.kind() != "comment"]
    stack.reverse()
    while stack:
        node = stack.pop()
        kind = node.kind()
        if kind in {"class_body", "comment"} or (kind in FUNCTIONS and name_of(node) is not None):
            continue
        yield node
        stack.extend(reversed(node.named_children()))


def _returned(function: SgNode) -> Iterator[SgNode]:
    """The values that it returns itself."""
    body = function.field("body")
    if body is not None and body.kind() != "statement_block":
        yield bare(body)
        return
    for node in walk(body, into_functions=False) if body is not None else ():
        if node.kind() == "return_statement" and (value := expression_of(node)) is not None:
            yield bare(value)


def _is_nothing(value: SgNode) -> bool:
    return len(value.text()) <= _LONGEST_NOTHING and written(value) in _EMPTY


def _guards(own: _Own) -> Iterator[str]:
    """The same condition at two places is two."""
    yield from (conditions := tuple(_conditions(own)))
    yield from (call for call in dict.fromkeys(_validations(own)) if call not in conditions)


def _conditions(own: Nodes) -> Iterator[str]:
    for node in own:
        if node.kind() == "if_statement" and (condition := node.field("condition")):
            inside = statements(node.field("consequence"))
            if inside and _refuses(inside):
                if not _passes_on(bare(condition), inside[-1]):
                    yield written(bare(condition))
            elif inside and inside[-1].kind() not in _LEAVING and _refuses_otherwise(node):
                yield opposite(bare(condition))


def _refuses_otherwise(branch: SgNode) -> bool:
    """`if (known) { use() } else { throw ... }`, where there is no third way."""
    above, otherwise = branch.parent(), branch.field("alternative")
    if otherwise is None or (above is not None and above.kind() == "else_clause"):
        return False
    inside = [one for part in otherwise.named_children() for one in statements(part)]
    return bool(inside) and _refuses(inside)


def _validations(own: _Own) -> Iterator[str]:
    for node, links in own.calls:
        if _validates(links):
            args = [written(one) for one in links[-1].args or () if one.kind() not in FUNCTIONS]
            callee = node.field("function")
            yield f"{written(callee) if callee else ''}({', '.join(args)})"


def _passes_on(condition: SgNode, last: SgNode) -> bool:
    """`if (err) return done(err)`: it refuses nothing, it reports what went wrong elsewhere."""
    return condition.kind() == "identifier" and last.kind() != "throw_statement" and "new " not in last.text()


def _validates(links: list[Link]) -> bool:
    name = links[-1].name
    if _VALIDATING.fullmatch(name):
        return True
    if name in {"parse", "safeParse", "parseAsync", "validateSync"} and len(links) > 1:
        return links[-2].name.lower().endswith("schema")
    return False


def _refuses(inside: list[SgNode]) -> bool:
    """Whether a branch ends in an error, and does little else."""
    last = inside[-1]
    if len(inside) > len(("log", "mark", "leave")):
        return False
    if last.kind() == "throw_statement":
        return True
    said = expression_of(last)
    if said is None:
        return last.kind() == "return_statement" and len(inside) > 1 and _is_error(expression_of(inside[-2]))
    return _is_error(said)


def _is_error(value: SgNode | None) -> bool:
    if value is None:
        return False
    value = bare(value)
    if value.kind() == "new_expression" and (made := value.field("constructor")):
        return bool(_ERROR.search(made.text()))
    if value.kind() == "object":
        said = (value_at(value, key) for key in ("error", "errors", "err"))
        return any(
            one is not None and one.kind() in {"string", "template_string", "new_expression", "true"} for one in said
        )
    if value.kind() != "call_expression":
        return False
    links = chain(value)
    if any(
        link.name in {"status", "sendStatus", "code", "writeHead", "throw"} and _is_refusal(link) for link in links[1:]
    ):
        return True
    last = links[-1]
    if last.name == "reject" or _ERRORS_MADE.fullmatch(last.name):
        return True
    return (
        bool(_PASSED_ON.fullmatch(links[0].name)) and len(links) == 1 and bool(last.args) and _is_named_error(last.args)
    )


def _is_named_error(args: tuple[SgNode, ...] | None) -> bool:
    first = bare(args[0]) if args else None
    if first is None:
        return False
    return (
        first.kind() == "new_expression" or bool(re.fullmatch(r"(?:err|error|e)\b.*", first.text())) or _is_error(first)
    )


def _is_refusal(link: Link) -> bool:
    said = number_of(link.args[0]) if link.args else None
    return said is not None and int(said) in _REFUSALS


def _raises(own: Nodes) -> Iterator[str]:
    made = {
        name.text(): value
        for node in own
        if node.kind() == "variable_declarator" and (name := node.field("name")) and (value := node.field("value"))
    }
    caught = {name.text() for node in own if node.kind() == "catch_clause" and (name := node.field("parameter"))}
    for node in own:
        kind = node.kind()
        if kind == "throw_statement":
            value = next((child for child in node.named_children() if child.kind() != "comment"), None)
            if value is not None and value.text() not in caught and (said := _error_name(value, made)):
                yield said
        elif kind == "new_expression" and _is_handed_on(node):
            yield _error_name(node, made) or ""


def _error_name(value: SgNode, made: dict[str, SgNode]) -> str | None:
    """What makes it; None for an error that was made elsewhere."""
    value = bare(made.get(value.text(), value))
    named = value.field("constructor") or value.field("function")
    return written(named) if named is not None else None


def _is_handed_on(made: SgNode) -> bool:
    """Whether an error is returned, or given to who waits for it."""
    named, above = made.field("constructor"), made.parent()
    if named is None or above is None or not _ERROR.fullmatch(named.text().rpartition(".")[2]):
        return False
    if above.kind() in {"return_statement", "arrow_function"}:
        return True
    call = above.parent() if above.kind() == "arguments" else None
    callee = call.field("function") if call is not None else None
    return callee is not None and bool(_PASSED_ON.fullmatch(callee.text().rpartition(".")[2]))


def _handlers(own: _Own) -> Iterator[Handler]:
    for node in own:
        if node.kind() == "catch_clause":
            yield handler_of(node)
    for _, links in own.calls:
        if (found := silenced(links[-1])) is not None:
            yield found


def _asking(own: Nodes) -> Iterator[str]:
    kinds = {"member_expression", "string", "unary_expression"}
    yield from dict.fromkeys(said for node in own if node.kind() in kinds and (said := asked(node)))


def _stub(declaration: Declaration) -> str | None:
    body = declaration.node.field("body")
    if body is None or body.kind() != "statement_block":
        return None
    inside = statements(body)
    remarks = " ".join(comment.text() for comment in body.find_all(kind="comment"))
    if not inside:
        if _EMPTY_BY_NAME.search(declaration.name) or (remarks and not _MISSING.search(remarks)):
            return None
        if not remarks and _builds_on_another(declaration.node):
            return None
        return written(body) or "{}" if not _is_default(declaration.node) else None
    if len(inside) > 1:
        return None
    only = inside[0]
    if only.kind() == "throw_statement":
        return written(only) if _MISSING.search(only.text()) or "NotImplemented" in only.text() else None
    said = expression_of(only)
    if said is not None and _MISSING.search(remarks) and (written(bare(said)) in _EMPTY or _only_speaks(said)):
        return written(only)
    return None


def _builds_on_another(method: SgNode) -> bool:
    """Of a class, whose method of this name is to do nothing here."""
    within = next((one for one in method.ancestors() if one.kind() in {"class_declaration", "class"}), None)
    return within is not None and any(one.kind() == "class_heritage" for one in within.children())


def _only_speaks(said: SgNode) -> bool:
    return bare(said).kind() == "call_expression" and chain(said)[0].name == "console"


def _is_default(function: SgNode) -> bool:
    """Whether an empty body is there to be replaced: a member of an object, a callback."""
    above = function.parent()
    return above is None or above.kind() in {"pair", "arguments", "object"} or function.kind() == "arrow_function"


def _is_always_equal(declaration: Declaration) -> bool:
    if not _EQUALITY.fullmatch(declaration.name):
        return False
    body = declaration.node.field("body")
    inside = statements(body)
    if len(inside) != 1:
        return False
    said = expression_of(inside[0]) if inside[0].kind() == "return_statement" else inside[0]
    return said is not None and written(bare(said)) in {"true", "!0"}
