"""`ralph learn`, as a user types it."""

import json
import os
import subprocess
from datetime import timedelta
from typing import Any

import pytest

from core.ended import ended
from support import ralph
from untilproven.core.lessons import lessons_in, relevant
from untilproven.model.learning import Learnt, Lesson, Scope, TaskCompleted
from untilproven.model.task import Task
from untilproven.store import clock
from untilproven.store.layout import Project, find_project
from untilproven.store.learning import learning_of

IDENTITY = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def recent(number: int, *, days: float = 1, **fields: Any) -> TaskCompleted:
    return ended(number, **fields, timestamp=clock.now() - timedelta(days=days))


def wrote(project: Project, *records: Learnt) -> None:
    learning_of(project).append(*records)


def learn(project: Project, *words: str) -> "subprocess.CompletedProcess[str]":
    return ralph("learn", *words, cwd=project.root, env={**os.environ, **IDENTITY})


def test_with_nothing_learnt_yet_it_says_how_to_begin(project: Project) -> None:
    ran = learn(project, "show")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert "ralph learn note" in ran.stderr
    assert not (project.root / ".aiwg").exists()  # looking writes nothing
    assert json.loads(learn(project, "show", "--json").stdout) == {
        "tasks": {"ended": 0, "succeeded": 0},
        "patterns": [],
        "notes": [],
    }


def test_patterns_and_notes_are_shown(project: Project) -> None:
    wrote(project, *(recent(number, files_changed=("src/a.py",), task_type="bug") for number in range(3)))
    taken = learn(project, "note", "Run  the linter", "--for", "src/**", "--tag", "ui", "--type", "bug")
    assert taken.returncode == 0, taken.stderr
    ran = learn(project, "show")
    assert "3 tasks ended in the last 90 days, 3 of them with success" in ran.stdout
    assert "3 of 3 tasks that changed src/a.py were bugs" in ran.stdout
    [row] = [line for line in ran.stdout.splitlines() if line.startswith(taken.stdout.strip())]
    assert row.split(None, 4)[1:4] == ["human", "0", "unknown"]
    assert row.endswith("src/**, tag ui, type bug  Run the linter")
    shown = json.loads(learn(project, "show", "--json").stdout)
    [pattern] = shown["patterns"]
    assert (pattern["pattern"], pattern["confidence"], pattern["evidence"]) == (
        "bug_hotspot",
        1.0,
        ["RALPH-000", "RALPH-001", "RALPH-002"],
    )
    [note] = shown["notes"]
    assert (note["text"], note["uses"], note["expired"]) == ("Run the linter", 0, False)
    assert note["scope"] == {"globs": ["src/**"], "tags": ["ui"], "taskTypes": ["bug"]}
    assert note["effect"]["verdict"] == "unknown"


def test_a_note_that_is_taken_down_reaches_the_tasks_it_is_for(project: Project) -> None:
    learn(project, "note", "Mind the cache", "--for", "src/**")
    records = learning_of(project).read().records
    about = Task(id="RALPH-001", title="Fix src/a.py")
    assert [one.text for one in relevant(lessons_in(records), about, [], records)] == ["Mind the cache"]
    assert relevant(lessons_in(records), Task(id="RALPH-002", title="Fix docs/a.md"), [], records) == ()


def test_the_same_note_is_there_once(project: Project) -> None:
    first, second = learn(project, "note", "Run it"), learn(project, "note", "Run it")
    assert first.stdout == second.stdout
    assert "already" in second.stderr
    assert len(learning_of(project).read().records) == 1


@pytest.mark.parametrize("text", ["", " \n", "x" * 401])
def test_a_note_that_is_empty_or_too_long_is_refused(project: Project, text: str) -> None:
    ran = learn(project, "note", text)
    assert ran.returncode == 2
    assert not learning_of(project).path.exists()


def test_it_is_said_why_a_note_is_no_longer_used(project: Project) -> None:
    now = clock.now()
    wrote(
        project,
        Lesson(id="made", text="Made\x1b[31m", source="pattern", created_at=now),
        Lesson(id="mine", text="Mine", source="human", created_at=now),
        *(recent(number, success=number > 8, lessons=("made", "mine")) for number in range(10)),
        *(recent(number + 20) for number in range(8)),
    )
    ran = learn(project, "show")
    assert "made: 10 tasks went worse with it: no longer used" in ran.stderr
    assert "mine: 10 tasks went worse with it: yours, so it is still used" in ran.stderr
    assert "worse, expired" in ran.stdout
    assert "\x1b" not in ran.stdout
    notes = {note["id"]: note for note in json.loads(learn(project, "show", "--json").stdout)["notes"]}
    assert (notes["made"]["expired"], notes["mine"]["expired"]) == (True, False)
    assert notes["mine"]["effect"]["with"] == {"tasks": 10, "successRate": 0.1, "medianIterations": 2.0}


def test_damage_is_reported_and_does_not_hide_the_rest(project: Project) -> None:
    wrote(project, recent(1))
    with learning_of(project).path.open("a") as file:
        file.write("<<<<<<< HEAD\x1b[31m\n")
    ran = learn(project, "show")
    assert ran.returncode == 0
    assert "line 2 is left out" in ran.stderr
    assert "\x1b" not in ran.stderr
    assert ran.stdout.startswith("1 tasks ended")


