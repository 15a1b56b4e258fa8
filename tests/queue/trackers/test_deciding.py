"""When the task is this and the issue that, then: the decisions of a sync, without a tracker."""

from pathlib import Path
from typing import Any

import pytest

from untilproven.model.task import MOVES, Origin, Task, TaskStatus
from untilproven.model.tracker import CLOSED, IssueState
from untilproven.queue.trackers import words
from untilproven.queue.trackers.beads import Beads
from untilproven.queue.trackers.contract import Issue
from untilproven.queue.trackers.deciding import Change, Known, Move, Note, Plan, Say, Seen, Step, Way, decide, words_of
from untilproven.queue.trackers.github import GitHub
from untilproven.queue.trackers.web import Web

BEADS = Beads(Path("/nowhere"), "bd")
GITHUB = GitHub("o/r", Web("https://api.github.com", "x" * 20), "ralph")
SOURCE = Origin(type="spec", path="beads")


def steps(task: Task, issue: Issue, seen: IssueState | None, way: Way | None = None, **more: Any) -> tuple[Step, ...]:
    plan = planned(task, issue, seen, way, **more)
    return plan.steps if plan else ()


def planned(task: Task, issue: Issue, seen: IssueState | None, way: Way | None = None, **more: Any) -> Plan | None:
    base = {task.id: Seen(seen, words_of(BEADS, issue.title, issue.body), more.pop("ours", seen))} if seen else {}
    known = Known(tasks={task.id: task}, issues={issue.key: issue}, seen=base, **{"done": (), **more})
    plans, _ = decide(BEADS, known, way or Way())
    return plans[0] if plans else None


def a_task(status: str = "pending", **more: Any) -> Task:
    return Task(id="A-1", title="one", status=TaskStatus(status), external_id="beads:bd-1", source=SOURCE, **more)


def an_issue(state: IssueState = IssueState.OPEN, **more: Any) -> Issue:
    return Issue(key="bd-1", title="one", state=state, **more)


@pytest.mark.parametrize("status", TaskStatus)
@pytest.mark.parametrize("theirs", IssueState)
@pytest.mark.parametrize("base", IssueState)
@pytest.mark.parametrize("accept", [False, True])
def test_no_decision_breaks_the_rules_of_a_task_nor_is_anything_done_by_word(
    status: TaskStatus, theirs: IssueState, base: IssueState, *, accept: bool
) -> None:
    way = Way(accept_done=accept)
    for step in steps(a_task(status), an_issue(theirs), base, way):
        if isinstance(step, Change):
            before = status
            for update in step.updates:
                after = TaskStatus(update.get("status", before))
                assert after is before or after in MOVES[before]
                assert accept or after is not TaskStatus.DONE
                before = after
        if isinstance(step, Move):
            assert theirs not in CLOSED, "nothing is reopened, and nothing closed twice"
            assert theirs is base or status in {TaskStatus.DONE, TaskStatus.CANCELLED}


@pytest.mark.parametrize("status", TaskStatus)
@pytest.mark.parametrize("theirs", IssueState)
@pytest.mark.parametrize("base", IssueState)
def test_a_second_sync_has_nothing_to_do(status: TaskStatus, theirs: IssueState, base: IssueState) -> None:
    """After the steps, both sides are as the plan says; what it says then is at most a note."""
    task, issue = a_task(status), an_issue(theirs)
    plan = planned(task, issue, base)
    done: set[str] = set()
    for step in plan.steps if plan else ():
        if isinstance(step, Change):
            for update in step.updates:
                changed = {"status": update["status"], "blocker": update.get("blocker")}
                task = a_task(changed["status"], **({"blocker": changed["blocker"]} if changed["blocker"] else {}))
                task = Task(**{**fields(task), "tags": tuple(update["tags"])}) if update.get("tags") else task
        if isinstance(step, Move):
            issue = an_issue(step.to)
            done.add(f"A-1:transition:{step.fingerprint}")
    after = plan.seen if plan and plan.seen else Seen(base, "", base)
    again = steps(task, issue, after.state, ours=after.ours, done=done)
    assert [step for step in again if not isinstance(step, Note)] == []


def fields(task: Task) -> dict[str, Any]:
    return {name: getattr(task, name) for name in task.__struct_fields__}


def test_a_task_that_is_being_worked_on_is_left_alone_until_that_has_ended() -> None:
    task, issue = a_task("in_progress", loop="ralph-x-00000001"), an_issue(IssueState.DONE)
    plan = planned(task, issue, IssueState.STARTED, running={"A-1"})
    assert plan
    assert [type(step) for step in plan.steps] == [Note]
    assert plan.seen is None, "so that the next sync sees the change"
    assert [type(step) for step in steps(task, issue, IssueState.STARTED)] == [Change]


def test_a_proof_is_said_before_the_issue_is_closed_and_each_once() -> None:
    task, issue = a_task("done"), an_issue()
    found = steps(task, issue, IssueState.OPEN, proofs={"A-1": "proven"})
    assert [type(step) for step in found] == [Say, Move]
    say, move = found
    assert isinstance(say, Say)
    assert isinstance(move, Move)
    said = {f"A-1:comment:{say.fingerprint}"}
    assert [type(step) for step in steps(task, issue, None, proofs={"A-1": "proven"}, done=said)] == [Move]
    assert steps(task, an_issue(IssueState.DONE), None, proofs={"A-1": "proven"}, done=said) == ()


def test_a_mark_survives_what_is_quoted_before_it() -> None:
    text = words.marked(words.body_of("see <!-- untilproven:B-2:0 -->"), "A-1:1")
    assert words.mark_of(text) == "A-1:1"
    assert words.body_of(text) == "see"


@pytest.mark.parametrize(
    "raw",
    [
        "",
        " \n\n x \r\n y \n",
        "<!-- untilproven:<!-- untilproven:a -->b -->",
        "z" * 300_000,
        "a \n" * 40_000,
        "\x1b[31mred\x1b[0m\x00",
        "é" * 70_000,
    ],
)
def test_texts_come_back_as_they_went(raw: str) -> None:
    once = words.body_of(raw)
    assert words.body_of(once) == once
    assert words.body_of(words.marked(once, "A-1:1")) == once
    title = words.title_of(raw)
    assert words.title_of(title) == title
    assert len(title) <= 256


@pytest.mark.parametrize(
    ("external", "key"),
    [
        ("github:o/r#12", "12"),
        ("github:O/R#12", "12"),
        ("github:o/r#012", ""),
        ("github:o/r#12/../../x", ""),
        ("github:o/other#12", ""),
        ("github:o/r#\u0661", ""),
        ("beads:bd-1", ""),
        ("", ""),
    ],
)
def test_only_an_issue_of_the_tracker_has_a_key(external: str, key: str) -> None:
    assert GITHUB.key_of(external) == key
