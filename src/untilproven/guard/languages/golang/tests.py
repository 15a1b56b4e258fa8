"""What is inside a test in Go."""

import re

from ast_grep_py import SgNode
from msgspec.structs import replace

from untilproven.guard.facts import Assertion, Declaration, Running, Strength, Test
from untilproven.guard.languages.golang.assertions import assertions
from untilproven.guard.languages.golang.claims import LITERALS, arguments, called
from untilproven.guard.languages.golang.declarations import arguments_of_table, base, output_of
from untilproven.guard.languages.golang.leaving import given_up
from untilproven.guard.languages.golang.running import Verdict, built, started
from untilproven.guard.languages.golang.statements import EXITS, receiver, statements
from untilproven.guard.languages.syntax import Claim, Marked, flat, flat_text, number_in, parsed

_SECONDS = {"Nanosecond": 1e-9, "Microsecond": 1e-6, "Millisecond": 1e-3, "Second": 1.0, "Minute": 60.0, "Hour": 3600.0}
_TABLES = frozenset({"slice_type", "array_type", "map_type", "implicit_length_array_type"})
_PATCHES = frozenset({"Patch", "PatchInstanceMethod", "ApplyFunc", "ApplyMethod", "ApplyGlobalVar", "Stub", "StubFunc"})
_FAILS = re.compile(r"\bExit\([1-9]")
"""It ends the run, and the run has failed."""
_BY_ENVIRONMENT = re.compile(r"Getenv|LookupEnv|os\.Args|flag\.")


def test(declaration: Declaration) -> Test:
    node = declaration.node
    marks = declaration.marks if isinstance(declaration, Marked) else ()
    running, reason = _running(node, marks)
    found = assertions(node)
    for table in arguments_of_table(node) if node.kind() == "call_expression" else ():
        found = assertions(table)
    listed = _without_own_answers(node, found.assertions)
    if (output := output_of(node)) is not None:
        expected = re.sub(r"(?m)^\s*//\s?", "", _to_the_end(output)).split(":", 1)[1]
        listed = (*listed, Claim("stdout", Strength.EXACTLY, expected).asserted(output))
    return Test(
        running=running,
        assertions=listed,
        reason=reason,
        cases=_cases(node, marks),
        mocks=_mocks(node),
        unreached=found.unreached,
        leaves=_leaves(node, found.parting, found.assertions),
        retries=_retries(node),
        timeout=_timeout(node),
    )


def _block(node: SgNode) -> SgNode | None:
    """The statements of the test itself."""
    if node.kind() != "call_expression":
        return node.field("body")
    functions = [one for one in arguments(node) if one.kind() == "func_literal"]
    return functions[-1].field("body") if functions else None


def _running(node: SgNode, marks: tuple[str, ...]) -> Verdict:
    verdicts = [built(mark) for mark in marks if mark.startswith("//")]
    said = [mark for mark in marks if mark.isidentifier()] + (
        [called(node), *(one.text() for one in arguments(node))] if node.kind() == "call_expression" else []
    )
    verdicts += [(Running.NEVER, word) for word in said if re.fullmatch(r"[PX](?:[A-Z]\w+)|Pending", word)]
    verdicts += [(Running.NEVER, mark) for mark in marks if mark == "focused elsewhere"]
    if node.kind() == "call_expression":
        verdicts += [started(_block(one)) for one in node.ancestors() if _is_subtest(one)]
        outer = [one for one in node.ancestors() if one.kind() in {"function_declaration", "method_declaration"}]
        verdicts += [started(one.field("body")) for one in outer]
    verdicts.append(started(_block(node)))
    return min(verdicts, key=lambda verdict: verdict[0])


def _is_subtest(node: SgNode) -> bool:
    return node.kind() == "call_expression" and called(node) == "Run"


def _to_the_end(comment: SgNode) -> str:
    rest = [one.text() for one in comment.next_all() if one.kind() == "comment"]
    return "\n".join([comment.text(), *rest])


def _cases(node: SgNode, marks: tuple[str, ...]) -> tuple[str, ...]:
    """Rows of tables that are gone through, subtests by name, seeds of a fuzz test, entries."""
    tables = [*node.find_all(kind="composite_literal")]
    for mark in marks:
        if not mark.startswith("//") and "{" in mark:
            tables += parsed(f"package p\nvar {mark}", "go").find_all(kind="composite_literal")
    walked = _walked(node)
    cases = []
    for table in tables:
        kind, body = table.field("type"), table.field("body")
        if kind is None or body is None or kind.kind() not in _TABLES:
            continue
        if table.text() in walked or _named(table) in walked:
            cases += [flat_text(row) for row in body.named_children() if row.kind() != "comment"]
    for call in node.find_all(kind="call_expression"):
        given = arguments(call)
        name = called(call)
        if name == "Run" and call != node and len(given) == 2 and given[0].kind() in LITERALS:
            cases.append(given[0].text())
        elif (call == node and base(name) == "Entry") or (
            name == "Add" and receiver(call) == "f" and node.field("body") is not None
        ):
            cases.append(flat_text(call))
    return tuple(cases)


