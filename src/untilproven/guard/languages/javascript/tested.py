"""Conditions by which code can tell that it is being tested."""

import re

from ast_grep_py import SgNode

from untilproven.guard.languages.javascript.nodes import operator, written

_TELLING = re.compile(
    r"(?:process\.env|import\.meta\.env|Deno\.env)\s*\.\s*(?:CI|CONTINUOUS_INTEGRATION|GITHUB_ACTIONS|JEST_WORKER_ID|VITEST(?:_WORKER_ID|_POOL_ID|_MODE)?"
    r"|MOCHA|NODE_TEST_CONTEXT|PLAYWRIGHT_TEST|CYPRESS|AVA_PATH|TAP|TEST|TESTING|IS_TEST|UNIT_TEST|UNDER_TEST"
    r"|RUNNING_TESTS)|import\.meta\.vitest|window\.Cypress"
)
_ENVIRONMENT = re.compile(r"NODE_ENV|\bMODE\b|\b(?:app|node)?_?env(?:ironment)?\b|get\([\"']env[\"']\)", re.IGNORECASE)
_TYPEOF = re.compile(r"typeof\s+(?:jest|vi|describe|it|test|expect|mocha|jasmine|Cypress|cy)")
_NAMES = re.compile(r"test|testing|vitest|jest|mocha")
_EQUALITY = frozenset({"==", "===", "!=", "!=="})


def asked(node: SgNode) -> str | None:
    """The condition, if what was found is one: a telling variable that is looked at, an environment called `test`."""
    kind = node.kind()
    above = node.parent()
    if above is None:
        return None
    if kind == "string":
        return _compared(node, above) if _NAMES.fullmatch(node.text()[1:-1]) else None
    if kind == "unary_expression":
        if not _TYPEOF.fullmatch(node.text()):
            return None
        return written(above) if re.search(r"[\"'](?:function|undefined)[\"']", above.text()) else None
    if not _TELLING.fullmatch(node.text()):
        return None
    if above.kind() == "binary_expression" and operator(above) in _EQUALITY:
        return written(above)
    return written(node) if _decides(node) else None


def _compared(node: SgNode, above: SgNode) -> str | None:
    if above.kind() != "binary_expression" or operator(above) not in _EQUALITY:
        return None
    sides = [side for name in ("left", "right") if (side := above.field(name)) and side != node]
    return written(above) if sides and _ENVIRONMENT.search(sides[0].text()) else None


def _decides(node: SgNode) -> bool:
    """Whether something is done, or not, because of it."""
    above = node.parent()
    while above is not None:
        kind = above.kind()
        if kind in {"if_statement", "ternary_expression"}:
            return above.field("condition") == node
        if kind == "binary_expression" and operator(above) in {"&&", "||"}:
            return True
        if kind not in {"parenthesized_expression", "unary_expression", "non_null_expression"}:
            return False
        node, above = above, above.parent()
    return False
