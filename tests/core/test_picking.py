"""Which task is next, and what keeps the others."""

import random
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import MOMENT
from untilproven.core.picking import cycles, order, pick, rank, why_blocked
from untilproven.model.task import Task, TaskStatus


def task(name: str, **fields: object) -> Task:
    return Task(id=name, title=name, **fields)  # type: ignore[arg-type]


def book(*tasks: Task) -> dict[str, Task]:
    return {one.id: one for one in tasks}


def ids(tasks: dict[str, Task]) -> list[str]:
    return [one.id for one in order(tasks)]


def test_in_progress_then_priority_then_age_then_id() -> None:
    made = book(
        task("undated"),
        task("young", created_at=MOMENT + timedelta(days=1)),
        task("old-b", created_at=MOMENT),
        task("old-a", created_at=MOMENT),
        task("urgent", priority=2.5),
        task("begun", status=TaskStatus.IN_PROGRESS, priority=-1),
        task("begun-urgent", status=TaskStatus.IN_PROGRESS, priority=9),
    )
    assert ids(made) == ["begun-urgent", "begun", "urgent", "old-a", "old-b", "young", "undated"]
    assert pick(made) == made["begun-urgent"]


@pytest.mark.parametrize("status", [status for status in TaskStatus if status not in {"pending", "in_progress"}])
def test_only_what_is_pending_or_in_progress_is_worked_on(status: TaskStatus) -> None:
    assert pick(book(task("A", status=status))) is None


@pytest.mark.parametrize(
    ("blocker", "why"),
    [
        (TaskStatus.PENDING, "waits for A (pending)"),
        (TaskStatus.REVIEW, "waits for A (review)"),
        (TaskStatus.CANCELLED, "waits for A, which was cancelled and so never done"),
        (TaskStatus.DONE, ""),
    ],
)
@pytest.mark.parametrize("side", ["blocks", "blocked_by"])
def test_a_task_waits_until_its_blocker_is_done_whoever_says_so(blocker: TaskStatus, why: str, side: str) -> None:
    named = {"A": {"blocks": ("B",)}, "B": {}} if side == "blocks" else {"A": {}, "B": {"blocked_by": ("A",)}}
    made = book(task("A", status=blocker, **named["A"]), task("B", priority=9, **named["B"]))
    assert why_blocked(made["B"], made) == why
    assert ("B" in ids(made)) == (not why)


def test_an_unknown_blocker_blocks() -> None:
    made = book(task("A", blocked_by=("nobody",)))
    assert why_blocked(made["A"], made) == "waits for nobody, which nobody knows"
    assert pick(made) is None


@pytest.mark.parametrize("side", ["parent", "subtasks"])
def test_a_task_waits_for_its_subtasks_but_not_for_those_that_were_cancelled(side: str) -> None:
    up, down = ({}, {"parent": "A"}) if side == "parent" else ({"subtasks": ("B", "C")}, {})
    made = book(
        task("A", priority=9, **up),
        task("B", **down),
        task("C", status=TaskStatus.CANCELLED, **down),
    )
    assert why_blocked(made["A"], made) == "waits for its subtasks B (pending)"
    assert ids(made) == ["B"]
    assert ids(made | {"B": task("B", status=TaskStatus.DONE, **down)}) == ["A"]


def test_why_says_all_of_it_and_not_too_much() -> None:
    made = book(
        task("A", status=TaskStatus.BLOCKED, blocker="rain", blocked_by=("B", "C", "D", "E", "F")),
        *(task(name) for name in "BCDEF"),
    )
    assert why_blocked(made["A"], made) == "blocked: rain; waits for B (pending), C (pending), D (pending) and 2 more"


def test_circles_are_named_once_and_nobody_in_them_is_picked() -> None:
    made = book(
        task("A", blocked_by=("B",)),
        task("B", blocked_by=("C",)),
        task("C", blocked_by=("A",)),
        task("D", blocked_by=("A",)),
        task("E", blocked_by=("E",)),
        task("F", parent="G"),
        task("G", blocks=("F",)),
        task("free"),
    )
    assert sorted(cycles(made)) == [["A", "B", "C", "A"], ["E", "E"], ["F", "G", "F"]]
    assert ids(made) == ["free"]


def test_a_circle_that_a_done_task_opens_is_none() -> None:
    made = book(task("A", blocked_by=("B",)), task("B", blocked_by=("A",), status=TaskStatus.DONE))
    assert cycles(made) == []
    assert ids(made) == ["A"]


def test_a_chain_of_many_links_is_followed() -> None:
    made = book(*(task(str(number), blocked_by=(str(number + 1),)) for number in range(20_000)), task("20000"))
    assert cycles(made) == []
    assert ids(made) == ["20000"]
    assert len(cycles(made | {"20000": task("20000", blocked_by=("0",))})[0]) == 20_002


TASKS = st.builds(
    task,
    st.sampled_from("ABCDEFGH"),
    status=st.sampled_from(TaskStatus),
    priority=st.sampled_from([0, 0.5, 1, -1]),
    created_at=st.sampled_from([MOMENT, MOMENT + timedelta(seconds=1)]),
    blocked_by=st.lists(st.sampled_from("ABCDEFGHX"), max_size=2).map(tuple),
    subtasks=st.lists(st.sampled_from("ABCDEFGH"), max_size=1).map(tuple),
)


@given(st.lists(TASKS, max_size=8, unique_by=lambda one: one.id), st.randoms(use_true_random=False))
def test_the_order_of_the_lines_does_not_matter_and_no_two_tasks_are_equal(
    tasks: list[Task], shuffle: random.Random
) -> None:
    found = order(book(*tasks))
    assert len({rank(one) for one in tasks}) == len(tasks)
    shuffled = [*tasks]
    shuffle.shuffle(shuffled)
    assert order(book(*shuffled)) == found
    assert pick(book(*shuffled)) == (found[0] if found else None)
    made = book(*tasks)
    workable = {one.id for one in tasks if one.status in {"pending", "in_progress"}}
    assert {one.id for one in found} == {name for name in workable if not why_blocked(made[name], made)}
    assert not {name for cycle in cycles(made) for name in cycle} & {one.id for one in found}
