"""Export: done there only what is proven here, and the rest of a file as it was."""

import json
import subprocess
from pathlib import Path

import pytest

from queue_samples import PRD, WRITABLE, Sample
from runtime.loops import Place
from support import make_project
from untilproven.errors import UsageError
from untilproven.model.task import Command, TaskStatus, Update
from untilproven.queue import exporting, importing, reading
from untilproven.queue.importing import Intake
from untilproven.store.layout import Project
from untilproven.store.tasks import book_of


def place(project: Project, path: str, text: str) -> Path:
    at = project.root / path
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_bytes(text.encode())
    return at


def take(project: Project, file: Path) -> Intake:
    [source] = reading.load(project.root, file)
    return importing.take(book_of(project), source)


def said_done(project: Project, task_id: str) -> None:
    for status in (TaskStatus.IN_PROGRESS, TaskStatus.DONE):
        book_of(project).append(Update(id=task_id, changes={"status": status}, source="manual"))


def git(here: Place, *words: str) -> None:
    subprocess.run(["git", *words], cwd=here.root, check=True, capture_output=True)


def everything_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "is_proven", lambda *_: True)


each = pytest.mark.parametrize("sample", WRITABLE, ids=lambda sample: sample.format)


@each
def test_back_and_forth_changes_nothing(project: Project, sample: Sample) -> None:
    file = place(project, sample.path, sample.text)
    take(project, file)
    out = exporting.export(project, file)
    assert (out.done, out.added, out.links) == ((), (), ())
    assert file.read_text() == sample.text


@each
def test_what_is_done_by_word_is_not_done_there(project: Project, sample: Sample) -> None:
    file = place(project, sample.path, sample.text)
    pending = [task.id for task in take(project, file).created if task.status is TaskStatus.PENDING]
    for name in pending:
        said_done(project, name)
    out = exporting.export(project, file)
    assert file.read_text() == sample.text
    assert out.done == ()
    claims = len(sample.done)
    assert len(out.unproven) == len(pending) - claims
    assert bool(claims) == any("marked done in the file, and not proven here" in one for one in out.warnings)


