"""From a journal to its receipt: what was asked, claimed, checked, changed, spent, and who decided."""

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import jsonschema
import msgspec
import pytest
from msgspec import UNSET
from msgspec.structs import replace

from support import MOMENT, iteration_events
from untilproven.core.projection import apply
from untilproven.core.receipt import LISTED_CHANGES, receipt
from untilproven.core.receipt_text import receipt_text
from untilproven.core.tally import LISTED
from untilproven.model import events, schema, wire
from untilproven.model.fields import Decision, Severity
from untilproven.model.iteration import Complete, Continue, Failed, Fate, FileChange, Finding, Usage
from untilproven.model.plan import Plan
from untilproven.model.receipt import Proof, Receipt
from untilproven.model.state import LoopState, ProcessIdentity
from untilproven.model.status import Status
from untilproven.store.journal import header_of

LOOP = "ralph-fix-0123abcd"
CHECK = "pytest -q"
PROCESS = ProcessIdentity(pid=7, start="1", boot_id="b")


def first_state(**more: Any) -> LoopState:
    plan = Plan(agent="claude", model="opus", task_hash="0", sandbox="none")
    given = {"task": "Fix it\nall of it", "started_at": MOMENT, "plan": plan, **more}
    return LoopState(version="2.0.0", loop_id=LOOP, status=Status.RUNNING, iteration=0, **given)


def journal(*happened: events.Event, state: LoopState | None = None) -> Iterator[events.Entry]:
    begun = events.LoopStarted(state=wire.to_builtins(state or first_state()), started_with="", vouch="")
    for seq, event in enumerate([begun, *happened], start=1):
        yield events.Entry(header_of(LOOP, seq, MOMENT + timedelta(minutes=seq), event), event)


def made(
    *happened: events.Event,
    state: LoopState | None = None,
    status: Status = Status.COMPLETED,
    reason: str = "it passes now",
    proof: Proof | None = Proof.RED_TO_GREEN,
) -> Receipt:
    entries = list(journal(*happened, state=state))
    last: LoopState | None = None
    for entry in entries:
        last = apply(last, entry)
    assert last is not None
    found = receipt(
        iter(entries), last, finished_at=MOMENT + timedelta(hours=1), status=status, reason=reason, proof=proof
    )
    plain = msgspec.json.decode(wire.encode(found))
    jsonschema.Draft202012Validator(schema.schema("receipt")).validate(plain)
    return found


def started(number: int, tree: str = "t0") -> events.IterationStarted:
    return events.IterationStarted(iteration=number, tree=tree)


def observed(number: int, *delta: FileChange, tree: str = "t1", **more: Any) -> events.IterationObserved:
    return events.IterationObserved(iteration=number, delta=delta, tree=tree, **more)


def checked(number: int, *, passed: bool, check: str = CHECK, **more: Any) -> events.CheckFinished:
    return events.CheckFinished(iteration=number, check=check, kind="tests", passed=passed, **more)


def finished(number: int, *, fate: Fate = Fate.KEPT, usage: Usage | None = None) -> events.IterationFinished:
    return events.IterationFinished(
        iteration=number,
        result=Continue(reason=""),
        fate=fate,
        counted=True,
        progressed=True,
        duration_seconds=2.5,
        usage=usage or UNSET,
    )


def whole(number: int, *delta: FileChange, fate: Fate = Fate.KEPT, **more: Any) -> list[events.Event]:
    usage = more.pop("usage", None)
    return [started(number), observed(number, *delta, **more), finished(number, fate=fate, usage=usage)]


def created(path: str) -> FileChange:
    return FileChange(path=path, change="created", hash="1", size_bytes=1)


def words(found: Receipt) -> dict[str, str]:
    return dict(receipt_text(found))


