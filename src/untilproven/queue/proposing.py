"""What was learnt, proposed to a human: a branch with a commit that changes the files that agents read.

Nothing is applied. Neither the working tree nor the index is touched.
"""

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from untilproven.core.improvements import AGENTS, SECTION, Improvement, improvements, says, with_lines
from untilproven.core.text import printable, text
from untilproven.errors import UsageError
from untilproven.model.learning import ImprovementProposed, Learnt
from untilproven.store import files
from untilproven.store.layout import Project
from untilproven.workspace.git import branching
from untilproven.workspace.git.branching import Text
from untilproven.workspace.git.confined import Git, confined

_PREFIX = "ralph/learn-"
_TRAILER = "Proposal-Id"
_LARGEST = 4 * files.MIB


class Proposed(msgspec.Struct, frozen=True, kw_only=True):
    """The branch, empty if there was nothing new to propose; and why something was left out."""

    branch: str = ""
    commit: str = ""
    proposals: tuple[ImprovementProposed, ...] = ()
    left_out: tuple[str, ...] = ()


def propose(project: Project, records: Iterable[Learnt], now: datetime) -> Proposed:
    """Make the branch, unless everything is said already: in the files, or on a branch that waits for a human."""
    wanted = improvements(records, now)
    if not wanted:
        return Proposed()
    with confined(project.root) as git:
        head = git.head().commit
        if not head:
            raise UsageError("there is no commit to build on", hint="make the first commit, then propose again")
        return _Proposing(git, project, head, now).propose(wanted)


class _Proposing:
    def __init__(self, git: Git, project: Project, head: str, now: datetime) -> None:
        self._git = git
        self._prefix = branching.prefix_of(git, project.root)
        self._head = head
        self._now = now.astimezone(UTC)
        self._left_out: list[str] = []

    def propose(self, wanted: Iterable[Improvement]) -> Proposed:
        by_path = self._new(wanted)
        before = branching.read(self._git, self._head, by_path)
        after = {path: _improved(before[path], by_path[path]) for path in by_path}
        if not after:
            return Proposed(left_out=tuple(self._left_out))
        chosen = [one for path in by_path for one in by_path[path]]
        name = f"{_PREFIX}{self._now:%Y%m%dT%H%M%SZ}"
        branch, commit = branching.branch(self._git, name, self._head, after, _message(chosen))
        proposals = tuple(
            self._record(path, one, _diff(path, before[path], after[path]), branch, commit)
            for path, ones in by_path.items()
            for one in ones
        )
        return Proposed(branch=branch, commit=commit, proposals=proposals, left_out=tuple(self._left_out))

    def _new(self, wanted: Iterable[Improvement]) -> dict[str, list[Improvement]]:
        """By the file that they are for; a plan that the project does not have is not begun for this."""
        wanted = list(wanted)
        names = {one.target: f"{self._prefix}{one.target}" for one in wanted} | {AGENTS: f"{self._prefix}{AGENTS}"}
        there = branching.read(self._git, self._head, names.values())
        waiting = self._waiting()
        found: dict[str, list[Improvement]] = defaultdict(list)
        for one in wanted:
            path = names[one.target]
            if path in there and not there[path].mode:
                path = names[AGENTS]
            file = there.get(path)
            if one.id in waiting:
                self._left_out.append(f"{one.id} is on {waiting[one.id]} already")
            elif file is None or len(file.data) > _LARGEST:
                self._left_out.append(f"{one.id}: {path} is not a file that can be added to")
            elif not says(file.data, one.line):
                found[path].append(one)
        return found

    def _waiting(self) -> dict[str, str]:
        """What is proposed on branches that are still there."""
        return {
            identity: branch
            for branch, message in branching.messages(self._git, _PREFIX)
            for identity in re.findall(rf"^{_TRAILER}: (\S+)$", message, re.MULTILINE)
        }

    def _record(self, path: str, one: Improvement, diff: str, branch: str, commit: str) -> ImprovementProposed:
        return ImprovementProposed(
            id=one.id,
            target=path.removeprefix(self._prefix),
            section=SECTION,
            change=one.line,
            diff=diff,
            rationale=one.rationale,
            evidence=one.evidence,
            branch=branch,
            commit=commit,
            timestamp=self._now,
        )


def _improved(before: Text, ones: Iterable[Improvement]) -> Text:
    return Text(before.mode, with_lines(before.data, [one.line for one in ones]))


def _message(chosen: Iterable[Improvement]) -> str:
    chosen = list(chosen)
    told = [
        f"{printable(one.line)}\n  Why: {printable(one.rationale)}\n  Tasks: {', '.join(one.evidence)}"
        for one in chosen
    ]
    trailers = "\n".join(f"{_TRAILER}: {one.id}" for one in chosen)
    count = f"{len(chosen)} lines" if len(chosen) > 1 else "one line"
    return text("\n\n".join([f"Propose {count} for agents, learnt from finished tasks", *told, trailers]) + "\n")


def _diff(path: str, before: Text, after: Text) -> str:
    old, new = (one.data.decode("utf-8", "replace").splitlines(keepends=True) for one in (before, after))
    return "".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"))
