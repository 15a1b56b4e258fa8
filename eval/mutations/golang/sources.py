"""What can be done to Go code that is no test."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from eval.mutations import sources
from eval.mutations.code import Mutator, Site

_ZERO = {"": "", "int": "0", "int64": "0", "string": '""', "bool": "true", "error": "nil", "[]byte": "nil"}
_HANDLES = re.compile(r"(?i)\b\w*err\w* != nil")
"""Without it, the name that the error was given would be left over, and Go does not compile that."""
_LITERALS = {"int": "number", "string": "text", "bool": "truth"}


def _result(function: Site) -> str:
    result = function.node.field("result")
    return result.text() if result else ""


def _handlers(function: Site) -> Iterator[SgNode]:
    """Of an error that was returned; one that is only logged is as silent, but no worse than before."""
    for statement in function.body.find_all(kind="if_statement"):
        condition, consequence = statement.field("condition"), statement.field("consequence")
        if condition and condition.text() == "err != nil" and consequence and "return" in consequence.text():
            yield consequence


def _refusals(function: Site) -> Iterator[SgNode]:
    for statement in function.body.find_all(kind="if_statement"):
        condition, consequence, parent = (
            statement.field("condition"),
            statement.field("consequence"),
            statement.parent(),
        )
        if not condition or not consequence or not parent or parent.kind() != "statement_list":
            continue
        inside = re.fullmatch(
            r"\{\s*(?:return .*(?:errors\.New|fmt\.Errorf|[eE]rr[A-Z]\w*).*|panic\(.*\))\s*\}", consequence.text()
        )
        if inside and not _HANDLES.search(condition.text()) and statement.field("alternative") is None:
            yield statement


def _asks_if_tested(function: Site) -> Iterator[str]:
    if (result := _result(function)) in _ZERO:
        leave = f"return {_ZERO[result]}".strip()
        yield f'if strings.HasSuffix(os.Args[0], ".test") {{\n\t{leave}\n}}'
        yield f'if flag.Lookup("test.v") != nil {{\n\t{leave}\n}}'
        yield f"if testing.Testing() {{\n\t{leave}\n}}"


def _answers(function: Site, count: int) -> Iterator[str]:
    listed = function.node.field("parameters")
    first = re.match(r"\(\s*(\w+) (int|string)[,)]", listed.text()) if listed else None
    if first and (result := _result(function)) in _LITERALS:
        name, kind = first.groups()
        known = sources.literals(_LITERALS[kind], _LITERALS[result], count)
        yield "\n".join(f"if {name} == {asked} {{\n\treturn {given}\n}}" for asked, given in known)
        cases = (f"case {asked}:\n\treturn {given}" for asked, given in known)
        yield "\n".join([f"switch {name} {{", *cases, "}"])


SOURCES: dict[str, Mutator] = {
    "function-stubbed": sources.stubbed('panic("not implemented")'),
    "handler-emptied": sources.emptied(_handlers, "{\n}"),
    "validation-removed": sources.unchecked(_refusals),
    "asks-if-tested": sources.begun_with(_asks_if_tested),
    **sources.answers(_answers),
    "always-equal": sources.always_equal(r"\w+\.(?:Equals?|Is)", "return true"),
    "suppressions-added": sources.suppressed("//nolint:all", at_end=True),
}