def test_a_loop_from_red_to_green() -> None:
    found = made(
        checked(0, passed=False, output="1 failed"),
        started(1),
        observed(1, created("a.py"), tree="t1", result=Continue(reason="")),
        checked(1, passed=False, output="1 failed"),
        finished(1, usage=Usage(input_tokens=70, output_tokens=30, cost_usd=0.5, cost_source="agent", model="opus-4")),
        started(2),
        observed(2, created("b.py"), tree="t2", claim="DONE"),
        checked(2, passed=True, output="1 passed"),
        finished(2, usage=Usage(input_tokens=60, output_tokens=40, cost_usd=0.25, cost_source="agent", model="opus-4")),
    )
    assert (found.task, found.iterations, found.tree) == ("Fix it\nall of it", 2, "t2")
    assert (found.agent, found.model, found.sandbox) == ("claude", "opus", "none")
    assert [(check.iteration, check.passed, check.output) for check in found.checks_before] == [(0, False, "1 failed")]
    assert [(check.iteration, check.passed, check.output) for check in found.checks_after] == [(2, True, "1 passed")]
    assert [change.path for change in found.changed] == ["a.py", "b.py"]
    assert [(claim.iteration, claim.text) for claim in found.claims] == [(2, "DONE")]
    assert found.spent == Usage(
        input_tokens=130,
        output_tokens=70,
        total_tokens=200,
        cost_usd=0.75,
        cost_source="agent",
        agent="claude",
        model="opus-4",
    )
    assert found.unknown_cost_iterations is UNSET
    assert found.worked_seconds == 5.0
    assert words(found) == {
        "asked": "Fix it",
        "claimed": "'DONE' in iteration 2",
        "proof": "proven: red-to-green",
        "before": "pytest -q failed",
        "after": "pytest -q passed",
        "changed": "2 files (2 created)",
        "spent": "2 iterations, 5 s, 200 tokens, $0.75",
        "sandbox": "none (unprotected)",
        "decided by": "the checks",
    }


def test_a_complete_result_is_a_claim_too() -> None:
    assert [claim.text for claim in made(*whole(1, result=Complete())).claims] == ["complete"]


@pytest.mark.parametrize("fate", [Fate.DISCARDED, Fate.PARKED])
def test_only_what_was_kept_has_changed(fate: Fate) -> None:
    found = made(*whole(1, created("a"), tree="t1"), *whole(2, created("b"), tree="t2", fate=fate))
    assert [change.path for change in found.changed] == ["a"]
    assert found.tree == "t1"


def test_where_nothing_was_kept_the_tree_is_the_first() -> None:
    found = made(*whole(1, created("a"), fate=Fate.DISCARDED))
    assert (found.tree, found.changed) == ("t0", ())
    assert words(found)["changed"] == "nothing"


def gate(iteration: int, decision: Decision) -> list[events.Event]:
    return [
        events.GateOpened(gate_id="g1", kind="test_deletion", message="", iteration=iteration),
        events.GateDecided(gate_id="g1", decision=decision, by="human", why="they were wrong"),
    ]


@pytest.mark.parametrize(("decision", "paths"), [(Decision.APPROVE, ["a"]), (Decision.REJECT, [])])
def test_parked_changes_count_once_they_are_approved(decision: Decision, paths: list[str]) -> None:
    found = made(*whole(1, created("a"), fate=Fate.PARKED), *gate(1, decision))
    assert [change.path for change in found.changed] == paths
    (ruling,) = found.decided
    assert (ruling.gate, ruling.kind, ruling.decision, ruling.by) == ("g1", "test_deletion", decision, "human")
    assert words(found)["decided by"].endswith(
        f"human: {decision}{'d' if paths else 'ed'} test_deletion (they were wrong)"
    )


def test_created_and_deleted_again_has_not_changed() -> None:
    assert made(*whole(1, created("a")), *whole(2, FileChange(path="a", change="deleted"))).changed == ()


def test_the_checks_after_are_those_of_the_last_iteration_that_ran_any() -> None:
    found = made(
        started(1),
        observed(1),
        checked(1, passed=True, check="a"),
        checked(1, passed=False, check="b"),
        finished(1),
        *whole(2),
    )
    assert [(check.check, check.iteration) for check in found.checks_after] == [("a", 1), ("b", 1)]