@each
def test_what_is_proven_is_done_there_and_stays_so(
    project: Project, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything_is_proven(monkeypatch)
    file = place(project, sample.path, sample.text)
    created = take(project, file).created
    name = next(task.id for task in created if task.status is TaskStatus.PENDING and task.title not in sample.done)
    said_done(project, name)
    assert exporting.export(project, file, rehearse=True).done == (name,)
    assert file.read_text() == sample.text
    file.chmod(0o640)
    assert exporting.export(project, file).done == (name,)
    assert file.stat().st_mode & 0o777 == 0o640
    assert (exporting.export(project, file).done, take(project, file).created) == ((), ())
    [source] = reading.load(project.root, file)
    done = {task.title for task in source.imported.tasks if task.status is TaskStatus.DONE}
    assert done == {*sample.done, book_of(project).read().by_id[name].title}


@each
@pytest.mark.parametrize("existing", [True, False], ids=["into", "new"])
def test_tasks_of_ours_are_added_once_and_are_ours_when_they_come_back(
    project: Project, sample: Sample, existing: bool
) -> None:
    book = book_of(project)
    mine = [book.create(title="Mine", description="Words", completion=Command(command="make test")).id]
    mine.append(book.create(title="Odd", id="odd.id").id)
    file = place(project, sample.path, sample.text) if existing else project.root / sample.path
    file.parent.mkdir(parents=True, exist_ok=True)
    if existing:
        take(project, file)
    first = exporting.export(project, file, sample.format)
    assert sorted(first.added) == sorted(mine)
    text = file.read_text()
    assert (exporting.export(project, file).added, file.read_text()) == ((), text)
    before = book.read().by_id
    taken = take(project, file)
    assert taken.created == ()
    assert book.read().by_id.keys() == before.keys()
    assert book.read().by_id["odd.id"].title == "Odd"


def test_an_entry_of_the_same_name_is_not_taken_for_ours(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    everything_is_proven(monkeypatch)
    book_of(project).create(title="Something else", id="US-002")
    file = place(project, PRD.path, PRD.text)
    out = exporting.export(project, file)
    assert file.read_text() == PRD.text
    assert "other entries by these names" in out.warnings[0]


def test_what_a_format_cannot_hold_is_said(project: Project) -> None:
    book_of(project).create(title="x", priority=3, tags=("a",), never_touch=("docs/**",), id="X-1")
    out = exporting.printed(project, "checklist")
    assert {one.partition(" (")[0] for one in out.warnings} == {
        "checklist cannot hold neverTouch",
        "checklist cannot hold priority",
        "checklist cannot hold tags",
    }


@pytest.mark.parametrize("name", ["checklist", "plan", "ralphy-yaml", "prd"])
def test_a_task_whose_words_would_break_the_file_is_contained_or_refused(project: Project, name: str) -> None:
    book = book_of(project)
    book.create(title="first", description="```\n- [x] RALPH-002: second\n### Task 7: third\n<!--")
    book.create(title="second\n- [x] third", description="plain")
    out = exporting.printed(project, name)
    file = project.root / "out.txt"
    file.write_text(out.text)
    [source] = reading.load(project.root, file, name)
    assert [task.title for task in source.imported.tasks] == ["first", "second - [x] third"]
    assert TaskStatus.DONE not in {task.status for task in source.imported.tasks}


def test_files_that_cannot_be_written_are_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "rc").write_text("mine")
    (project.root / "prd.json").symlink_to(tmp_path / "rc")
    with pytest.raises(UsageError, match="leads out of the project"):
        exporting.export(project, project.root / "prd.json")
    (project.root / "PRD.md").symlink_to(tmp_path / "not-there")
    with pytest.raises(UsageError, match="leads out of the project"):
        exporting.export(project, project.root / "PRD.md")
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["rc"]
    with pytest.raises(UsageError, match="no directory"):
        exporting.export(project, project.root / "no/prd.json")
    with pytest.raises(UsageError, match="only read"):
        exporting.export(project, project.root / "x.md", "claude-loop")
    damaged = place(project, "docs/prd.json", '{"userStories": [')
    with pytest.raises(UsageError, match=r"docs/prd\.json:1"):
        exporting.export(project, damaged)
    assert damaged.read_text() == '{"userStories": ['


def test_passes_is_true_after_ralph_work_has_proven_it_and_not_before(tmp_path: Path) -> None:
    here = Place(tmp_path)
    git(here, "init", "-q")
    for key, value in (("user.name", "u"), ("user.email", "u@v")):
        git(here, "config", key, value)
    criteria = [["`test -s a.txt` passes"], ["`test -s b.txt` passes"]]
    stories = [
        {"id": f"US-{n}", "title": f"make {n}", "acceptanceCriteria": one, "priority": n, "passes": False}
        for n, one in enumerate(criteria, start=1)
    ]
    here.write("prd.json", json.dumps({"userStories": stories}, indent=2) + "\n")
    git(here, "add", "-A")
    git(here, "commit", "-qm", "first")
    agent = tmp_path / "agent.sh"
    agent.write_text("#!/bin/sh\ncat > /dev/null\necho made > a.txt\n")
    agent.chmod(0o755)
    assert here.ralph("task", "import", "prd.json").returncode == 0
    words = (f"--agent-cmd={agent}", f"--share={agent}", "--sandbox=overlay", "--task-max-iterations=1")
    untrusted = here.ralph("work", *words)
    assert "would run what nobody has trusted" in untrusted.stderr + untrusted.stdout
    assert not (here.root / "a.txt").exists()
    assert here.ralph("trust", "--yes").returncode == 0
    here.ralph("work", *words)
    assert here.ralph("task", "export", "prd.json").stdout == "done   US-1\n"
    passes = {one["id"]: one["passes"] for one in json.loads((here.root / "prd.json").read_text())["userStories"]}
    assert passes == {"US-1": True, "US-2": False}
    assert here.ralph("task", "unblock", "US-2").returncode == 0
    assert here.ralph("task", "done", "US-2").returncode == 0
    exported = here.ralph("task", "export", "prd.json")
    assert (exported.stdout, "done here without proof, and so open there: US-2" in exported.stderr) == ("", True)


def test_a_receipt_from_elsewhere_proves_nothing_here(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p")
    book_of(project).create(title="x", id="X-1")
    said_done(project, "X-1")
    for loop in ("ralph-x-0a1b2c3d", "../../etc", "ralph-gone-00000000"):
        book_of(project).append(Update(id="X-1", changes={"loop": loop}, source="manual"))
        assert exporting.printed(project, "prd").unproven == ("X-1",)
