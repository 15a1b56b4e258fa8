"""Is a commit what it claims? Its checks run once more, on its own tree, in a room."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from untilproven.checks.factory import checks_for, planned_checks
from untilproven.contract import Check, Evidence, Room
from untilproven.core.trailers import Trailers
from untilproven.errors import UsageError
from untilproven.model.plan import Plan
from untilproven.model.receipt import Receipt
from untilproven.store.layout import Project
from untilproven.workspace.git import evidence, rooms
from untilproven.workspace.git.confined import Git, confined
from untilproven.workspace.git.materialise import materialise
from untilproven.workspace.openings import Openings, openings_of

SECONDS = 600.0


class Checked(msgspec.Struct, frozen=True):
    """One check, and what came of it."""

    check: str
    found: Evidence


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What a commit claims, and what was found. Without a claim only the user's own checks were run."""

    commit: str
    claim: Trailers | None
    receipt: Receipt | None
    doubt: str
    checked: tuple[Checked, ...]
    sandbox: str
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.why

    @property
    def why(self) -> str:
        """Why it is not proven again, in a sentence; empty if it is."""
        failing = next((one for one in self.checked if not one.found.passed), None)
        if failing:
            return f"{failing.check} {'could not run' if failing.found.broken else 'does not pass'} on this commit"
        return self.doubt


def verify(
    project: Project, name: str, *, until: Sequence[str], sandbox: str, seconds: float | None = None
) -> Verified:
    """Run the checks of the loop that a commit names, or the user's own, on the commit's tree."""
    with confined(project.root) as git:
        commit = git.commit_named(name)
        if not commit:
            raise UsageError(f"there is no commit {name!r} here", hint="git log --oneline lists them")
        said = git.message(commit)
        named = None if until else evidence.named_by(project.state, said)
        plan = named.plan if named else None
        checks = _checks(plan, project, until)
        tree, paths, notes = _tree(git, project, commit)
        found = rooms.dependencies(project.root, paths)
        notes += [f"{path} is the working tree's: it is not in the commit" for path in found]
        limit = seconds or (plan and plan.check_timeout_seconds) or SECONDS
        with _room(git, project, tree, found, sandbox, plan) as room:
            checked = tuple(Checked(check.name, check.run(room, timeout=limit)) for check in checks)
        return Verified(
            commit=commit,
            claim=named.claim if named else evidence.claim_in(said),
            receipt=named.receipt if named else None,
            doubt=named.doubt if named else "",
            checked=checked,
            sandbox=sandbox,
            notes=tuple(notes),
        )


def _checks(plan: Plan | None, project: Project, until: Sequence[str]) -> list[Check]:
    if plan is None:
        return checks_for(until)
    return planned_checks(plan.checks, task_id=plan.task_id or "", root=project.root)


def _tree(git: Git, project: Project, commit: str) -> tuple[Path, list[str], list[str]]:
    """The commit's files from the project's own directory on, their paths, and what is to be said about them."""
    whole = git.private / "commit"
    whole.mkdir()
    entries, submodules = materialise(git, commit, whole)
    below = project.root.resolve().relative_to(git.repository.top.resolve()).as_posix()
    prefix = "" if below == "." else f"{below}/"
    paths = [path.removeprefix(prefix) for path in entries if path.startswith(prefix)]
    if not paths:
        raise UsageError(f"the commit has nothing in {below}", hint="verify it from the top of the repository")
    return whole / below, paths, [f"{path} is a submodule: what is in it is not there" for path in submodules]


def _room(
    git: Git, project: Project, tree: Path, found: Sequence[str], sandbox: str, plan: Plan | None
) -> contextlib.AbstractContextManager[Room]:
    if sandbox == "none":
        return rooms.unprotected(project, tree, found)
    return rooms.walled(project, git.private, tree, found, openings_of(plan) if plan else Openings())
