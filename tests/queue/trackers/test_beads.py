"""Beads, through a stand-in for `bd` that does what its documentation says; and the real one where it is installed."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from trackers.scenes import Office
from untilproven.model.task import TaskStatus, Update
from untilproven.store.layout import Project


class Beads(Office):
    @property
    def store(self) -> Path:
        return self.root / ".beads/stand-in.json"

    def issues(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = json.loads(self.store.read_text())
        return found

    def put(self, key: str, title: str, **more: Any) -> None:
        issue = {"id": key, "title": title, "status": "open", "priority": 2, "issue_type": "task", "comments": []}
        self.store.write_text(json.dumps({**self.issues(), key: {**issue, **more}}))

    def set(self, key: str, **changes: Any) -> None:
        issues = self.issues()
        issues[key] |= changes
        self.store.write_text(json.dumps(issues))

    def beads(self, *words: str) -> str:
        return self.synced(*words, tracker="beads")

    def move(self, task_id: str, *statuses: str, **more: str) -> None:
        self.book.append(*(Update(id=task_id, changes={"status": status, **more}) for status in statuses))


@pytest.fixture(params=["", "1"], ids=["envelope", "no envelope"])
def office(project: Project, request: pytest.FixtureRequest) -> Beads:
    office = Beads(project)
    office.install("bd", "bd.py", **({"BD_STAND_IN_OLD": request.param} if request.param else {}))
    office.store.parent.mkdir()
    office.store.write_text("{}")
    return office


def test_a_task_gets_an_issue_and_its_end_is_told(office: Beads) -> None:
    name = office.add("--force: add a login", description="-d\nWith a form.", priority=1)
    office.beads()
    (issue,) = office.issues().values()
    assert (issue["title"], issue["priority"]) == ("--force: add a login", 1)
    assert issue["description"].startswith("-d\nWith a form.")
    assert office.task(name).external_id == "beads:bd-1"
    office.move(name, "in_progress", "done")
    office.beads()
    assert office.issues()["bd-1"]["status"] == "closed"
    assert office.issues()["bd-1"]["close_reason"] == f"{name} is done"
    assert "nothing to do" in office.beads()


def test_issues_become_tasks_that_wait_for_each_other(office: Beads) -> None:
    office.put("bd-a", "first", priority=0, acceptance_criteria="- it works\n- it is quick")
    waits = [{"issue_id": "bd-b", "depends_on_id": "bd-a", "type": "blocks"}]
    office.put("bd-b", "second", dependencies=[*waits, {"issue_id": "bd-b", "depends_on_id": "x", "type": "related"}])
    office.put("bd-c", "an epic", issue_type="epic")
    office.put("bd-d", "over", status="closed")
    office.put("--all", "a name that is a flag")
    office.beads()
    first, second = office.task("RALPH-001"), office.task("RALPH-002")
    assert (first.title, first.priority, first.acceptance_criteria) == ("first", 2, ("it works", "it is quick"))
    assert second.blocked_by == ("RALPH-001",)
    assert len(office.book.read().by_id) == 2


def test_issues_that_wait_in_a_circle_come_in_without_it(office: Beads) -> None:
    for one, other in (("bd-a", "bd-b"), ("bd-b", "bd-a")):
        office.put(one, one, dependencies=[{"issue_id": one, "depends_on_id": other, "type": "blocks"}])
    office.beads()
    assert [task.blocked_by for task in office.book.read().by_id.values()] == [UNSET, UNSET]


def test_what_somebody_else_works_on_is_left_alone_until_they_let_go(office: Beads) -> None:
    office.put("bd-a", "first")
    office.beads()
    office.set("bd-a", status="in_progress")
    office.beads()
    assert office.task("RALPH-001").blocker == "somebody else works on beads:bd-a"
    office.beads()
    assert office.issues()["bd-a"]["status"] == "in_progress", "it is not told back"
    office.set("bd-a", status="open")
    office.beads()
    assert office.task("RALPH-001").status is TaskStatus.PENDING


def test_a_blocked_task_is_blocked_there_and_opened_there_it_goes_on(office: Beads) -> None:
    office.put("bd-a", "first")
    office.beads()
    office.move("RALPH-001", "blocked", blocker="which colour?")
    office.beads()
    assert office.issues()["bd-a"]["status"] == "blocked"
    office.set("bd-a", status="open")
    office.beads()
    assert office.task("RALPH-001").status is TaskStatus.PENDING
    office.move("RALPH-001", "blocked", blocker="which colour now?")
    office.beads()
    assert office.issues()["bd-a"]["status"] == "blocked"


def test_the_issue_of_a_blocked_task_is_blocked_from_the_start(office: Beads) -> None:
    name = office.add("one")
    office.move(name, "blocked", blocker="which colour?")
    office.beads()
    assert [issue["status"] for issue in office.issues().values()] == ["blocked"]
    assert "nothing to do" in office.beads()


def test_what_somebody_else_took_over_from_us_stays_theirs(office: Beads) -> None:
    office.put("bd-a", "first")
    office.beads()
    office.move("RALPH-001", "blocked", blocker="which colour?")
    office.beads()
    office.set("bd-a", status="in_progress")
    office.beads()
    office.beads()
    assert office.issues()["bd-a"]["status"] == "in_progress"
    assert office.task("RALPH-001").blocker == "which colour?"


def test_both_sides_changed_is_a_conflict(office: Beads) -> None:
    office.put("bd-a", "first")
    office.beads()
    office.move("RALPH-001", "blocked", blocker="which colour?")
    office.set("bd-a", status="closed")
    office.beads()
    (conflict,) = office.conflicts()
    assert (conflict["ours"], conflict["theirs"], conflict["resolution"]) == ("blocked", "done", "tracker")
    assert office.task("RALPH-001").blocker == "beads:bd-a was closed as done, which is not proven here"


def test_a_cancelled_task_is_read_back_as_cancelled(office: Beads) -> None:
    office.put("bd-a", "first")
    office.beads()
    office.move("RALPH-001", "cancelled")
    office.beads()
    assert office.issues()["bd-a"]["close_reason"].startswith("cancelled: ")
    assert "nothing to do" in office.beads()


def test_without_a_database_or_a_program_it_is_said(office: Beads) -> None:
    office.add("one")
    office.store.unlink()
    failed = office.sync(tracker="beads")
    assert failed.returncode == 1
    assert "bd list failed" in failed.stderr
    assert "bd init" in failed.stderr
    office.env["PATH"] = "/usr/bin:/bin"
    assert "there is no program `bd` on PATH" in office.sync(tracker="beads").stderr


def test_a_key_from_a_strangers_queue_is_no_flag(office: Beads) -> None:
    office.add("one", external_id="beads:--db=/etc/passwd")
    office.beads()
    calls = (office.root / ".beads/calls.log").read_text()
    assert "passwd" not in calls


@pytest.mark.skipif(not shutil.which("bd"), reason="the real bd is not installed here")
def test_the_real_bd_agrees(project: Project) -> None:
    office = Office(project)
    subprocess.run(["git", "init", "-q", "."], cwd=office.root, check=True)
    subprocess.run(["bd", "init", "--prefix", "bd"], cwd=office.root, check=True, env={**os.environ})
    name = office.add("add a login", description="With a form.")
    office.synced(tracker="beads")
    assert str(office.task(name).external_id).startswith("beads:bd-")
    office.book.append(*(Update(id=name, changes={"status": status}) for status in ("in_progress", "done")))
    office.synced(tracker="beads")
    said = office.synced(tracker="beads")
    assert "nothing to do" in said
