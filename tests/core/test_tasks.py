"""What each line of tasks.jsonl does to the book, and which may not follow."""

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from support import MOMENT
from untilproven.core.task_rules import take_all
from untilproven.core.tasks import Book, Line, commands
from untilproven.errors import NoSuchTask, Overtaken, TaskRefused
from untilproven.model.task import (
    MOVES,
    Command,
    Create,
    Explicit,
    FileExists,
    Link,
    Relate,
    Task,
    TaskLimits,
    TaskStatus,
    Update,
    Validate,
)
from untilproven.model.task import TestPassing as Tests

LATER = MOMENT + timedelta(hours=1)


def book(*lines: Line) -> Book:
    made = Book()
    for line in lines:
        made.take(line)
    return made


def task(name: str, **fields: object) -> Task:
    return Task(id=name, title=f"task {name}", **fields)  # type: ignore[arg-type]


def moved(name: str, *statuses: TaskStatus) -> list[Line]:
    return [Update(id=name, changes={"status": status.value}, timestamp=LATER) for status in statuses]


def path_to(status: TaskStatus) -> list[TaskStatus]:
    ways = {
        TaskStatus.DISCOVERED: [],
        TaskStatus.PENDING: [TaskStatus.PENDING],
        TaskStatus.IN_PROGRESS: [TaskStatus.PENDING, TaskStatus.IN_PROGRESS],
        TaskStatus.CANCELLED: [TaskStatus.CANCELLED],
    }
    return ways.get(status) or ([*ways[TaskStatus.IN_PROGRESS], status] if status not in ways else [])


def test_the_last_whole_task_with_an_id_wins() -> None:
    made = book(task("A", priority=1), task("B"), task("A", priority=5))
    assert (made.tasks["A"].priority, len(made.tasks)) == (5, 2)


def test_a_whole_task_may_have_skipped_moves_but_what_is_final_stays() -> None:
    done = book(task("A"), task("A", status=TaskStatus.DONE, completed_at=LATER))
    with pytest.raises(TaskRefused, match="A is done and cannot become pending"):
        done.take(task("A"))
    assert done.tasks["A"].status is TaskStatus.DONE


def test_a_created_task_has_the_lines_time_unless_it_has_its_own() -> None:
    made = book(Create(task=task("A"), timestamp=MOMENT), Create(task=task("B", created_at=LATER), timestamp=MOMENT))
    assert (made.tasks["A"].created_at, made.tasks["B"].created_at) == (MOMENT, LATER)


def test_an_update_sets_changes_and_takes_away_fields() -> None:
    made = book(
        task("A", description="long", priority=3, tags=("x",)),
        Update(
            id="A",
            changes={"title": "new", "description": None, "priority": None, "blockedBy": ["B"], "color": "red"},
            timestamp=LATER,
        ),
    )
    found = made.tasks["A"]
    assert (found.title, found.description, found.priority, found.blocked_by) == ("new", UNSET, 0, ("B",))
    assert (found.tags, found.updated_at, found.extra) == (("x",), LATER, {"color": "red"})
    made.take(Update(id="A", changes={"color": None}))
    assert made.tasks["A"].extra is UNSET


def test_records_inside_a_task_keep_what_this_version_does_not_know() -> None:
    made = book(task("A"), Update(id="A", changes={"limits": {"maxCost": 2, "maxMood": 7, "maxTime": None}}))
    limits = made.tasks["A"].limits
    assert isinstance(limits, TaskLimits)
    assert (limits.max_cost, limits.max_time, limits.extra) == (2, UNSET, {"maxMood": 7})


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"title": None}, "cannot be without a title"),
        ({"status": None}, "cannot be without a status"),
        ({"status": "asleep"}, "asleep"),
        ({"priority": "high"}, "priority"),
        ({"limits": {"maxCost": -1}}, "maxCost"),
        ({"id": "B"}, "the id of A cannot change"),
        ({"blocker": "rain"}, "A is pending"),
        ({"completedAt": "2026-02-02T21:00:00Z"}, "completedAt is for a task that is done"),
        ({"completedAt": "2026-02-02T21:00:00"}, "completedAt"),
    ],
)
def test_an_update_that_cannot_be_is_refused_and_changes_nothing(changes: dict[str, object], why: str) -> None:
    made = book(task("A"))
    with pytest.raises(TaskRefused, match=why) as refused:
        made.take(Update(id="A", changes=changes))
    assert refused.value.hint
    assert refused.value.exit_code == 2
    assert made.tasks == {"A": task("A")}


