"""The end of a task, written down once however often it is tried."""

from core.ended import NOW, ended
from untilproven.model.iteration import Continue
from untilproven.model.learning import AnomalyDetected, IterationDone, Lesson, PatternDetected, Progress, StatusChange
from untilproven.model.task import TaskStatus
from untilproven.store.layout import Project
from untilproven.store.learning import learning_of, progress_of, record_end


def went(number: int) -> list[Progress]:
    end = ended(number)
    done = IterationDone(
        task_id=end.task_id, loop_id=end.loop_id, iteration=1, result=Continue(reason="x"), timestamp=NOW
    )
    blocked = StatusChange(
        task_id=end.task_id,
        loop_id=end.loop_id,
        from_=TaskStatus.IN_PROGRESS,
        to=TaskStatus.BLOCKED,
        reason="gone",
        timestamp=NOW,
    )
    return [done, blocked]


def test_the_end_of_a_task_is_written_down_once(project: Project) -> None:
    for _ in range(2):
        assert record_end(project, ended(1), went(1), NOW) == ()
    assert learning_of(project).read().records == (ended(1),)
    assert progress_of(project).read().records == tuple(went(1))


def test_what_looks_wrong_is_returned_once(project: Project) -> None:
    first, second, third = (ended(number, success=False, blockers=("gone",)) for number in (1, 2, 3))
    assert record_end(project, first, went(1), NOW) == ()
    [told] = record_end(project, second, went(2), NOW)
    assert (told.kind, told.iteration) == ("failure_mode", 0)
    assert told.details
    assert told.details["evidence"] == ["RALPH-001", "RALPH-002"]
    assert record_end(project, second, went(2), NOW) == ()
    [again] = record_end(project, third, went(3), NOW)
    assert again.details
    assert again.details["evidence"] == ["RALPH-001", "RALPH-002", "RALPH-003"]
    kinds = [type(record) for record in learning_of(project).read().records]
    assert [kinds.count(kind) for kind in (PatternDetected, AnomalyDetected, Lesson)] == [1, 2, 1]


def test_whoever_takes_over_from_a_killed_runner_adds_what_is_missing(project: Project) -> None:
    progress_of(project).append(*went(1)[:1])
    record_end(project, ended(1), went(1), NOW)
    assert progress_of(project).read().records == tuple(went(1))
