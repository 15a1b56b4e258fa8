"""From the word after `--sandbox` to a workspace."""

from pathlib import PurePosixPath

from untilproven.contract import Workspace
from untilproven.errors import UsageError
from untilproven.store.layout import STATE_DIRECTORY, Project


def workspace_of(sandbox: str, project: Project) -> Workspace:
    """The workspace the user asked for; never a weaker one in its place."""
    if sandbox != "none":
        raise UsageError(
            f"--sandbox {sandbox}: this version can build no room that protects your files, and it runs nothing"
            " unprotected by itself",
            hint="--sandbox none runs the agent as you, on your files",
        )
    from untilproven.workspace.plain import PlainWorkspace  # noqa: PLC0415  loads all that starts programs

    return PlainWorkspace(project.root, _not_the_users(project))


def _not_the_users(project: Project) -> frozenset[PurePosixPath]:
    """Git's own files and the loops' state, also where the main worktree lies within this one."""
    own = {PurePosixPath(".git"), PurePosixPath(STATE_DIRECTORY)}
    if project.home.is_relative_to(project.root):
        home = PurePosixPath(project.home.relative_to(project.root))
        own |= {home / ".git", home / STATE_DIRECTORY}
    return frozenset(own)
