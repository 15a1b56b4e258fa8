"""The tests and functions of a file in Go."""

import re
from collections.abc import Iterator

from ast_grep_py import Config, Rule, SgNode

from untilproven.guard.languages.golang.claims import arguments, called
from untilproven.guard.languages.golang.running import constraint_of
from untilproven.guard.languages.golang.statements import receiver
from untilproven.guard.languages.syntax import Marked

_TEST_NAME = re.compile(r"(Test|Fuzz|Example|Benchmark)(?![a-z])")
_OUTPUT = re.compile(r"(?i)//\s*(?:unordered )?output:")
_STRINGS = frozenset({"interpreted_string_literal", "raw_string_literal"})
CONTAINERS = frozenset({"Describe", "Context", "When", "DescribeTable", "DescribeTableSubtree"})
SPECS = frozenset({"It", "Specify", "Entry"})
_PREFIXES = ("F", "P", "X")
_NAMES = (
    r"^(?:[FPX]?(?:Describe|Context|When|DescribeTable|DescribeTableSubtree|It|Specify|Entry)"
    r"|[A-Za-z0-9_.()]+\.Run)$"
)

_NAMED_CALL: Rule = {
    "kind": "call_expression",
    "all": [
        {"has": {"field": "function", "regex": _NAMES}},
        {"has": {"field": "arguments", "has": {"nthChild": 1, "any": [{"kind": kind} for kind in sorted(_STRINGS)]}}},
    ],
}

_FOCUSED: Config = {"rule": {"all": [_NAMED_CALL, {"has": {"field": "function", "regex": "^F[A-Z]"}}]}}


def base(name: str) -> str:
    """A word of ginkgo without its mark for focus or for pending."""
    return name[1:] if name.startswith(_PREFIXES) and name[1:] in CONTAINERS | SPECS else name


def declarations(root: SgNode, path: str) -> Iterator[Marked]:
    constraint = constraint_of(root, path)
    marks = (constraint,) if constraint else ()
    in_test_file = path.endswith("_test.go")
    tables = _tables(root) if in_test_file else {}
    tests: dict[int, str] = {}
    for child in root.children():
        kind = child.kind()
        if kind in {"function_declaration", "method_declaration"}:
            is_test = in_test_file and _is_test(child)
            name = _name_of(child)
            if is_test:
                tests[child.range().start.index] = name
            yield Marked(name, child, is_test, (*marks, *tables.get(child.range().start.index, ())))
        elif kind == "var_declaration" and child.find(kind="func_literal") is not None:
            yield from _of_variables(child, marks)
    if in_test_file:
        yield from _nested(root, tests, marks)


def _name_of(node: SgNode) -> str:
    named = node.field("name")
    name = named.text() if named is not None else ""
    owner = node.field("receiver") if node.kind() == "method_declaration" else None
    if owner is None:
        return name
    kind = re.search(r"(\w+)\s*(?:\[[^\]]*\])?\s*\)$", owner.text())
    return f"{kind[1]}.{name}" if kind else name


def _is_test(node: SgNode) -> bool:
    named, given = node.field("name"), node.field("parameters")
    found = _TEST_NAME.match(named.text()) if named is not None else None
    if found is None or given is None:
        return False
    parameters = [one for one in given.named_children() if one.kind() == "parameter_declaration"]
    kinds = [kind.text() for one in parameters if (kind := one.field("type")) is not None]
    if node.kind() == "method_declaration":
        return found[1] == "Test" and node.field("result") is None and len(kinds) <= 1
    if found[1] == "Example":
        return not kinds and output_of(node) is not None
    if found[1] == "Benchmark" or len(kinds) != 1:
        return False
    return kinds[0].endswith(".T" if found[1] == "Test" else ".F") or kinds[0] in {"*T", "*F"}


