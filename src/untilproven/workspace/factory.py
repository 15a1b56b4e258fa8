"""From the word after `--sandbox` to a workspace."""

from pathlib import PurePosixPath

from untilproven.contract import Workspace
from untilproven.errors import UsageError
from untilproven.store.layout import STATE_DIRECTORY, Project

_OVERLAY = ("auto", "overlay")
_UNPROTECTED = "--sandbox none runs the agent as you, on your files"


def require(sandbox: str) -> None:
    """Refuse, with the reason, what cannot be built here."""
    if sandbox in _OVERLAY:
        from untilproven.workspace.overlay.available import available  # noqa: PLC0415  loads all that starts programs

        if reason := available():
            raise UsageError(
                f"--sandbox {sandbox}: no room can be built here: {reason}; nothing is run unprotected by itself",
                hint=_UNPROTECTED,
            )
    elif sandbox != "none":
        raise UsageError(
            f"--sandbox {sandbox}: this version can build no such room, and it runs nothing unprotected by itself",
            hint=_UNPROTECTED,
        )


def workspace_of(sandbox: str, project: Project, loop_id: str = "") -> Workspace:
    """The workspace the user asked for; never a weaker one in its place."""
    if sandbox in _OVERLAY and not loop_id:
        raise UsageError(
            f"--sandbox {sandbox}: this version can build no room that protects your files, and it runs nothing"
            " unprotected by itself",
            hint=_UNPROTECTED,
        )
    require(sandbox)
    if sandbox in _OVERLAY:
        from untilproven.workspace.overlay.workspace import OverlayWorkspace  # noqa: PLC0415  the same

        return OverlayWorkspace(project, loop_id, _not_the_users(project))
    from untilproven.workspace.plain import PlainWorkspace  # noqa: PLC0415  the same

    return PlainWorkspace(project.root, _not_the_users(project))


def _not_the_users(project: Project) -> frozenset[PurePosixPath]:
    """Git's own files and the loops' state, also where the main worktree lies within this one."""
    own = {PurePosixPath(".git"), PurePosixPath(STATE_DIRECTORY)}
    if project.home.is_relative_to(project.root):
        home = PurePosixPath(project.home.relative_to(project.root))
        own |= {home / ".git", home / STATE_DIRECTORY}
    return frozenset(own)