def _walked(node: SgNode) -> set[str]:
    """What is gone through: by a loop, or one after the other by a number that is counted."""
    found = {clause.text() for one in node.find_all(kind="range_clause") if (clause := one.field("right")) is not None}
    for one in node.find_all(kind="index_expression"):
        table, number = one.field("operand"), one.field("index")
        if table is not None and number is not None and number.kind() == "identifier":
            found.add(table.text())
    return found


def _named(table: SgNode) -> str:
    for above in table.ancestors()[:3]:
        left = above.field("left") or above.field("name")
        if left is not None:
            return left.text()
    return ""


def _mocks(node: SgNode) -> tuple[str, ...]:
    found = []
    for call in node.find_all(kind="call_expression"):
        name, given, asked = called(call), arguments(call), receiver(call)
        if name == "On" and given and given[0].kind() in LITERALS:
            found.append(f"{asked}.{given[0].text()[1:-1]}")
        elif asked.endswith(".EXPECT()"):
            found.append(f"{asked.removesuffix('.EXPECT()')}.{name}")
        elif name in _PATCHES and given:
            found.append(given[0].text().lstrip("&"))
        elif re.match(r"New(?:Mock|Fake)[A-Z]", name):
            found.append(name.removeprefix("New"))
    own = {
        name.text() for made in node.find_all(kind="short_var_declaration") for name in made.find_all(kind="identifier")
    }
    own |= {name.text() for made in node.find_all(kind="var_spec") for name in made.field_children("name")}
    for assignment in node.find_all(kind="assignment_statement"):
        left, right = assignment.field("left"), assignment.field("right")
        if left is None or right is None or right.child(0) is None:
            continue
        value = right.named_children()[0] if right.named_children() else None
        root = left.text().split(".")[0]
        if value is not None and value.kind() == "func_literal" and root not in own | {"_"}:
            found.append(left.text())
    return tuple(dict.fromkeys(found))


def _without_own_answers(node: SgNode, listed: tuple[Assertion, ...]) -> tuple[Assertion, ...]:
    """An assertion on a mock that answers what the test told it to says nothing."""
    told: dict[str, set[str]] = {}
    for call in node.find_all(
        {"rule": {"kind": "call_expression", "has": {"field": "function", "regex": r"\.Return$"}}}
    ):
        chain = re.match(r"(\w+)\.(?:On\(\"(\w+)\"|EXPECT\(\)\s*\.\s*(\w+)\()", flat(call.text()))
        values = [one for one in arguments(call) if one.kind() in LITERALS]
        if chain and values:
            told.setdefault(f"{chain[1]}.{chain[2] or chain[3]}(", set()).update(one.text() for one in values)
    if not told:
        return listed
    made = {}
    for one in node.find_all(kind="short_var_declaration"):
        left, right = one.field("left"), one.field("right")
        if left is not None and right is not None:
            made.update({name.text(): flat_text(right) for name in left.named_children()})
    return tuple(
        replace(one, strength=Strength.NOTHING)
        if any(
            made.get(one.about, one.about).startswith(asked) and one.expected in values
            for asked, values in told.items()
        )
        else one
        for one in listed
    )


def _leaves(node: SgNode, parting: SgNode | None, asserted: tuple[Assertion, ...]) -> str | None:
    if parting is not None and parting.kind() == "return_statement":
        return flat_text(parting)
    for call in node.find_all(kind="call_expression"):
        text = flat_text(call)
        if not text.startswith(EXITS) or _FAILS.search(text):
            continue
        asked = [one.field("condition") for one in call.ancestors() if one.kind() == "if_statement"]
        if not any(one is not None and _BY_ENVIRONMENT.search(one.text()) for one in asked):
            return text
    if parting is not None:
        inner = [one for one in statements(parting.field("consequence")) if one.kind() == "return_statement"]
        return flat_text(inner[0] if inner else parting).split("{")[0].strip()
    early = given_up(_block(node), asserted)
    return flat_text(early) if early is not None else None


def _retries(node: SgNode) -> int | None:
    for one in arguments(node) if node.kind() == "call_expression" else []:
        if one.kind() == "call_expression" and called(one) == "FlakeAttempts" and arguments(one):
            number = number_in(arguments(one)[0].text())
            return int(number) if number is not None else None
    return None


def _timeout(node: SgNode) -> float | None:
    for one in arguments(node) if node.kind() == "call_expression" else []:
        if one.kind() == "call_expression" and called(one) in {"SpecTimeout", "NodeTimeout"} and arguments(one):
            return _seconds(arguments(one)[0].text())
    return None


def _seconds(text: str) -> float | None:
    """Of a duration as written: `5 * time.Second`."""
    unit = re.search(r"time\.(\w+)", text)
    number = re.search(r"\d[\d.]*", text)
    if unit is None or unit[1] not in _SECONDS:
        return None
    return (float(number[0]) if number else 1.0) * _SECONDS[unit[1]]
