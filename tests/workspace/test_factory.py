"""The word after --sandbox decides; a weaker room is never given in place of the one asked for."""

import pytest

from untilproven.errors import UsageError
from untilproven.store.layout import Project
from untilproven.workspace.factory import workspace_of


@pytest.mark.parametrize("sandbox", ["auto", "overlay", "shadow", "", "None"])
def test_what_cannot_be_built_is_refused_and_the_way_out_named(project: Project, sandbox: str) -> None:
    with pytest.raises(UsageError, match="nothing unprotected by itself") as refused:
        workspace_of(sandbox, project)
    assert refused.value.exit_code == 2
    assert refused.value.hint == "--sandbox none runs the agent as you, on your files"


def test_none_is_the_plain_directory_without_git_and_the_loops_state(project: Project) -> None:
    workspace = workspace_of("none", project)
    before = workspace.tree()
    project.state.make()
    project.state.keep_out_of_git()
    (project.root / ".git/HEAD").write_text("x")
    assert workspace.kind == "none"
    assert workspace.delta().tree == before
    (project.root / "file").write_text("x")
    assert workspace.delta().tree != before


def test_the_state_of_a_main_worktree_that_lies_within_is_left_out_too(project: Project) -> None:
    outer = Project(project.root.parent, project.root)
    project.state.make()
    workspace = workspace_of("none", outer)
    before = workspace.tree()
    (project.state.path / "registry.json").write_text("{}")
    (project.root / ".git/HEAD").write_text("x")
    assert workspace.delta().tree == before


def test_in_a_linked_worktree_its_link_to_git_and_its_task_files_are_left_out(project: Project) -> None:
    linked = Project(project.root.parent / "linked", project.root)
    (linked.root / ".aiwg/ralph").mkdir(parents=True)
    workspace = workspace_of("none", linked)
    before = workspace.tree()
    (linked.root / ".git").write_text("gitdir: elsewhere")
    (linked.root / ".aiwg/ralph/tasks.jsonl").write_text("{}")
    assert workspace.delta().tree == before
