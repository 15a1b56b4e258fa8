import os
import shutil
from pathlib import Path

import msgspec
import pytest

from untilproven.cli.main import run
from untilproven.model.status import Status
from untilproven.store.layout import Project
from untilproven.store.vouch import user_state
from untilproven.workspace.snapshots.shelf import place_of
from watch.scenes import LOOP, finished
from workspace.snapshots.made import ended_loop, iterate, loop


@pytest.fixture
def here(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A loop with two kept iterations and a discarded one between them."""
    monkeypatch.chdir(project.root)
    (project.root / "old").write_text("old\n")
    (project.root / "gone").write_text("gone\n")
    ended_loop(project)
    iterate(project, 1, {"old": b"one\n", "new": b"new\n", "gone": None})
    iterate(project, 2, {"old": b"never\n", "lost": b"lost\n"}, keep=False)
    iterate(project, 3, {"old": b"three\n"})
    return project


def files(root: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in root.iterdir() if path.is_file()}


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run(["restore", *words]) == code
    captured = capsys.readouterr()
    return captured.out + captured.err


def test_each_state_is_brought_back_and_what_changed_is_listed(
    here: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert files(here.root) == {"old": "three\n", "new": "new\n"}
    assert said(capsys, LOOP, "start").splitlines() == [
        "created   gone",
        "deleted   new",
        "modified  old",
        "3 paths changed, back to the start",
    ]
    assert files(here.root) == {"old": "old\n", "gone": "gone\n"}
    said(capsys, LOOP, "1")
    assert files(here.root) == {"old": "one\n", "new": "new\n"}
    said(capsys, LOOP, "2")
    assert files(here.root) == {"old": "never\n", "new": "new\n", "lost": "lost\n"}
    for word in ("end", "best"):
        said(capsys, LOOP, word)
        assert files(here.root) == {"old": "three\n", "new": "new\n"}
    assert not list((user_state() / "rooms").iterdir())


def test_what_is_already_there_is_said_and_not_done_again(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, LOOP, "start")
    records = sorted(place_of(here.root, LOOP).iterdir())
    assert said(capsys, LOOP, "start") == "already there: nothing differs from the start\n"
    assert sorted(place_of(here.root, LOOP).iterdir()) == records


def test_a_dry_run_changes_nothing(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    before, records = files(here.root), sorted(place_of(here.root, LOOP).iterdir())
    assert "3 paths would change, back to the start" in said(capsys, LOOP, "start", "--dry-run")
    assert files(here.root) == before
    assert sorted(place_of(here.root, LOOP).iterdir()) == records


def test_what_the_user_changed_since_stays(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (here.root / "old").write_text("mine\n")
    text = said(capsys, LOOP, "start", code=1)
    assert "old: changed by you, so it stays; the other version is in /" in text
    assert files(here.root) == {"old": "mine\n", "gone": "gone\n"}
    assert run(["restore", LOOP, "start", "--json"]) == 1
    told = msgspec.json.decode(capsys.readouterr().out)
    assert told["changes"] == []
    assert Path(told["conflicts"][0].pop("aside")).read_text() == "old\n"
    assert told["conflicts"] == [{"path": "old", "wanted": "changed"}]


def test_as_json(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["restore", LOOP, "1", "--json"]) == 0
    assert here
    assert msgspec.json.decode(capsys.readouterr().out) == {
        "loop_id": LOOP,
        "target": 1,
        "dry_run": False,
        "changes": [{"path": "old", "change": "modified"}],
        "conflicts": [],
    }


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("7", "there is no snapshot of iteration 7"),
        ("0", "'0' is neither an iteration"),
        ("../1", "'../1' is neither an iteration"),
        ("restored", "neither an iteration"),
    ],
)
def test_a_state_that_is_not_there_is_refused(
    here: Project, capsys: pytest.CaptureFixture[str], word: str, words: str
) -> None:
    before = files(here.root)
    assert words in said(capsys, LOOP, word, code=2)
    assert files(here.root) == before


def test_a_loop_that_runs_is_left_alone(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.root)
    with loop(project) as writer:
        iterate(project, 1, {"new": b"new\n"})
        assert run(["restore", LOOP, "start"]) == 7
        assert files(project.root) == {"new": "new\n"}
        writer.record(finished(1), durable=False)
        writer.transition_status(Status.PAUSED, reason="later")
    assert run(["restore", LOOP, "start"]) == 0
    assert files(project.root) == {}


def test_a_loop_without_a_room_has_nothing_to_restore(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.root)
    ended_loop(project, sandbox="none")
    assert "this loop worked on your files themselves" in said(capsys, LOOP, "start", code=2)


def test_a_loop_that_came_with_a_clone_is_refused(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (user_state() / "key").write_bytes(os.urandom(32))
    before = files(here.root)
    assert "was not started by you" in said(capsys, LOOP, "start", code=1)
    assert files(here.root) == before


def test_it_is_done_where_the_loop_worked(
    here: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(here.root, other)
    monkeypatch.chdir(other)
    said(capsys, LOOP, "start", code=1)
    assert files(other) == {"old": "three\n", "new": "new\n"}


def test_names_cannot_speak_to_the_terminal(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.root)
    ended_loop(project)
    name = os.fsdecode(b"\x1b[2Jline\nfeed\xff")
    iterate(project, 1, {name: b"x\n"})
    assert said(capsys, LOOP, "start").splitlines()[0] == "deleted   line?feed?"
    assert run(["restore", LOOP, "1", "--json"]) == 0
    assert msgspec.json.decode(capsys.readouterr().out)["changes"][0]["change"] == "created"
    assert (project.root / name).read_bytes() == b"x\n"


def test_putting_a_loop_away_drops_what_was_discarded(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["archive", LOOP]) == 0
    assert "snapshots of 1 discarded iterations" in capsys.readouterr().err
    assert "there is no snapshot of iteration 2" in said(capsys, LOOP, "2", code=2)
    said(capsys, LOOP, "start")
    assert files(here.root) == {"old": "old\n", "gone": "gone\n"}
