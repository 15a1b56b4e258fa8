"""The word after --sandbox decides; a weaker room is never given in place of the one asked for."""

from pathlib import Path

import pytest

from untilproven.contract import Workspace
from untilproven.errors import UsageError
from untilproven.model.plan import Plan
from untilproven.store.layout import Project
from untilproven.workspace import factory
from untilproven.workspace.factory import chosen, require, workspace_of

LOOP = "ralph-x-0123abcd"


def made(sandbox: str, project: Project) -> Workspace:
    return workspace_of(Plan(agent="command", task_hash="x", sandbox=sandbox), project, LOOP)


def refusing(monkeypatch: pytest.MonkeyPatch, **reasons: str) -> None:
    monkeypatch.setattr(factory, "_why_not", lambda kind: reasons.get(kind, ""))


@pytest.mark.parametrize("sandbox", ["cellar", "", "None"])
def test_what_does_not_exist_is_refused_and_the_way_out_named(sandbox: str) -> None:
    for refuse in (require, chosen):
        with pytest.raises(UsageError, match="no such room") as refused:
            refuse(sandbox)
        assert refused.value.exit_code == 2
        assert refused.value.hint == "--sandbox none runs the agent as you, on your files"


def test_auto_is_the_overlay_where_one_can_be_built() -> None:
    assert chosen("auto") == "overlay"


def test_auto_is_the_shadow_where_no_overlay_can_be_built(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, overlay="no namespaces")
    assert chosen("auto") == "shadow"


def test_auto_is_refused_with_all_reasons_where_nothing_can_be_built(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, overlay="no namespaces", shadow="no Landlock")
    with pytest.raises(UsageError, match=r"overlay: no namespaces; shadow: no Landlock"):
        chosen("auto")


def test_a_room_that_is_named_is_never_replaced_by_a_weaker_one(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, overlay="no namespaces")
    with pytest.raises(UsageError, match="no namespaces"):
        chosen("overlay")


@pytest.mark.parametrize("sandbox", ["overlay", "shadow", "none"])
def test_each_word_makes_its_workspace(project: Project, sandbox: str) -> None:
    assert made(sandbox, project).kind == sandbox


def test_none_is_the_plain_directory_without_git_and_the_loops_state(project: Project) -> None:
    workspace = made("none", project)
    before = workspace.tree()
    project.state.make()
    project.state.keep_out_of_git()
    (project.root / ".git/HEAD").write_text("x")
    assert workspace.delta().tree == before
    (project.root / "file").write_text("x")
    assert workspace.delta().tree != before


def test_the_state_of_a_main_worktree_that_lies_within_is_left_out_too(project: Project) -> None:
    outer = Project(project.root.parent, project.root)
    project.state.make()
    workspace = made("none", outer)
    before = workspace.tree()
    (project.state.path / "registry.json").write_text("{}")
    (project.root / ".git/HEAD").write_text("x")
    assert workspace.delta().tree == before


def test_in_a_linked_worktree_its_link_to_git_and_its_task_files_are_left_out(project: Project) -> None:
    linked = Project(project.root.parent / "linked", project.root)
    Path(linked.root, ".aiwg/ralph").mkdir(parents=True)
    workspace = made("none", linked)
    before = workspace.tree()
    (linked.root / ".git").write_text("gitdir: elsewhere")
    (linked.root / ".aiwg/ralph/tasks.jsonl").write_text("{}")
    assert workspace.delta().tree == before