def output_of(node: SgNode) -> SgNode | None:
    """The comment with which an example ends, and says what it must print."""
    body = node.field("body")
    last = [child for child in body.children() if child.kind() == "comment"] if body is not None else []
    return next((comment for comment in last if _OUTPUT.match(comment.text())), None)


def _of_variables(declaration: SgNode, marks: tuple[str, ...]) -> Iterator[Marked]:
    """Those with functions in them, ginkgo's containers apart, whose specs are found by themselves."""
    for spec in _specs(declaration):
        names = [name.text() for name in spec.field_children("name")]
        if names and names != ["_"] and spec.find(kind="func_literal") is not None:
            yield Marked(", ".join(names), spec, is_test=False, marks=marks)


def _specs(declaration: SgNode) -> list[SgNode]:
    """`var a = 1`, or several in parentheses."""
    below = declaration.named_children()
    return [spec for one in below for spec in ([one] if one.kind() == "var_spec" else one.named_children())]


def _nested(root: SgNode, tests: dict[int, str], marks: tuple[str, ...]) -> Iterator[Marked]:
    """Subtests and specs whose name is written out."""
    text = root.text()
    if ".Run(" not in text and "Describe" not in text and "It(" not in text:
        return
    focused = "Describe" in text and root.find(_FOCUSED) is not None
    for call in root.find_all({"rule": _NAMED_CALL}):
        above = [one for one in reversed(call.ancestors()) if one.kind() != "source_file"]
        if not above:
            continue
        if called(call) == "Run":
            test = tests.get(above[0].range().start.index)
            if test is not None and len(arguments(call)) == 2 and arguments(call)[1].kind() == "func_literal":
                names = [_title(one) for one in above if one.kind() == "call_expression" and _is_named_run(one)]
                yield Marked("/".join([test, *names, _title(call)]), call, is_test=True, marks=marks)
        elif base(called(call)) in SPECS and not receiver(call):
            outer = [one for one in above if one.kind() == "call_expression" and base(called(one)) in CONTAINERS]
            said = tuple(called(one) for one in outer if base(called(one)) != called(one))
            focus = ("focused elsewhere",) if focused and not any(one.startswith("F") for one in said) else ()
            focus = () if called(call).startswith("F") else focus
            table = tuple(one.text() for one in arguments_of_table(call))
            name = " > ".join([*map(_title, outer), _title(call)])
            yield Marked(name, call, is_test=True, marks=(*marks, *said, *focus, *table))


def arguments_of_table(entry: SgNode) -> list[SgNode]:
    """The function that a table of ginkgo runs for each entry."""
    above = entry.ancestors()[1:2] if base(called(entry)) == "Entry" else []
    return [one for table in above if table.kind() == "call_expression" for one in arguments(table)[1:2]]


def _is_named_run(call: SgNode) -> bool:
    return called(call) == "Run" and bool(arguments(call)) and arguments(call)[0].kind() in _STRINGS


def _title(call: SgNode) -> str:
    given = arguments(call)
    return given[0].text()[1:-1] if given and given[0].kind() in _STRINGS else ""


def _tables(root: SgNode) -> dict[int, tuple[str, ...]]:
    """Tables at the top of the file, by the position of the test that goes through them."""
    top = {}
    specs = [spec for child in root.children() if child.kind() == "var_declaration" for spec in _specs(child)]
    for spec in specs:
        value = spec.field("value")
        if value is not None and value.find(kind="literal_value") is not None:
            top.update({name.text(): spec.text() for name in spec.field_children("name")})
    used: dict[int, tuple[str, ...]] = {}
    for clause in root.find_all(kind="range_clause") if top else ():
        right = clause.field("right")
        if right is None or right.text() not in top:
            continue
        above = [one for one in reversed(clause.ancestors()) if one.kind() != "source_file"]
        at = above[0].range().start.index if above else -1
        if top[right.text()] not in used.get(at, ()):
            used[at] = (*used.get(at, ()), top[right.text()])
    return used
