"""A Markdown list in the tree: boxes become tasks, proven tasks tick their boxes, and nothing else of it changes."""

from pathlib import Path

import pytest

from support import ralph
from trackers.scenes import Office
from untilproven.config import layers
from untilproven.core.tasks import commands
from untilproven.model.task import TaskStatus, Update
from untilproven.model.tracker import IssueState
from untilproven.queue.planning import Left, Untrusted, wanted
from untilproven.queue.trackers.checklist import Checklist
from untilproven.store.layout import Project

PLAN = """\
# Plan\r
\r
Some words, with  two spaces.\r
\r
- [x] old one\r
- [ ] **AB-1**: add a login\r
  Under the menu.\r
- [ ] write the tests\r
    - [ ] `pytest -q`\r
\r
```\r
- [ ] not a box\r
```\r
The end"""


@pytest.fixture
def office(project: Project) -> Office:
    office = Office(project)
    (office.root / "docs").mkdir()
    (office.root / "docs/plan.md").write_bytes(PLAN.encode())
    (office.root / "docs/plan.md").chmod(0o640)
    return office


def plan(office: Office) -> str:
    return (office.root / "docs/plan.md").read_bytes().decode()


def finish(office: Office, task_id: str) -> None:
    office.book.append(*(Update(id=task_id, changes={"status": status}) for status in ("in_progress", "done")))


def synced(office: Office, *words: str) -> str:
    return office.synced(*words, tracker="docs/plan.md")


def test_open_boxes_become_tasks_under_their_own_ids(office: Office) -> None:
    synced(office)
    tasks = office.book.read().by_id
    assert {name: task.title for name, task in tasks.items()} == {"AB-1": "add a login", "RALPH-001": "write the tests"}
    assert tasks["AB-1"].description == "Under the menu."
    assert tasks["AB-1"].external_id == "checklist:docs/plan.md#AB-1"
    assert plan(office) == PLAN
    assert "nothing to do" in synced(office)


def test_a_tick_changes_nothing_else(office: Office) -> None:
    Checklist(office.root, "docs/plan.md").move("AB-1", IssueState.DONE, "")
    assert plan(office) == PLAN.replace("- [ ] **AB-1**", "- [x] **AB-1**")
    assert (office.root / "docs/plan.md").stat().st_mode & 0o777 == 0o640


def test_what_is_done_by_somebodys_word_is_not_ticked(office: Office) -> None:
    synced(office)
    finish(office, "AB-1")
    synced(office)
    assert plan(office) == PLAN
    assert "nothing to do" in synced(office)


def test_a_command_that_is_not_what_it_looks_like_is_none(office: Office) -> None:
    (office.root / "bad.md").write_text("- [ ] one\n  - [ ] `pytest \u202e-q`\n")
    office.synced(tracker="bad.md")
    task = office.task("RALPH-001")
    assert commands(task) == []
    assert task.acceptance_criteria == ("`pytest -q`",)


def test_our_own_task_is_added_once_at_the_end_of_the_list(office: Office) -> None:
    synced(office)
    name = office.add("a new one")
    synced(office)
    assert f"    - [ ] `pytest -q`\r\n- [ ] {name}: a new one\r\n\r\n```" in plan(office)
    assert office.task(name).external_id == f"checklist:docs/plan.md#{name}"
    assert "nothing to do" in synced(office)


def test_a_box_that_somebody_ticked_is_not_a_proof(office: Office) -> None:
    synced(office)
    (office.root / "docs/plan.md").write_bytes(PLAN.replace("- [ ] **AB-1**", "- [x] **AB-1**").encode())
    synced(office)
    assert office.task("AB-1").status is TaskStatus.BLOCKED
    (office.root / "docs/plan.md").write_bytes(PLAN.encode())
    synced(office)
    assert office.task("AB-1").status is TaskStatus.PENDING


def test_a_cancelled_task_leaves_its_box_open(office: Office) -> None:
    synced(office)
    office.book.append(Update(id="AB-1", changes={"status": "cancelled"}))
    synced(office)
    assert plan(office) == PLAN


def test_commands_in_the_list_wait_for_trust(office: Office) -> None:
    said = synced(office)
    task = office.task("RALPH-001")
    assert commands(task) == ["pytest -q"]
    assert "not run before you have looked at them: ralph trust" in said
    settings = layers.load(office.root)
    with pytest.raises(Untrusted, match="pytest -q"):
        wanted(office.project, settings, task, Left(seconds=60, cost_usd=1))


def test_a_file_elsewhere_is_refused(office: Office, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("- [ ] one\n")
    (office.root / "link.md").symlink_to(outside)
    for name in ("../outside.md", str(outside), "link.md"):
        failed = office.sync(tracker=name)
        assert failed.returncode == 2, failed.stdout
        assert "is not a file of this project" in failed.stderr
    assert outside.read_text() == "- [ ] one\n"


def test_a_file_that_is_not_there_yet_is_made(office: Office) -> None:
    name = office.add("one")
    office.synced(tracker="TODO.md")
    assert (office.root / "TODO.md").read_text() == f"# Tasks\n\n- [ ] {name}: one\n"
    assert "nothing to do" in office.synced(tracker="TODO.md")


@pytest.mark.parametrize("typed", ["jira", "github:", "github:x", "plan.txt", "BEADS"])
def test_what_is_no_tracker_is_refused(office: Office, typed: str) -> None:
    failed = office.sync(tracker=typed)
    assert failed.returncode == 2
    assert "github:OWNER/REPO" in failed.stderr


def test_a_tracker_that_came_with_a_clone_waits_for_trust(office: Office) -> None:
    (office.root / "ralph.toml").write_text('[queue]\ntracker = "docs/plan.md"\n')
    refused = ralph("task", "sync", cwd=office.root, env=office.env)
    assert refused.returncode == 2
    assert "not trusted" in refused.stderr
    assert "no tracker was named" in refused.stderr
    assert ralph("trust", "--yes", cwd=office.root, env=office.env).returncode == 0
    assert ralph("task", "sync", cwd=office.root / "docs", env=office.env).returncode == 0
    assert set(office.book.read().by_id) == {"AB-1", "RALPH-001"}