@pytest.mark.parametrize("start", TaskStatus)
@pytest.mark.parametrize("to", TaskStatus)
def test_only_the_moves_of_the_table_are_made(start: TaskStatus, to: TaskStatus) -> None:
    made = book(task("A", status=TaskStatus.DISCOVERED), *moved("A", *path_to(start)))
    assert made.tasks["A"].status is start
    line = Update(id="A", changes={"status": to.value})
    if to is start or to in MOVES[start]:
        made.take(line)
        assert made.tasks["A"].status is to
    else:
        with pytest.raises(TaskRefused, match=f"A is {start} and cannot become {to}"):
            made.take(line)
        assert made.tasks["A"].status is start


def test_a_task_that_is_done_says_when_and_no_other_does() -> None:
    made = book(task("A"), *moved("A", TaskStatus.IN_PROGRESS))
    assert made.tasks["A"].completed_at is UNSET
    made.take(moved("A", TaskStatus.DONE)[0])
    assert made.tasks["A"].completed_at == LATER
    own = book(
        task("A", status=TaskStatus.IN_PROGRESS),
        Update(id="A", changes={"status": "done", "completedAt": "2026-02-02T21:00:00Z"}, timestamp=LATER),
    )
    assert own.tasks["A"].completed_at == MOMENT
    with pytest.raises(TaskRefused, match="completedAt"):
        book(task("A", completed_at=MOMENT))


def test_a_task_that_leaves_blocked_loses_its_blocker() -> None:
    made = book(task("A"), Update(id="A", changes={"status": "blocked", "blocker": "rain"}))
    assert made.tasks["A"].blocker == "rain"
    made.take(Update(id="A", changes={"status": "pending"}))
    freed = made.tasks["A"]
    assert freed.blocker is UNSET


def test_a_link_says_where_else_a_task_is() -> None:
    made = book(task("A"), Link(id="A", external_id="7", external_url="https://x/7"), Link(id="A", external_id="8"))
    assert (made.tasks["A"].external_id, made.tasks["A"].external_url) == ("8", "https://x/7")


@pytest.mark.parametrize(
    "line", [Relate(id="A", relation="blocks", target_id="B"), Relate(id="B", relation="blockedBy", target_id="A")]
)
def test_both_sides_know_who_blocks_whom(line: Relate) -> None:
    made = book(task("A"), task("B"), line, line)
    assert (made.tasks["A"].blocks, made.tasks["B"].blocked_by) == (("B",), ("A",))
    assert (made.tasks["A"].blocked_by, made.tasks["B"].blocks) == (UNSET, UNSET)


@pytest.mark.parametrize(
    "line", [Relate(id="A", relation="parent", target_id="B"), Relate(id="B", relation="subtask", target_id="A")]
)
def test_a_task_has_one_parent_and_both_sides_know_it(line: Relate) -> None:
    made = book(task("A"), task("B"), task("C"), Relate(id="C", relation="parent", target_id="B"), line)
    assert (made.tasks["A"].subtasks, made.tasks["B"].parent, made.tasks["C"].subtasks) == (("B",), "A", ())


