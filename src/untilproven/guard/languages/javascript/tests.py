"""What is inside a test."""

import re

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Declaration, Running, Strength, Test
from untilproven.guard.languages.javascript.cases import cases
from untilproven.guard.languages.javascript.evidence import Evidence, gather
from untilproven.guard.languages.javascript.leaving import DONE
from untilproven.guard.languages.javascript.limits import retries, timeout
from untilproven.guard.languages.javascript.nodes import FUNCTIONS, arguments, parameters, statements, written
from untilproven.guard.languages.javascript.openings import Opening, opening
from untilproven.guard.languages.javascript.replacing import mocks
from untilproven.guard.languages.javascript.running import running
from untilproven.guard.languages.javascript.scope import scope_beside, scope_of
from untilproven.guard.languages.javascript.survey import survey
from untilproven.guard.languages.syntax import line_of

_ASKS = re.compile(r"\b(?:expect|assert)\b")


def test(declaration: Declaration) -> Test:
    found = opening(declaration.node)
    if found is None:
        function = _function(declaration.node)
        beside = gather(function, scope_beside(function)).assertions if function is not None else ()
        return Test(Running.ALWAYS, beside)
    around = survey(found.node).around(found.node)
    function = found.function
    if function is not None:
        evidence = gather(function, scope_of(found, function))
        evidence = evidence._replace(leaves=evidence.leaves or _told_too_early(function))
    else:
        evidence = Evidence(_elsewhere(found), 0, None)
    mark = running(found, around)
    return Test(
        mark.running,
        evidence.assertions,
        reason=mark.reason if mark.running < Running.ALWAYS else None,
        cases=cases(found, around),
        mocks=mocks(found),
        unreached=evidence.unreached,
        leaves=evidence.leaves,
        retries=retries(found, around),
        timeout=timeout(found, around),
    )


def _told_too_early(function: SgNode) -> str | None:
    """`done()` before what is asked in a callback: the test is over, and has passed."""
    done = next((name for name in parameters(function)[:1] if DONE.fullmatch(name)), None)
    block = statements(function.field("body"))
    for at, statement in enumerate(block):
        if done and re.fullmatch(rf"{done}\(\s*\);?", statement.text()):
            below = " ".join(one.text() for one in block[at + 1 :])
            return f"{done}()" if _ASKS.search(below) else None
    return None


def _function(node: SgNode) -> SgNode | None:
    """What is declared by it: `function f() {}`, `const f = () => {}`, a method."""
    if node.kind() in FUNCTIONS:
        return node
    return node.find(any=[{"kind": kind} for kind in FUNCTIONS])


def _elsewhere(opening: Opening) -> tuple[Assertion, ...]:
    """Of a test whose body is written elsewhere: what it is given counts as a helper."""
    given = [one for one in arguments(opening.node)[1:] if one.kind() not in {"object", "number"}]
    return tuple(Assertion(written(one), written(one), Strength.PARTLY, line_of(one)) for one in given[:1])
