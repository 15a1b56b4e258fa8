"""From a loop's journal and receipt to the lines that the queue keeps of it."""

from datetime import timedelta

from msgspec import UNSET
from msgspec.structs import replace

from core.history import LOOP, USED, History
from support import MOMENT
from untilproven.core.task_end import completed, iterations
from untilproven.model.events import IterationFinished
from untilproven.model.iteration import Blocked, Complete, Continue, Failed, Fate, FileChange, IterationResult, Usage
from untilproven.model.receipt import Proof, Receipt
from untilproven.model.status import Status
from untilproven.model.task import Task

TASK = Task(id="RALPH-001", title="Fix it", type="bug", complexity="simple", estimate=3, blocked_by=("RALPH-000",))
RECEIPT = Receipt(
    version="1.0.0",
    loop_id=LOOP,
    status=Status.COMPLETED,
    task="Fix it",
    iterations=4,
    finished_at=MOMENT,
    reason="all checks pass",
    proof=Proof.RED_TO_GREEN,
    changed=tuple(FileChange(path=path, change="modified") for path in ("b.py", "a.py")),
    spent=Usage(cost_usd=1.25),
    worked_seconds=12.5,
)


def finish(number: int, result: IterationResult, usage: Usage = USED) -> IterationFinished:
    return IterationFinished(
        iteration=number,
        result=result,
        fate=Fate.KEPT,
        counted=True,
        progressed=True,
        duration_seconds=1,
        usage=usage,
    )


def test_what_is_learnt_from_a_loop_that_succeeded() -> None:
    made = completed(TASK, RECEIPT, success=True, lessons=["note-1"], lines_changed=7)
    assert (made.task_id, made.loop_id, made.timestamp) == ("RALPH-001", LOOP, MOMENT)
    assert (made.estimate, made.actual, made.iterations, made.task_type, made.complexity) == (3, 4, 4, "bug", "simple")
    assert (made.files_changed, made.files_changed_count, made.lines_changed) == (("a.py", "b.py"), 2, 7)
    assert (made.success, made.proof, made.blockers, made.blocked_by) == (True, "red-to-green", (), ("RALPH-000",))
    assert (made.cost_usd, made.duration_seconds, made.lessons) == (1.25, 12.5, ("note-1",))


def test_a_loop_that_failed_says_why() -> None:
    made = completed(TASK, replace(RECEIPT, reason="x" * 900, proof=UNSET), success=False)
    assert made.proof is UNSET
    [why] = made.blockers
    assert len(why) <= 500


def test_what_is_not_known_is_left_out() -> None:
    made = completed(Task(id="RALPH-001", title="x"), replace(RECEIPT, spent=UNSET), success=True)
    assert (made.cost_usd, made.estimate, made.task_type, made.lines_changed) == (UNSET, UNSET, UNSET, UNSET)
    assert completed(TASK, replace(RECEIPT, unknown_cost_iterations=1), success=True).cost_usd is UNSET


def test_at_most_200_paths_are_listed_and_all_are_counted() -> None:
    changed = tuple(FileChange(path=f"{place:04d}.py", change="created") for place in range(250))
    made = completed(TASK, replace(RECEIPT, changed=changed, left_out={"changed": 30}), success=True)
    assert (len(made.files_changed), made.files_changed[-1], made.files_changed_count) == (200, "0199.py", 280)


def test_a_path_that_is_no_text_can_be_written_down() -> None:
    changed = (FileChange(path="caf\udce9.py", change="created"),)
    assert completed(TASK, replace(RECEIPT, changed=changed), success=True).files_changed == ("caf?.py",)


def test_each_iteration_has_a_line_with_its_time_and_its_cost() -> None:
    history = History().add(finish(1, Continue(reason="r" * 900)), finish(2, Complete(artifacts=("a",))))
    first, second = iterations("RALPH-001", LOOP, history.entries)
    assert (first.iteration, first.cost, first.task_cost_so_far) == (1, 0.5, 0.5)
    assert (second.iteration, second.cost, second.task_cost_so_far) == (2, 0.5, 1.0)
    assert (first.timestamp, second.timestamp) == (MOMENT + timedelta(seconds=1), MOMENT + timedelta(seconds=2))
    assert isinstance(first.result, Continue)
    assert len(first.result.reason) <= 500
    assert second.result == Complete(artifacts=("a",))


def test_an_iteration_that_was_tried_twice_has_one_line_with_the_cost_of_both() -> None:
    history = History().add(finish(1, Failed(error="gone")), finish(1, Blocked(blocker="no key")))
    [line] = iterations("RALPH-001", LOOP, history.entries)
    assert (line.cost, line.result) == (1.0, Blocked(blocker="no key"))


def test_after_an_unknown_cost_the_sum_is_not_known() -> None:
    unknown = finish(2, Continue(reason=""), Usage(total_tokens=5))
    history = History().add(finish(1, Continue(reason="")), unknown, finish(3, Continue(reason="")))
    lines = iterations("RALPH-001", LOOP, history.entries)
    assert [line.cost for line in lines] == [0.5, UNSET, 0.5]
    assert [line.task_cost_so_far for line in lines] == [0.5, UNSET, UNSET]