def test_what_one_side_takes_back_the_other_side_loses() -> None:
    made = book(
        task("A", blocks=("B", "C")),
        task("B"),
        task("C"),
        Update(id="B", changes={"blockedBy": []}),
        Relate(id="A", relation="parent", target_id="C"),
        Update(id="C", changes={"parent": None}),
    )
    assert (made.tasks["A"].blocks, made.tasks["A"].subtasks) == (("C",), ())
    other = book(
        task("A"),
        task("B", blocked_by=("A",), parent="A"),
        task("C"),
        Update(id="A", changes={"blocks": ["C"], "subtasks": ["C"]}),
    )
    assert (other.tasks["B"].blocked_by, other.tasks["B"].parent, other.tasks["C"].parent) == ((), UNSET, "A")


def test_who_is_named_before_it_is_there_is_taken_out_later_too() -> None:
    made = book(task("B"), Update(id="B", changes={"blockedBy": []}), task("A", blocks=("B",)))
    made.take(Update(id="B", changes={"blockedBy": []}))
    assert made.tasks["A"].blocks == ()


def test_the_same_create_again_changes_nothing() -> None:
    line = Create(task=task("A"), timestamp=MOMENT)
    made = book(line, *moved("A", TaskStatus.IN_PROGRESS))
    before = dict(made.tasks)
    made.take(line)
    assert made.tasks == before


def test_one_id_for_two_tasks_is_done_for_neither_until_a_human_has_parted_them() -> None:
    made = book(Create(task=task("A")), *moved("A", TaskStatus.IN_PROGRESS, TaskStatus.DONE))
    with pytest.raises(TaskRefused, match="two tasks are called A"):
        made.take(Create(task=Task(id="A", title="something else")))
    found = made.tasks["A"]
    assert (found.title, found.status, found.completed_at) == ("task A", TaskStatus.BLOCKED, UNSET)
    assert "another id in tasks.jsonl" in str(found.blocker)
    with pytest.raises(TaskRefused, match="two tasks are called A"):
        made.take(moved("A", TaskStatus.PENDING)[0])


def test_a_line_about_nobody_is_refused() -> None:
    for line in (
        Update(id="A", changes={}),
        Link(id="A", external_id="1"),
        Relate(id="A", relation="blocks", target_id="B"),
    ):
        with pytest.raises(NoSuchTask, match="there is no task 'A'"):
            book(line)


def test_what_is_read_may_name_who_is_not_there() -> None:
    made = book(task("B"), Relate(id="A", relation="blocks", target_id="B"), task("C", parent="nobody"))
    assert (made.tasks["B"].blocked_by, made.tasks["C"].parent) == (("A",), "nobody")


def test_the_commands_of_a_task_are_what_would_be_run_for_it() -> None:
    proofs = (
        Command(command="make"),
        Tests(command="npm test", grep="x"),
        Tests(),
        FileExists(path="a"),
        Validate(script="v.py"),
        Explicit(),
    )
    assert commands(task("A", completion=proofs)) == ["make", "npm test", "v.py"]
    assert commands(task("A", completion=Command(command="make"))) == ["make"]
    assert commands(task("A")) == []


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([Create(task=task("A"))], "ids are unique, and A is there already"),
        ([Create(task=task("D", parent="nobody"))], "D has to do with nobody"),
        ([Create(task=task("D", blocked_by=("nobody",)))], "D has to do with nobody"),
        ([Update(id="A", changes={"blocks": ["nobody"]})], "A has to do with nobody"),
        ([Relate(id="A", relation="blocks", target_id="nobody")], "nobody"),
        ([Relate(id="nobody", relation="blocks", target_id="A")], "nobody"),
        ([Relate(id="A", relation="blocks", target_id="A")], "A cannot wait for itself"),
        ([Update(id="A", changes={"parent": "A"})], "A cannot wait for itself"),
        ([Relate(id="A", relation="blockedBy", target_id="B")], "A -> B -> A"),
        ([Update(id="A", changes={"blockedBy": ["C"]})], "A -> C -> B -> A"),
        ([Relate(id="B", relation="parent", target_id="C")], "B -> C -> B"),
        ([Create(task=task("D", blocks=("A",), blocked_by=("C",)))], "D -> C -> B -> A -> D"),
    ],
)
def test_what_is_written_is_held_to_more(lines: list[Line], why: str) -> None:
    made = book(task("A"), task("B", blocked_by=("A",)), task("C"), Relate(id="B", relation="blocks", target_id="C"))
    with pytest.raises(TaskRefused, match=why) as refused:
        take_all(made, lines, {})
    assert refused.value.hint