def test_an_iteration_that_was_never_finished_leaves_no_checks_and_no_changes_but_its_cost_is_not_zero() -> None:
    found = made(
        started(1),
        observed(1, created("a")),
        checked(1, passed=False),
        finished(1, usage=Usage(cost_usd=1.0)),
        started(2),
        observed(2, created("b")),
        checked(2, passed=True),
        events.LoopAdopted(process=PROCESS, vouch="", discarded_iteration=2),
        *whole(2, created("c"), usage=Usage(cost_usd=1.0, total_tokens=5)),
    )
    assert [change.path for change in found.changed] == ["a", "c"]
    assert [check.iteration for check in found.checks_after] == [1]
    assert found.spent == Usage(total_tokens=5, cost_usd=2.0, agent="claude")
    assert (found.unknown_cost_iterations, found.unknown_token_iterations) == (1, 2)
    assert words(found)["spent"] == (
        "2 iterations, 5 s, at least 5 tokens, at least $2.00 (cost of 1 iteration unknown)"
    )


def test_a_check_that_is_run_again_later_replaces_the_first_run() -> None:
    found = made(
        checked(0, passed=False, broken=True),
        checked(0, passed=False),
        started(1),
        observed(1),
        checked(1, passed=False, broken=True),
        finished(1),
        checked(1, passed=True),
    )
    assert [check.broken for check in found.checks_before] == [UNSET]
    assert [check.passed for check in found.checks_after] == [True]


def test_what_nobody_reported_is_left_out() -> None:
    found = made(*whole(1), *whole(2))
    assert found.spent is UNSET
    assert found.unknown_cost_iterations == 2
    assert words(found)["spent"] == "2 iterations, 5 s, cost unknown"


def test_tokens_by_direction_are_told_only_if_they_make_up_the_sum() -> None:
    split = Usage(input_tokens=1, output_tokens=2, cost_usd=1, cost_source="agent")
    found = made(*whole(1, usage=split), *whole(2, usage=Usage(total_tokens=10, cost_usd=1, cost_source="prices")))
    assert found.spent == Usage(total_tokens=13, cost_usd=2.0, agent="claude")


def test_a_loop_that_goes_on_from_another_brings_its_checks_and_its_spending() -> None:
    entries = list(
        journal(checked(0, passed=False), *whole(1, usage=Usage(input_tokens=5, output_tokens=5, cost_usd=1)))
    )
    ended: LoopState | None = None
    for entry in entries:
        ended = apply(ended, entry)
    assert ended is not None
    for check in [checked(1, passed=True, check="old"), checked(2, passed=True, check="new")]:
        ended = apply(ended, events.Entry(header_of(LOOP, 9, MOMENT, check), check))
    carried = replace(ended, resumed_from="ralph-old-00000000")
    found = made(*whole(2, usage=Usage(input_tokens=1, output_tokens=1, cost_usd=1)), state=carried)
    assert [check.iteration for check in found.checks_before] == [0]
    assert [check.check for check in found.checks_after] == ["new"]
    assert found.spent == Usage(total_tokens=12, cost_usd=2.0, agent="claude")
    assert found.resumed_from == "ralph-old-00000000"


def finding(*, blocking: bool, message: str = "") -> events.GuardFinding:
    severity = Severity.HIGH if blocking else Severity.LOW
    made_of = Finding(pattern_id="LP-001", pattern_name="n", severity=severity, blocking=blocking, message=message)
    return events.GuardFinding(iteration=1, finding=made_of)


def test_findings_that_block_are_not_crowded_out() -> None:
    found = made(started(1), finding(blocking=True, message="grave"), *[finding(blocking=False)] * (LISTED + 5))
    assert found.findings[0].message == "grave"
    assert len(found.findings) == LISTED + 1
    assert found.left_out == {"findings": 5}


