"""How statements of Go lead on, or end."""

from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.facts import Strength
from untilproven.guard.languages.golang.claims import called, claims
from untilproven.guard.languages.syntax import flat_text

SKIPS = frozenset({"Skip", "Skipf", "SkipNow"})
EXITS = ("os.Exit(", "syscall.Exit(", "runtime.Goexit(", "unix.Exit(")


def statements(block: SgNode | None) -> Iterator[SgNode]:
    """Of a block, or of a case; comments left out."""
    if block is None:
        return
    for child in block.named_children():
        if child.kind() == "statement_list":
            yield from (one for one in child.named_children() if one.kind() != "comment")
        elif child.kind() not in {"comment", "expression_list"}:
            yield child


def call_of(statement: SgNode) -> SgNode | None:
    """The call that a statement consists of."""
    if statement.kind() != "expression_statement" or not statement.named_children():
        return None
    call = statement.named_children()[0]
    return call if call.kind() == "call_expression" else None


def receiver(call: SgNode) -> str:
    """Whose method or which package's function is called."""
    function = call.field("function")
    operand = function.field("operand") if function is not None and function.kind() == "selector_expression" else None
    return flat_text(operand) if operand is not None else ""


def is_skip(statement: SgNode) -> bool:
    call = call_of(statement)
    return call is not None and called(call) in SKIPS and not flat_text(call).startswith("filepath.")


def constant(condition: SgNode) -> bool | None:
    """What a condition always is; None if that depends."""
    for passes in (True, False):
        found = list(claims(condition, passes))
        if found and all(claim.strength is Strength.NOTHING for claim in found):
            return passes
    return None


def is_parting(statement: SgNode) -> bool:
    """Whatever stands behind it in the same block is never reached, and nothing has failed."""
    kind = statement.kind()
    if kind in {"return_statement", "goto_statement", "break_statement", "continue_statement"}:
        return True
    if kind == "expression_statement":
        return is_skip(statement) or flat_text(statement).startswith(EXITS)
    if kind == "block":
        return any(is_parting(one) for one in statements(statement))
    if kind == "if_statement" and (asked := statement.field("condition")) is not None and constant(asked):
        return any(is_parting(one) for one in statements(statement.field("consequence")))
    return False