def test_lines_written_together_may_name_each_other() -> None:
    made = book()
    take_all(made, [Create(task=task("A", blocked_by=("B",))), Create(task=task("B"))], {})
    assert list(made.tasks) == ["A", "B"]


def test_a_circle_or_a_stranger_that_is_there_already_does_not_stop_other_changes() -> None:
    made = book(task("A", blocked_by=("B",)), task("B", blocked_by=("A", "nobody")))
    take_all(made, [Update(id="A", changes={"priority": 2}), Create(task=task("C", blocked_by=("A",)))], {})
    assert made.tasks["A"].priority == 2


def test_whoever_expects_another_status_was_overtaken() -> None:
    made = book(task("A"), *moved("A", TaskStatus.IN_PROGRESS))
    with pytest.raises(Overtaken, match="A is in_progress and no longer pending"):
        take_all(made, moved("A", TaskStatus.IN_PROGRESS), {"A": TaskStatus.PENDING})
    with pytest.raises(NoSuchTask):
        take_all(made, [], {"B": TaskStatus.PENDING})


NAMES = st.sampled_from("ABCDE")
LINES = st.one_of(
    st.builds(lambda name: Create(task=task(name)), NAMES),
    st.builds(
        lambda name, status: Update(id=name, changes={"status": status.value}, timestamp=LATER),
        NAMES,
        st.sampled_from(TaskStatus),
    ),
    st.builds(
        lambda name, other, relation: Relate(id=name, relation=relation, target_id=other),
        NAMES,
        NAMES,
        st.sampled_from(["blocks", "blockedBy", "parent", "subtask"]),
    ),
    st.builds(
        lambda name, others, key: Update(id=name, changes={key: others}),
        NAMES,
        st.lists(NAMES, unique=True),
        st.sampled_from(["blocks", "blockedBy", "subtasks"]),
    ),
)


@given(st.lists(LINES, max_size=25))
def test_whatever_is_written_the_rules_hold_after_it(lines: list[Line]) -> None:
    made = book()
    history: dict[str, list[TaskStatus]] = {}
    for line in lines:
        trial = book()
        trial.tasks.update(made.tasks)
        try:
            take_all(trial, [line], {})
        except TaskRefused:
            continue
        made = trial
        for name, found in made.tasks.items():
            history.setdefault(name, []).append(found.status)
    for name, found in made.tasks.items():
        assert (found.completed_at is not UNSET) == (found.status is TaskStatus.DONE)
        for other in (*(found.blocks or ()), *(found.blocked_by or ()), *(found.subtasks or ())):
            assert other in made.tasks
            assert other != name
        assert all(made.tasks[child].parent == name for child in found.subtasks or ())
    for statuses in history.values():
        assert all(old is new or new in MOVES[old] for old, new in pairwise(statuses))
    assert not waits_in_a_circle(made.tasks)


def waits_in_a_circle(tasks: dict[str, Task]) -> bool:
    """Told another way than the product does: those that wait for nobody left are taken away, again and again."""
    edges = {
        edge
        for found in tasks.values()
        for edge in (
            *((found.id, other) for other in (*(found.blocked_by or ()), *(found.subtasks or ()))),
            *((other, found.id) for other in found.blocks or ()),
            *([(found.parent, found.id)] if found.parent else []),
        )
    }
    left = set(tasks)
    while free := {name for name in left if not any(waits == name and on in left for waits, on in edges)}:
        left -= free
    return bool(left)
