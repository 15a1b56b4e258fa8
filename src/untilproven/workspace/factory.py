"""From the word after `--sandbox` to a workspace."""

from pathlib import PurePosixPath

from untilproven.contract import Workspace
from untilproven.errors import UsageError
from untilproven.model.plan import Plan
from untilproven.store.layout import QUEUE_FILES, STATE_DIRECTORY, Project
from untilproven.workspace.openings import openings_of

_UNPROTECTED = "--sandbox none runs the agent as you, on your files"


def chosen(sandbox: str) -> str:
    """The room that is built for this word: the one it names, and for `auto` the best that can be built here."""
    if sandbox != "auto":
        require(sandbox)
        return sandbox
    reasons = []
    for kind in ("overlay", "shadow"):
        reason = _why_not(kind)
        if not reason:
            return kind
        reasons.append(f"{kind}: {reason}")
    raise UsageError(
        f"no room can be built here, and nothing is run unprotected by itself ({'; '.join(reasons)})",
        hint=f"`ralph doctor` says what to change; {_UNPROTECTED}",
    )


def require(sandbox: str) -> None:
    """Refuse, with the reason, what cannot be built here; never a weaker room in its place."""
    if reason := _why_not(sandbox):
        raise UsageError(f"--sandbox {sandbox} cannot be had here: {reason}", hint=_UNPROTECTED)


def _why_not(kind: str) -> str:
    if kind == "overlay":
        from untilproven.workspace.overlay.available import available  # noqa: PLC0415  loads all that starts programs

        return available()
    if kind == "shadow":
        from untilproven.workspace.shadow.available import available as confined  # noqa: PLC0415  the same

        return confined()
    return "" if kind == "none" else "there is no such room"


def workspace_of(plan: Plan, project: Project, loop_id: str) -> Workspace:
    """The workspace that was asked for, which `require` has seen to be possible."""
    own = _not_the_users(project)
    if plan.sandbox == "overlay":
        from untilproven.workspace.overlay.workspace import OverlayWorkspace  # noqa: PLC0415  loads all of it

        return OverlayWorkspace(project, loop_id, own, openings_of(plan), at_end=bool(plan.task_id))
    if plan.sandbox == "shadow":
        from untilproven.workspace.shadow.workspace import ShadowWorkspace  # noqa: PLC0415  the same

        return ShadowWorkspace(project, loop_id, own, openings_of(plan))
    if plan.session and plan.checks:
        from untilproven.workspace.standing.workspace import StandingWorkspace  # noqa: PLC0415  the same

        return StandingWorkspace(project, loop_id, own, openings_of(plan), walled=plan.sandbox == "session")
    from untilproven.workspace.plain import PlainWorkspace  # noqa: PLC0415  the same

    return PlainWorkspace(project.root, own)


def _not_the_users(project: Project) -> frozenset[PurePosixPath]:
    """Git's own files, the loops' state and the queue's files, also where the main worktree lies within this one."""
    own = {PurePosixPath(".git"), PurePosixPath(STATE_DIRECTORY)}
    if (project.root / QUEUE_FILES[0]).is_file():
        own |= set(map(PurePosixPath, QUEUE_FILES))
    if project.home.is_relative_to(project.root):
        home = PurePosixPath(project.home.relative_to(project.root))
        own |= {home / ".git", home / STATE_DIRECTORY}
    return frozenset(own)
