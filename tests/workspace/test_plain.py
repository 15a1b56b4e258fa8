"""The plain directory: what an agent did in it, told from what checks and the user did."""

import os
from collections.abc import Collection
from pathlib import Path, PurePosixPath

import pytest

from untilproven.contract import Supervision, Workspace
from untilproven.model.program import Stop, Stream
from untilproven.process.leftovers import new_marker
from untilproven.workspace import plain
from untilproven.workspace.manifest import Manifest
from untilproven.workspace.plain import PlainWorkspace
from untilproven.workspace.walk import walk

WATCHED = Supervision(marker=new_marker())


def iteration(workspace: Workspace, line: str, number: int = 1) -> list[tuple[str, str]]:
    """What an agent that runs this line of shell is said to have changed."""
    workspace.open(number, WATCHED).stream(line, output=lambda *_: None)
    return [(change.change, change.path) for change in workspace.delta().changes]


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """One entry for each walk over the tree."""
    counted: list[Path] = []

    def counting(root: Path, exclude: Collection[PurePosixPath], before: Manifest | None) -> Manifest:
        counted.append(root)
        return walk(root, exclude, before)

    monkeypatch.setattr(plain, "walk", counting)
    return counted


def test_it_says_that_nothing_is_protected(workspace: PlainWorkspace) -> None:
    workspace_of: Workspace = workspace
    assert (workspace_of.kind, workspace_of.can_discard) == ("none", False)


def test_an_agent_works_in_the_tree_itself_and_all_it_changed_is_told(workspace: PlainWorkspace, root: Path) -> None:
    (root / ".gitignore").write_text("ignored\n")
    (root / ".git").mkdir()
    (root / "old").write_text("x")
    changes = iteration(
        workspace, "echo 1 > ignored; rm old; mkdir empty; echo x > .git/HEAD; chmod +x .gitignore; pwd"
    )
    assert changes == [("mode", ".gitignore"), ("created", "empty/"), ("created", "ignored"), ("deleted", "old")]


def test_each_iteration_is_told_its_own_changes_only(workspace: PlainWorkspace) -> None:
    assert iteration(workspace, "echo 1 > a", 1) == [("created", "a")]
    assert iteration(workspace, "echo 1 > b", 2) == [("created", "b")]
    assert iteration(workspace, "echo 2 > a; rm b", 3) == [("modified", "a"), ("deleted", "b")]
    assert iteration(workspace, ":", 4) == []


def test_the_delta_can_be_asked_for_twice(workspace: PlainWorkspace) -> None:
    assert iteration(workspace, "echo 1 > a") == [("created", "a")]
    assert [change.path for change in workspace.delta().changes] == ["a"]


def test_a_tree_that_was_there_before_has_the_same_hash_again(workspace: PlainWorkspace) -> None:
    seen = [workspace.tree()]
    for number, line in enumerate(["echo 1 > a", "echo 2 > a", "echo 1 > a", "rm a"], 1):
        iteration(workspace, line, number)
        seen.append(workspace.tree())
        assert workspace.delta().tree == seen[-1]
    assert [seen.index(tree) for tree in seen] == [0, 1, 2, 1, 0]


def test_one_walk_serves_an_iteration(
    workspace: PlainWorkspace, walks: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "_FRESH", 1000.0)
    workspace.tree()
    for number in range(1, 4):
        iteration(workspace, "echo 1 >> a", number)
        workspace.tree()
    assert len(walks) == 4


def test_what_a_check_leaves_in_the_tree_is_nobodys_change(workspace: PlainWorkspace, root: Path) -> None:
    room = workspace.checking(WATCHED)
    assert iteration(workspace, "echo 1 > a", 1) == [("created", "a")]
    for number in (2, 3):
        assert room.run(f"echo {number} > cache; test -f a", timeout=20).exit_code == 0
        assert iteration(workspace, "echo 1 >> a", number) == [("modified", "a")]
    assert (root / "cache").read_text() == "3\n"


def test_what_a_check_changes_changes_the_tree(workspace: PlainWorkspace) -> None:
    before = workspace.tree()
    workspace.checking(WATCHED).run("echo > cache", timeout=20)
    assert workspace.tree() != before


def test_what_the_user_did_in_a_pause_is_not_the_agents(workspace: PlainWorkspace, root: Path) -> None:
    iteration(workspace, "echo 1 > a", 1)
    workspace._stale_at -= plain._FRESH
    (root / "users").write_text("x")
    assert iteration(workspace, "echo 2 > a", 2) == [("modified", "a")]


def test_asking_for_the_tree_while_the_agent_works_loses_no_change(workspace: PlainWorkspace, root: Path) -> None:
    workspace.open(1, WATCHED)
    (root / "a").write_text("x")
    workspace._stale_at = 0.0
    workspace.tree()
    assert [change.path for change in workspace.delta().changes] == ["a"]


def test_before_a_room_was_opened_nothing_has_changed(workspace: PlainWorkspace, root: Path) -> None:
    (root / "a").write_text("x")
    delta = workspace.delta()
    assert (delta.changes, delta.tree) == ((), workspace.tree())


def test_keeping_and_discarding_leave_the_tree_as_it_is(workspace: PlainWorkspace, root: Path) -> None:
    iteration(workspace, "echo 1 > a")
    tree = workspace.tree()
    for act in (workspace.keep, workspace.discard, workspace.keep):
        act(1)
    assert workspace.delta().tree == tree
    assert (root / "a").read_text() == "1\n"


def test_the_agent_is_watched_and_a_check_is_not_shown(workspace: PlainWorkspace) -> None:
    seen: list[tuple[Stream, bytes]] = []
    supervision = Supervision(marker=new_marker(), tee=lambda stream, chunk: seen.append((stream, chunk)))
    workspace.checking(supervision).run("echo check", timeout=20)
    assert seen == []
    workspace.open(1, supervision).stream("echo agent", output=lambda *_: None)
    assert seen == [("stdout", b"agent\n")]


def test_a_check_can_be_stopped(workspace: PlainWorkspace) -> None:
    supervision = Supervision(marker=new_marker(), until=lambda: Stop("abort", now=True))
    assert workspace.checking(supervision).run("sleep 1000", timeout=60).signal == 9


def test_what_could_not_be_seen_is_told_once(workspace: PlainWorkspace, root: Path) -> None:
    os.mkfifo(root / "old pipe")
    workspace.open(1, WATCHED)
    first = workspace.delta().notes
    assert [note.partition(":")[0] for note in first] == ["'old pipe'"]
    assert workspace.delta().notes == ()
    for at in range(9):
        os.mkfifo(root / f"pipe{at}\n\x1b[31m")
    (note,) = workspace.delta().notes
    assert note.isprintable()
    assert "old pipe" not in note
    assert "'pipe4\\n\\x1b[31m' and 4 more: " in note
