"""What is inside a test in Rust."""

import re

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Declaration, Running, Strength, Test
from untilproven.guard.languages.rust.assertions import Found, assertions
from untilproven.guard.languages.rust.attributes import Attribute, Verdict, attributes, running, split
from untilproven.guard.languages.rust.claims import arguments, claims, method, subject
from untilproven.guard.languages.rust.leaving import given_up
from untilproven.guard.languages.rust.statements import EXITS, constant, macro_name, statements
from untilproven.guard.languages.syntax import Claim, Marked, flat, flat_text, line_of, number_in, parsed

_CASES = frozenset({"case", "test_case", "values", "parameterized", "matrix", "test_matrix"})
_SAID_BY_FAILURES = ("assertion `left == right` failed left: right:", "assertion failed: ", "called `Option::unwrap()`")
_ENVIRONMENT = re.compile(r"\bcfg!|env::var|env!\(|is_root\(|\bCI\b|target_os|is_x86_feature_detected|Command::new")
_SAYS = re.compile(r"(?!TestResult::(?:passed|discard)\(|(?:Ok|prop_)\b)")
"""What says that a property holds, whatever came before, asks nothing."""
_BUILT_FOR = re.compile(r"!?cfg!\(")


def test(declaration: Declaration) -> Test:
    marks = declaration.marks if isinstance(declaration, Marked) else ()
    node = declaration.node
    fence = next((mark for mark in marks if mark.startswith("```")), "")
    bodies = _bodies(node, marks)
    found = [assertions(body) for body in bodies]
    own = list(attributes(mark for mark in marks if mark.startswith("#[")))
    panics = _panics(own, fence, node)
    listed, unreached = _listed(found, panics)
    listed = [*listed, *_held(node, marks)]
    verdict = min([running(marks), _fenced(fence), *map(_started, bodies)], key=lambda verdict: verdict[0])
    parting = next((one.parting for one in found if one.parting is not None), None)
    return Test(
        running=verdict[0],
        assertions=(*panics, *listed),
        reason=verdict[1],
        cases=_cases(own, node, marks),
        mocks=_mocks(node),
        unreached=unreached,
        leaves=_leaves(bodies, parting, listed),
        retries=_number(own, "retries", "flaky_test", "flaky"),
        timeout=_timeout(own),
    )


def _held(node: SgNode, marks: tuple[str, ...]) -> list[Assertion]:
    """What a property says must hold: the value that its function ends with."""
    if node.kind() != "source_file" or not any(mark.startswith("(") for mark in marks):
        return []
    block = node.find(kind="block")
    last = next(reversed(block.named_children()), None) if block is not None else None
    if last is None or last.kind() not in {"binary_expression", "unary_expression", "call_expression"}:
        return []
    asked = claims(last, passes=True) if _SAYS.match(last.text()) else ()
    return [claim.asserted(last) for claim in asked]


def _bodies(node: SgNode, marks: tuple[str, ...]) -> list[SgNode]:
    """What is run; for a test that a macro makes, the functions of that macro, or what it was given."""
    if node.kind() != "macro_invocation":
        return [node]
    maker = next((mark for mark in marks if mark.startswith("macro_rules!")), None)
    if maker is None:
        tree = next((one for one in node.children() if one.kind() == "token_tree"), None)
        return [parsed(_given(tree), "rust", line_of(tree))] if tree is not None else []
    defined = parsed(maker, "rust")
    rules = [one.field("right") for one in defined.find_all(kind="macro_rule")]
    return [parsed(rule.text()[1:-1], "rust", line_of(node)) for rule in rules if rule is not None]


def _given(tree: SgNode) -> str:
    """The arguments of a macro without the name that comes first: `(name, |x| { ... })`."""
    children = tree.children()
    commas = [one for one in children[:3] if one.text() == ","]
    text = tree.text()
    if not commas:
        return text if text.startswith("{") else f"{text};"
    start = commas[0].range().end.index - tree.range().start.index
    return f"({text[start:-1].strip()});"


def _listed(found: list[Found], panics: list[Assertion]) -> tuple[list[Assertion], int]:
    """In a test that is to panic, an assertion that fails lets it pass, unless it would fail with other words."""
    sure = [one for part in found for one in part.assertions]
    unreached = sum(part.unreached for part in found)
    if any(_is_any_panic(panic, sure) for panic in panics):
        return [], unreached + len(sure)
    return sure or [one for part in found for one in part.weak if not panics], unreached


def _is_any_panic(panic: Assertion, sure: list[Assertion]) -> bool:
    """Whether what is expected is also what an assertion of the test says when it fails."""
    words = (panic.expected or "").strip('"')
    said = [*_SAID_BY_FAILURES, *(one.text for one in sure)]
    return words.startswith("assertion ") or any(words in text for text in said)


def _panics(own: list[Attribute], fence: str, node: SgNode) -> list[Assertion]:
    found = []
    for attribute in own:
        if attribute.name == "should_panic":
            message = re.search(r"(?:^|expected\s*=\s*)(\"(?:[^\"\\]|\\.)*\")", attribute.value)
            claim = Claim("", Strength.EXACTLY if message else Strength.PARTLY, message[1] if message else None)
            found.append(claim._replace(error="panic").asserted(node, flat(attribute.text)))
    tags = [tag for tag in ("should_panic", "compile_fail") if tag in fence]
    return found + [Claim("", Strength.PARTLY, error=tag).asserted(node, fence) for tag in tags]


