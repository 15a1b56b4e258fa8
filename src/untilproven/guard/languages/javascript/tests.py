"""What is inside a test."""

from ast_grep_py import SgNode

from untilproven.guard.facts import Declaration, Running, Test
from untilproven.guard.languages.javascript.cases import cases
from untilproven.guard.languages.javascript.evidence import Evidence, gather
from untilproven.guard.languages.javascript.limits import retries, timeout
from untilproven.guard.languages.javascript.openings import opening
from untilproven.guard.languages.javascript.replacing import mocks
from untilproven.guard.languages.javascript.running import running
from untilproven.guard.languages.javascript.scope import scope_of
from untilproven.guard.languages.javascript.survey import survey


def test(declaration: Declaration) -> Test:
    found = opening(declaration.node)
    if found is None:
        return Test(Running.ALWAYS, ())
    around = survey(found.node).around(found.node)
    function: SgNode | None = found.function
    evidence = gather(function, scope_of(found, function)) if function is not None else Evidence((), 0, None)
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