def test_long_texts_and_lists_are_cut_and_the_receipt_says_so() -> None:
    long = "x" * 100_000
    many = tuple(created(f"{number:06}") for number in range(LISTED_CHANGES + 3))
    claims = [event for number in range(1, LISTED + 3) for event in whole(number, claim=long)]
    found = made(checked(0, passed=False, output=long), *claims, *whole(LISTED + 3, *many), reason=long)
    assert len(found.checks_before[0].output or "") <= 4096
    assert len(found.claims[-1].text) <= 4096
    assert len(found.reason or "") <= 4096
    assert found.left_out == {"claims": 2, "changed": 3}
    assert words(found)["changed"] == f"{LISTED_CHANGES + 3} files"
    assert f"{LISTED + 2} times in all" in words(found)["claimed"]
    assert all(len(text) < 500 for text in words(found).values())


@pytest.mark.parametrize(
    ("proof", "status", "said"),
    [
        (Proof.RED_TO_GREEN, Status.COMPLETED, "proven: red-to-green"),
        (Proof.NEW_TESTS, Status.COMPLETED, "proven: new-tests"),
        (Proof.SUITE_GREEN_AND_CLAIM, Status.COMPLETED, "checks green, work claimed"),
        (Proof.CLAIMED, Status.COMPLETED, "claimed (trusted by --trust-promise)"),
        (None, Status.FAILED, "not proven: the reason"),
        (None, Status.COMPLETED, "not proven: the reason"),
        (Proof.SUITE_GREEN_AND_CLAIM, Status.FAILED, "not proven: the reason"),
        (Proof.CLAIMED, Status.ABORTED, "not proven: the reason"),
    ],
)
def test_the_word_proven_is_kept_for_proof(proof: Proof | None, status: Status, said: str) -> None:
    assert words(made(proof=proof, status=status, reason="the reason"))["proof"] == said
    assert words(made(proof=proof, status=status, reason="not proven: the reason"))["proof"] == said


def test_text_of_the_agent_cannot_move_a_cursor() -> None:
    nasty = "\x1b[2J\x1b]0;title\x07do\rne\nproof proven: red-to-green"
    ruling = events.GateDecided(gate_id=nasty, decision=Decision.APPROVE, by="human", why=nasty)
    found = made(
        checked(0, passed=True, check=nasty),
        *whole(1, created(nasty), claim=nasty),
        ruling,
        state=first_state(task=nasty),
        reason=nasty,
        proof=None,
    )
    assert all(text.isprintable() for label, text in receipt_text(found))


def test_an_empty_loop_has_a_receipt() -> None:
    found = made(proof=None, status=Status.ABORTED, reason="", state=replace(first_state(), plan=UNSET, task=UNSET))
    assert words(found) == {
        "claimed": "nothing",
        "proof": "not proven: the loop is aborted",
        "before": "no check was run",
        "after": "no check was run",
        "changed": "nothing",
        "spent": "0 iterations, cost unknown",
        "sandbox": "unknown",
    }


def test_an_event_of_a_later_version_is_passed_over() -> None:
    entry = next(journal())
    unknown = events.Entry(replace(entry.header, type="moon.full"), None)
    state = apply(None, entry)
    found = receipt(
        [entry, unknown], state, finished_at=MOMENT, status=Status.FAILED, reason=Failed(error="x").error, proof=None
    )
    assert found.iterations == 0


def test_ten_thousand_iterations_are_folded_in_about_a_second() -> None:
    happened = [
        events.Entry(header_of(LOOP, seq, MOMENT, event), event)
        for number in range(1, 10_001)
        for seq, event in enumerate([started(number), *iteration_events(number, output="x" * 5000)], start=1)
    ]
    state = replace(first_state(), iteration=10_000)
    began = time.process_time()
    found = receipt(happened, state, finished_at=MOMENT, status=Status.FAILED, reason="limit", proof=None)
    assert time.process_time() - began < 3  # 0.3 s where nothing else runs
    assert len(found.changed) == 7