def _fenced(fence: str) -> Verdict:
    """`ignore-wasm` is for one platform, and `no_run` is built but not run."""
    if re.search(r"\bignore\b(?!-)", fence):
        return Running.NEVER, fence
    return (Running.SOMETIMES, fence) if re.search(r"\b(?:no_run|ignore-)", fence) else (Running.ALWAYS, None)


def _started(node: SgNode) -> Verdict:
    """From what stands in the test's own block, before anything else decides."""
    body = node.field("body")
    if (only := _only_somewhere(body)) is not None:
        return Running.SOMETIMES, only
    for one in statements(body if body is not None else node):
        condition = one.field("condition") if one.kind() == "if_expression" else None
        if condition is None or one.field("alternative") is not None:
            continue
        inner = list(statements(one.field("consequence")))
        ends = [each for each in inner if each.kind() == "return_expression"]
        if ends and len(inner) <= 2 and (always := constant(condition)) is not False:
            text = flat_text(condition)
            if always:
                return Running.NEVER, text
            if _ENVIRONMENT.search(text):
                return Running.SOMETIMES, text
    return Running.ALWAYS, None


def _only_somewhere(body: SgNode | None) -> str | None:
    """Where all that it does stands under a condition of what it is built for: `if cfg!(windows) { ... }`."""
    asked = []
    for one in statements(body):
        if one.kind() in {"let_declaration", "use_declaration", "const_item"}:
            continue
        condition = one.field("condition") if one.kind() == "if_expression" else None
        if condition is None or one.field("alternative") is not None or constant(condition) is not None:
            return None
        asked.append(flat_text(condition))
    return " or ".join(asked) if asked and all(map(_BUILT_FOR.match, asked)) else None


def _cases(own: list[Attribute], node: SgNode, marks: tuple[str, ...]) -> tuple[str, ...]:
    cases = [flat(one.text) for one in own if one.last in _CASES or one.name.startswith("case::")]
    for one in node.find_all(kind="attribute_item") if node.kind() == "function_item" else ():
        if re.match(r"#\[values\b", one.text()):
            cases += split(one.text()[one.text().index("(") + 1 : -2])
    if node.kind() == "macro_invocation" and any(mark.startswith("macro_rules!") for mark in marks):
        cases.append(flat_text(node))
    return (*cases, *_rows(node))


def _rows(node: SgNode) -> list[str]:
    """Of tables that are gone through: `for (a, b) in [(1, 2), (3, 4)]`, or one that has a name."""
    named: dict[str, SgNode] = {}
    for made in node.find_all(kind="let_declaration"):
        pattern, value = made.field("pattern"), made.field("value")
        if pattern is not None and value is not None:
            named[pattern.text()] = value
    rows: list[str] = []
    for loop in node.find_all(kind="for_expression"):
        table = loop.field("value")
        while table is not None and (method(table) in {"iter", "into_iter"} or table.kind() == "reference_expression"):
            table = subject(table) if method(table) else table.named_children()[-1]
        if table is not None:
            table = named.get(table.text(), table)
            while table.kind() == "reference_expression" and table.named_children():
                table = table.named_children()[-1]
            if table.kind() == "array_expression":
                rows += [flat_text(row) for row in table.named_children() if not row.kind().endswith("comment")]
            elif table.kind() == "macro_invocation" and macro_name(table) == "vec":
                text = _without_remarks(table)
                rows += split(text[text.index("!") + 2 : -1])
    return rows


def _without_remarks(node: SgNode) -> str:
    text = node.text()
    for remark in node.find_all(any=[{"kind": "line_comment"}, {"kind": "block_comment"}]):
        text = text.replace(remark.text(), "", 1)
    return flat(text)


def _mocks(node: SgNode) -> tuple[str, ...]:
    """`mock.expect_get()`, `MockStore::new()`, `server.mock(...)`."""
    found = []
    for call in node.find_all(kind="call_expression"):
        name, on = method(call), subject(call)
        if name.startswith("expect_") and name != "expect_err" and on is not None and "mock" in on.text().lower():
            found.append(f"{on.text()}.{name.removeprefix('expect_')}")
        function = call.field("function")
        made = re.fullmatch(r"(?:\w+::)*(Mock\w+)::(?:new|default)", function.text()) if function is not None else None
        if made:
            found.append(made[1])
        if name == "mock" and arguments(call) and on is not None:
            found.append(f"{on.text()}.mock")
    return tuple(dict.fromkeys(found))


def _leaves(bodies: list[SgNode], parting: SgNode | None, asked: list[Assertion]) -> str | None:
    if parting is not None:
        text = flat_text(parting).split("{")[0]
        if re.match(r"return\b|(?:std::)?process::|if ", text):
            return text.strip().rstrip(";")
    for body in bodies:
        for call in body.find_all(kind="call_expression"):
            if EXITS.match(flat_text(call)):
                return flat_text(call)
    return next((early for body in bodies if (early := given_up(body.field("body"), asked))), None)


def _number(own: list[Attribute], *names: str) -> int | None:
    for one in own:
        if one.last in names:
            found = re.search(r"\d+", one.value)
            return int(found[0]) if found else None
    return None


def _timeout(own: list[Attribute]) -> float | None:
    """`#[timeout(1000)]` counts in thousandths; with `Duration` it says itself."""
    for one in own:
        if one.last == "timeout":
            found = re.search(r"from_(secs|millis)(?:_f\d+)?\(([\d._]+)", one.value)
            number = number_in(found[2] if found else one.value)
            if number is not None:
                return number if found and found[1] == "secs" else number / 1000
    return None
