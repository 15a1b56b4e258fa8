"""What is inside a function in Rust."""

import re
from collections.abc import Iterator
from itertools import chain

from ast_grep_py import SgNode

from untilproven.guard.facts import Declaration, Function
from untilproven.guard.languages.rust.answers import answers
from untilproven.guard.languages.rust.claims import arguments, method, pieces, subject
from untilproven.guard.languages.rust.handlers import handlers
from untilproven.guard.languages.rust.statements import macro_name, statements
from untilproven.guard.languages.syntax import TODO, Marked, flat_text, of_kinds

_VALIDATING = re.compile(r"^(?:validate|sanitize|sanitise|authorize|authenticate|escape|is_valid)(?:_|$)")
_NOT_DONE = re.compile(r"(?i)\bnot (?:yet )?implemented\b|\bunimplemented\b|\bTODO\b|\bFIXME\b|\bimplement me\b")
_ASKS = re.compile(
    r"\bcfg!\s*\(\s*(?:not\s*\(\s*)?test\s*\)|(?:option_env!|env::var(?:_os)?)\s*\(\s*\"(?:\w*_)?(?:CI|GITHUB_ACTIONS|GITLAB_CI"
    r"|NEXTEST|RUST_TEST\w*|TEST_MODE|IS_TEST|UNDER_TEST|TESTING)\"\s*\)"
    r"|env::var(?:_os)?\s*\(\s*\"CARGO(?:_\w+)?\"\s*\)\s*\.is_(?:ok|err|some|none)\("
)
"""Tests are run by cargo, which sets names that begin so; a program that is installed has none of them."""
_FOR_TESTS = re.compile(r"#\[\s*cfg\((?:test|.*\bnot\s*\(\s*test\s*\).*)\)\s*\]$")
_ASSERTS = re.compile(r"(?:debug_)?assert(?:_eq|_ne|_matches)?$")
_DIVERGING = re.compile(r"(?:\w+::)*(?:panic|abort|fail|die|bail|unreachable)(?:_\w+)?$")
"""Functions by whose name it is known that they never come back."""
_NOTHING = re.compile(
    r"None|Ok\(None\)|\"\"|(?:Ok\()?(?:String::new\(\)|Vec::new\(\)|vec!\[\]|(?:\w+::)*default\(\)|\[\]|&\[\]|0)\)?"
)


def function(declaration: Declaration) -> Function:
    node = declaration.node
    body = node.field("body")
    marks = declaration.marks if isinstance(declaration, Marked) else ()
    return Function(
        guards=_guards(node),
        raises=_raises(node),
        handlers=handlers(node),
        stub=lambda: _stub(body),
        answers=answers(node),
        asks_if_tested=chain(filter(_is_not_for_tests, marks), asks_if_tested(node)),
        returns_nothing=lambda: _returns_nothing(node, body),
        always_equal=lambda: _always_equal(declaration.name, body),
    )


def _is_not_for_tests(mark: str) -> bool:
    return re.match(r"#\[\s*cfg\(.*\bnot\s*\(\s*test\s*\)", mark) is not None


def _guards(node: SgNode) -> Iterator[str]:
    for one in node.find_all(of_kinds("if_expression", "let_declaration", "macro_invocation", "call_expression")):
        kind = one.kind()
        if kind == "if_expression":
            condition = one.field("condition")
            if condition is not None and _refuses(one.field("consequence")):
                yield flat_text(condition)
        elif kind == "let_declaration":
            other = one.field("alternative")
            if other is not None and _refuses(other):
                yield flat_text(one).split(" else ")[0]
        elif kind == "macro_invocation":
            if macro_name(one) in {"ensure", "assert", "assert_eq", "assert_ne"}:
                given = pieces(one)
                yield flat_text(one) if macro_name(one).startswith("assert_") else "".join(given[:1])
        else:
            called = method(one) or flat_text(one).split("(")[0].rsplit("::", 1)[-1]
            if _VALIDATING.search(called):
                yield flat_text(one)
            elif called in {"ok_or", "ok_or_else"} and (checked := _checked(one)):
                yield checked


def _checked(call: SgNode) -> str | None:
    """A sum that is refused where it is too large: `len.checked_add(1).ok_or(TooLong)?`."""
    inner, above = subject(call), call.parent()
    if inner is None or above is None or above.kind() != "try_expression":
        return None
    return flat_text(inner) if method(inner).startswith("checked_") else None