def test_pruning_removes_what_is_old_and_says_so(project: Project) -> None:
    old, now = clock.now() - timedelta(days=91), clock.now()
    stays: list[Learnt] = [
        recent(2, days=89),
        Lesson(id="mine", text="Mine", source="human", created_at=old),
        Lesson(id="new", text="New", source="pattern", created_at=now, scope=Scope(tags=("x",))),
    ]
    goes: list[Learnt] = [recent(1, days=91), Lesson(id="old", text="Old", source="pattern", created_at=old)]
    wrote(project, *goes, *stays)
    path = learning_of(project).path
    path.write_bytes(b"{damage\n" + path.read_bytes())
    before = path.read_bytes()
    tried = learn(project, "prune", "--dry-run")
    assert tried.stdout.split("\n") == ["lesson  1", "task_completed  1", ""]
    assert "would be removed: 2 of 5" in tried.stderr
    assert path.read_bytes() == before
    done = learn(project, "prune")
    assert (done.returncode, done.stdout) == (0, tried.stdout)
    assert "removed: 2 of 5 records" in done.stderr
    assert path.read_bytes().startswith(b"{damage\n")
    assert learning_of(project).read().records == tuple(stays)
    again = learn(project, "prune")
    assert (again.returncode, again.stdout) == (0, "")
    assert "nothing is older than 90d" in again.stderr


@pytest.mark.parametrize(("age", "left"), [("1d", 0), ("3d", 1), ("47h", 0), ("49h", 1), ("99999d", 1)])
def test_how_old_is_for_the_user_to_say(project: Project, age: str, left: int) -> None:
    wrote(project, recent(1, days=2))
    assert learn(project, "prune", "--older-than", age).returncode == 0
    assert len(learning_of(project).read().records) == left


@pytest.mark.parametrize("age", ["0d", "90", "d", "-1d", "90 days", "999999d", ""])
def test_an_age_that_is_none_is_refused_and_nothing_is_removed(project: Project, age: str) -> None:
    wrote(project, recent(1, days=200))
    ran = learn(project, "prune", "--older-than", age)
    assert ran.returncode == 2
    assert "--older-than" in ran.stderr
    assert len(learning_of(project).read().records) == 1


@pytest.fixture
def repository(project: Project) -> Project:
    (project.root / ".git").rmdir()
    (project.root / "AGENTS.md").write_text("# Mine\n")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=project.root, env={**os.environ, **IDENTITY}, check=True)
    return find_project(project.root)


def git(project: Project, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=project.root, capture_output=True, text=True, check=True).stdout


def test_proposals_are_a_branch_and_the_tree_stays_as_it_is(repository: Project) -> None:
    wrote(repository, *(recent(number, files_changed=("src/a.py",), task_type="bug") for number in range(3)))
    git(repository, "add", "-A")
    before = git(repository, "status", "--porcelain=v2", "--branch"), learning_of(repository).path.read_bytes()
    ran = learn(repository, "propose")
    assert ran.returncode == 0, ran.stderr
    branch = ran.stdout.strip()
    assert branch.startswith("ralph/learn-")
    assert f"git show {branch}" in ran.stderr
    assert "were bugs" in git(repository, "show", f"{branch}:AGENTS.md")
    assert (
        git(repository, "status", "--porcelain=v2", "--branch"),
        learning_of(repository).path.read_bytes(),
    ) == before
    assert (repository.root / "AGENTS.md").read_text() == "# Mine\n"
    again = learn(repository, "propose")
    assert (again.returncode, again.stdout) == (0, "")
    assert branch in again.stderr
    assert "nothing new to propose" in again.stderr


def test_proposals_as_json(repository: Project) -> None:
    nothing = learn(repository, "propose", "--json")
    assert nothing.returncode == 0
    assert json.loads(nothing.stdout) == {"branch": "", "proposals": [], "left_out": []}
    wrote(repository, *(recent(number, files_changed=("src/a.py",), task_type="bug") for number in range(3)))
    told = json.loads(learn(repository, "propose", "--json").stdout)
    [proposal] = told["proposals"]
    assert (proposal["type"], proposal["status"], proposal["branch"]) == (
        "improvement_proposed",
        "pending",
        told["branch"],
    )
    assert proposal["evidence"] == ["RALPH-000", "RALPH-001", "RALPH-002"]


def test_nothing_to_propose_is_said(project: Project) -> None:
    ran = learn(project, "propose")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert "nothing new to propose" in ran.stderr


def test_a_link_in_the_place_of_the_file_is_refused(project: Project) -> None:
    wrote(project, recent(1))
    path = learning_of(project).path
    path.rename(project.root / "elsewhere")
    path.symlink_to(project.root / "elsewhere")
    for words in (["show"], ["note", "x"], ["prune"], ["propose"]):
        ran = learn(project, *words)
        assert ran.returncode == 1
        assert "symbolic link" in ran.stderr
