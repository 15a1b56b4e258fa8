"""The end of a task, written down once however often it is tried."""

from core.ended import NOW, ended
from untilproven.model.iteration import Continue
from untilproven.model.learning import (
    AnomalyDetected,
    IterationDone,
    Lesson,
    PatternDetected,
    Progress,
    StatusChange,
    TaskCompleted,
)
from untilproven.model.task import TaskStatus, Update
from untilproven.store import learning
from untilproven.store.layout import Project
from untilproven.store.learning import learning_of, progress_of
from untilproven.store.tasks import book_of


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


def end(project: Project, record: TaskCompleted, number: int) -> learning.End:
    """The end of a task as it would be written, with a book in which that task is in progress."""
    book = book_of(project)
    if record.task_id not in book.read().by_id:
        book.create(id=record.task_id, title="x")
        book.append(Update(id=record.task_id, changes={"status": TaskStatus.IN_PROGRESS}))
    update = Update(id=record.task_id, changes={"status": TaskStatus.BLOCKED, "blocker": "gone"})
    return learning.ended(project, update, went(number), record, NOW)


def test_the_end_of_a_task_is_written_when_it_is_asked_for_and_once(project: Project) -> None:
    drafted = end(project, ended(1), 1)
    assert learning_of(project).read().records == ()
    for _ in range(2):
        learning.write(project, drafted.lines)
    assert learning_of(project).read().records == (ended(1),)
    assert progress_of(project).read().records == tuple(went(1))
    assert book_of(project).read().by_id["RALPH-001"].status is TaskStatus.BLOCKED
    for path, data in drafted.files.items():
        assert (project.root / path).read_bytes() == data


def test_what_looks_wrong_is_told_once(project: Project) -> None:
    first, second, third = (ended(number, success=False, blockers=("gone",)) for number in (1, 2, 3))
    drafted = end(project, first, 1)
    assert drafted.anomalies == ()
    learning.write(project, drafted.lines)
    drafted = end(project, second, 2)
    [told] = drafted.anomalies
    assert (told.kind, told.iteration) == ("failure_mode", 0)
    assert told.details
    assert told.details["evidence"] == ["RALPH-001", "RALPH-002"]
    learning.write(project, {path: lines for path, lines in drafted.lines.items() if "tasks" not in path})
    assert end(project, second, 2).anomalies == ()
    [again] = end(project, third, 3).anomalies
    assert again.details
    assert again.details["evidence"] == ["RALPH-001", "RALPH-002", "RALPH-003"]
    kinds = [type(record) for record in learning_of(project).read().records]
    assert [kinds.count(kind) for kind in (PatternDetected, AnomalyDetected, Lesson)] == [1, 1, 1]


def test_whoever_takes_over_from_a_killed_runner_adds_what_is_missing(project: Project) -> None:
    progress_of(project).append(*went(1)[:1])
    learning.write(project, end(project, ended(1), 1).lines)
    assert progress_of(project).read().records == tuple(went(1))


def test_lines_that_cannot_be_read_stay_where_they_are(project: Project) -> None:
    file = learning_of(project)
    file.append(ended(2))
    file.path.write_bytes(file.path.read_bytes() + b"{torn")
    learning.write(project, end(project, ended(1), 1).lines)
    assert file.path.read_bytes().split(b"\n")[1] == b"{torn"
    assert file.read().records == (ended(2), ended(1))