def _refuses(block: SgNode | None) -> bool:
    """It does nothing but return an error, or panic."""
    if block is not None and block.kind() == "else_clause":
        block = next(iter(block.named_children()), None)
    inner = list(statements(block))
    if not inner or len(inner) > 2:
        return False
    last = inner[-1]
    if last.kind() == "return_expression" or last.kind() == "call_expression":
        named = last.field("function")
        if named is not None and _DIVERGING.match(flat_text(named)):
            return True
        return re.match(r"(?:return )?(?:Some\()?(?:Poll::Ready\()?Err\(", flat_text(last)) is not None
    return last.kind() == "macro_invocation" and macro_name(last) in {"panic", "bail", "unreachable"}


def _raises(node: SgNode) -> Iterator[str]:
    for one in node.find_all(of_kinds("call_expression", "macro_invocation")):
        if one.kind() == "macro_invocation":
            if macro_name(one) in {"panic", "bail"}:
                yield f"{macro_name(one)}!"
            continue
        named, given = one.field("function"), arguments(one)
        if named is None or not given:
            continue
        if named.text() == "Err" or method(one) in {"ok_or", "ok_or_else"}:
            found = re.match(r"(?:\|\|\s*)?((?:\w+::)*[A-Z]\w*(?:::\w+)*|\w+!)", flat_text(given[0]))
            if found:
                yield found[1]


def _stub(body: SgNode | None) -> str | None:
    if body is None:
        return None
    inner = list(statements(body))
    if len(inner) != 1:
        said = [one.text() for one in body.children() if one.kind().endswith("comment")]
        return "{}" if not inner and any(TODO.search(text) for text in said) else None
    one = inner[0]
    text = flat_text(one)
    if one.kind() == "macro_invocation":
        name = macro_name(one)
        return text if name in {"todo", "unimplemented"} or (name == "panic" and _NOT_DONE.search(text)) else None
    return text if text.startswith(("Err(", "return Err(")) and _NOT_DONE.search(text) else None


def asks_if_tested(node: SgNode) -> Iterator[str]:
    """Also an attribute on a statement, which is there in one kind of build only."""
    seen: set[int] = set()
    for one in node.find_all(of_kinds("macro_invocation", "call_expression")) if _ASKS.search(node.text()) else ():
        at = one.range().start.index
        if at not in seen and _ASKS.match(flat_text(one).removeprefix("std::")) and not _only_asserts(one):
            seen.add(at)
            yield flat_text(one)
    for one in node.find_all(kind="attribute_item") if "cfg(" in node.text() else ():
        if re.match(r"#\[\s*cfg\((?:test|.*\bnot\s*\(\s*test\s*\).*)\)\s*\]$", flat_text(one)) and _is_on_statement(
            one
        ):
            yield flat_text(one)


def _only_asserts(condition: SgNode) -> bool:
    """What is done under it is to assert: under test it refuses more than elsewhere."""
    whole = condition.parent()
    if whole is None or whole.kind() != "if_expression" or whole.field("alternative") is not None:
        return False
    inner = list(statements(whole.field("consequence")))
    return bool(inner) and all(one.kind() == "macro_invocation" and _ASSERTS.match(macro_name(one)) for one in inner)


def _is_on_statement(attribute: SgNode) -> bool:
    parent, following = attribute.parent(), attribute.next()
    if parent is None or following is None or parent.kind() != "block":
        return False
    return following.kind() not in {"use_declaration", "mod_item", "function_item", "attribute_item"}


def _returns_nothing(node: SgNode, body: SgNode | None) -> int:
    returned = [flat_text(one).removeprefix("return").strip() for one in node.find_all(kind="return_expression")]
    last = body.named_children()[-1:] if body is not None else []
    returned += [flat_text(one) for one in last if one.kind() not in {"expression_statement", "return_expression"}]
    return sum(_NOTHING.fullmatch(text) is not None for text in returned)


def _always_equal(name: str, body: SgNode | None) -> bool:
    inner = [re.sub(r"^return |;$", "", flat_text(one)) for one in statements(body)]
    of, _, last = name.rpartition("::")
    if not re.search(r"as (?:\w+::)*(?:PartialEq|Ord|PartialOrd|Hash)\b", of):
        return False
    answers_yes = {"eq": ["true"], "ne": ["false"]}
    if last in answers_yes:
        return inner == answers_yes[last]
    return len(inner) == 1 and re.fullmatch(r"(?:Some\()?(?:\w+::)*Ordering::Equal\)?", inner[0]) is not None
