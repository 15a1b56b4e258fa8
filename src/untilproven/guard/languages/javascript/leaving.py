"""What ends a test before its end, fails it by hand, or is never waited for."""

import re

from ast_grep_py import SgNode

from untilproven.guard.languages.javascript.assertions import FAILING
from untilproven.guard.languages.javascript.nodes import Link, bare, chain, expression_of, statements, truth, written

DONE = re.compile(r"_?(?:done|cb|callback|next|end|finish)")
"""What a runner waits for, by its usual names."""

EXIT = re.compile(r"process\.(?:exit|abort|reallyExit)\(|Deno\.exit\(|process\.kill\(process\.pid")
_PROMISED = frozenset({"resolves", "rejects", "eventually", "rejected", "rejectedWith", "fulfilled", "doesNotReject"})
_AWAITED = frozenset({"then", "catch", "finally", "notify", "end"})
_ON_PAGE = re.compile(
    r"toHave(?:Text|URL|Title|Count|Value|Attribute|Class|CSS|Screenshot)|toContainText|toMatchAriaSnapshot"
    r"|toBe(?:Visible|Hidden|Enabled|Disabled|Checked|Attached|Editable|Focused|InViewport)"
)
_SENDING = frozenset({"request", "supertest"})
_LITERAL = frozenset({"number", "string", "regex", "object", "array", "template_string"})


def ends(statement: SgNode) -> str | None:
    """What ends the whole run, or the test, as a statement: an exit, a certain return."""
    if statement.kind() == "expression_statement":
        text = statement.text()
        if EXIT.match(text):
            return written(statement)
        if re.match(r"(?:this|ctx|context)\.skip\(\)", text):
            return f"return {written(statement)}"
    if statement.kind() == "if_statement" and (condition := statement.field("condition")) and truth(condition):
        inside = statements(statement.field("consequence"))
        if inside and inside[-1].kind() == "return_statement":
            return written(inside[-1])
    return None


def fails(statement: SgNode) -> bool:
    """Whether a statement does nothing but fail the test."""
    if statement.kind() == "throw_statement":
        thrown = expression_of(statement) or next(iter(statement.named_children()), None)
        return thrown is not None and thrown.kind() in {"new_expression", "call_expression"}
    called = expression_of(statement)
    if called is None or bare(called).kind() != "call_expression":
        return False
    links = chain(called)
    if links[-1].name in FAILING:
        return True
    args = links[-1].args or ()
    return len(links) == 1 and bool(DONE.fullmatch(links[0].name)) and bool(args) and args[0].kind() == "new_expression"


def is_dropped(links: list[Link]) -> bool:
    """Whether an assertion is a promise that nobody waits for."""
    names = {link.name for link in links}
    if names & _AWAITED:
        return False
    if links[0].name in _SENDING and links[-1].name == "expect":
        return all(argument.kind() in _LITERAL for argument in links[-1].args or ())
    if names & _PROMISED and links[0].name in {"expect", "assert"}:
        return True
    is_on_page = links[0].name == "expect" and bool(_ON_PAGE.fullmatch(links[-1].name))
    return is_on_page and "@playwright/test" in links[0].node.get_root().root().text()
