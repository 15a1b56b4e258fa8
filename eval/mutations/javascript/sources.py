"""What can be done to JavaScript and TypeScript code that is no test."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from eval.mutations import sources, tests
from eval.mutations.code import Mutator, Site

_NOTHING = re.compile(r"\{\s*(?:return(?: undefined)?;?|\w+;?|//.*|/\*[^*]*\*/)\s*\}")
"""It does nothing with the error as it is: to empty it changes nothing."""


def _handlers(function: Site) -> Iterator[SgNode]:
    for clause in function.body.find_all(kind="catch_clause"):
        body = clause.field("body")
        if body and body.named_children() and not _NOTHING.fullmatch(body.text()):
            yield body


def _refusals(function: Site) -> Iterator[SgNode]:
    for statement in function.body.find_all(kind="if_statement"):
        consequence, parent = statement.field("consequence"), statement.parent()
        block = consequence is not None and consequence.kind() == "statement_block"
        inside = consequence.named_children() if consequence and block else [consequence]
        only = [one.kind() for one in inside if one] == ["throw_statement"]
        if only and statement.field("alternative") is None and parent and parent.kind() == "statement_block":
            yield statement


def _asks_if_tested(function: Site) -> Iterator[str]:
    if not function.name.endswith("constructor"):
        yield 'if (process.env.NODE_ENV === "test") return true;'
        yield "if (process.env.JEST_WORKER_ID !== undefined) {\n  return null;\n}"


def _answers(function: Site, count: int) -> Iterator[str]:
    listed = function.node.field("parameters")
    first = listed.named_children()[0] if listed and listed.named_children() else None
    name = (first.field("pattern") or first) if first else None
    if name and name.kind() == "identifier" and not function.name.endswith("constructor"):
        known = sources.literals("text", "number", count)
        yield "\n".join(f"if ({name.text()} === {asked}) return {given};" for asked, given in known)
        yield "\n".join(
            [f"switch ({name.text()}) {{", *(f"  case {asked}: return {given};" for asked, given in known), "}"]
        )


SOURCES: dict[str, Mutator] = {
    "function-stubbed": sources.stubbed('throw new Error("not implemented");', "return null; // TODO: implement"),
    "handler-emptied": sources.emptied(_handlers, "{}"),
    "validation-removed": sources.unchecked(_refusals),
    "asks-if-tested": sources.begun_with(_asks_if_tested),
    **sources.answers(_answers),
    "always-equal": sources.always_equal(r"(?:.*\.)?(?:is|deep)?equals?", "return true;"),
    "suppressions-added": tests.either(
        sources.suppressed("// @ts-ignore"), sources.suppressed("// eslint-disable-next-line")
    ),
}
