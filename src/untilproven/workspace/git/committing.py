"""One commit of what a loop changed, and of nothing else."""

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from untilproven.core import naming, trailers
from untilproven.core.trailers import Message, Plain
from untilproven.errors import Busy, UsageError
from untilproven.store import files
from untilproven.workspace.git import branching, index, objects, running, signing
from untilproven.workspace.git.choosing import Change, Choice, Chooser, LeftOut
from untilproven.workspace.git.confined import Git, Head, confined

_ATTEMPTS = 2
_MOST_NAMES = 1000
_LOOKED_BACK = 64
_MOVED = ("but expected", "reference already exists", "reference is missing")
_REF_LOCKED = "Unable to create"


class Committed(msgspec.Struct, frozen=True, kw_only=True):
    """The commit, the branch it is on (empty if HEAD is on none), and what is not in it."""

    commit: str
    branch: str
    paths: int
    left_out: tuple[LeftOut, ...] = ()
    ignored: int = 0
    again: bool = False
    """It was there already: a killed runner had made it."""


class Nothing(msgspec.Struct, frozen=True, kw_only=True):
    """There is nothing to commit; perhaps because all of it had to be left out."""

    left_out: tuple[LeftOut, ...] = ()
    ignored: int = 0


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody has to see to it; nothing was changed, and trying again later is right."""

    why: str
    hint: str = ""


class _Moved(Exception):
    """HEAD, the branch or the index is not what it was a moment ago."""


def rehearse(root: Path) -> None:
    """Refuse, with the reason, what could not be committed anyway: no repository, no identity."""
    with confined(root) as git:
        for role in ("author", "committer"):
            git.settings.identity(role)


def commit(
    root: Path,
    changes: Mapping[str, Change],
    message: Message | Plain,
    *,
    branch: str = "",
    along: Mapping[str, bytes] | None = None,
) -> Committed | Nothing | Waiting:
    """Commit these paths, as they were proven, on the current branch; or on a new one, `ralph/` and the given name.

    `along` are files of our own, with what they are to have in it, whatever they have on disk. Doing it again after a
    kill finishes what was begun, and makes no second commit of the same.
    """
    with confined(root) as git:
        prefix = Path(root).resolve().relative_to(git.repository.top.resolve()).as_posix()
        above = "" if prefix == "." else f"{prefix}/"
        below = {f"{above}{path}": change for path, change in changes.items()}
        ours = {f"{above}{path}": data for path, data in (along or {}).items()}
        try:
            return _Committing(git, below, message, branch, ours).commit()
        except signing.CannotSign as error:
            return Waiting(why=error.message, hint=error.hint)
        except (index.Locked, Busy) as error:
            return Waiting(why=error.message, hint=error.hint)


def made_by(root: Path, loop_id: str, task_id: str) -> str:
    """The commit that a loop of the queue made, if it is among the last ones; empty if not."""
    with confined(root) as git:
        return _made_by(git, git.head(), loop_id, task_id)


def added_by(root: Path, commit: str, paths: Iterable[str]) -> dict[str, list[bytes]]:
    """The lines that a commit added to these files; a file that is not in it is left out."""
    with confined(root) as git:
        above = branching.prefix_of(git, root)
        names = {path: f"{above}{path}" for path in paths}
        after = branching.read(git, commit, names.values())
        parent = git.commit_named(f"{commit}~1")
        before = branching.read(git, parent, names.values()) if parent else {}
    found: dict[str, list[bytes]] = {}
    for path, name in names.items():
        if name in after and after[name].mode:
            known = set(before[name].data.split(b"\n")) if name in before else set()
            found[path] = [line for line in after[name].data.split(b"\n") if line not in known and line.strip()]
    return found


def _made_by(git: Git, head: Head, loop_id: str, task_id: str) -> str:
    if not head.commit:
        return ""
    words = ["log", "-z", "--first-parent", f"-n{_LOOKED_BACK}", "--encoding=UTF-8", "--format=%H%n%B", head.commit]
    for told in git.out(*words).decode("utf-8", "replace").split("\0"):
        commit, _, message = told.partition("\n")
        if trailers.made_by(message) == (loop_id, task_id):
            return commit
    return ""


class _Committing:
    def __init__(
        self, git: Git, changes: Mapping[str, Change], message: Message | Plain, branch: str, along: Mapping[str, bytes]
    ) -> None:
        self._git = git
        self._changes = changes
        self._along = along
        self._message = message
        self._branch = naming.slug(branch) if branch else ""
        self._people = _people(git)

    def commit(self) -> Committed | Nothing | Waiting:
        repository = self._git.repository
        repository.refuse_links("HEAD")
        index.mend(self._git)
        if what := repository.under_way():
            return Waiting(why=f"{what} is in progress", hint="finish it, or end it with its --abort, then go on")
        for _ in range(_ATTEMPTS):
            head = self._git.head()
            if head.ref and (other := repository.elsewhere(head.ref)):
                return Waiting(
                    why=f"{_short(head.ref)} is also checked out in another working tree ({other})",
                    hint="switch one of the two to another branch",
                )
            if made := self._made_before(head):
                return made
            chosen = Chooser(self._git, self._changes, head, self._along).choose()
            if not chosen.changes:
                return self._nothing(head, chosen)
            tree = objects.tree_of(self._git, head.commit, chosen.changes)
            with contextlib.suppress(_Moved):
                return self._publish(head, chosen, tree)
        return Waiting(why="somebody else commits at the same time, again and again", hint="try again when it is quiet")

    def _made_before(self, head: Head) -> Committed | None:
        """A task's work that a killed runner has committed; others may have committed since."""
        if not self._message.task_id or not self._message.loop_id:
            return None
        commit = _made_by(self._git, head, self._message.loop_id, self._message.task_id)
        if not commit:
            return None
        return Committed(commit=commit, branch=_short(head.ref), paths=_count(self._git, commit), again=True)

    def _nothing(self, head: Head, chosen: Choice) -> Committed | Nothing:
        """If HEAD is this very work, somebody was killed after it was done."""
        if head.commit and self._is_ours(head.commit):
            return Committed(
                commit=head.commit,
                branch=_short(head.ref),
                paths=_count(self._git, head.commit),
                left_out=chosen.left_out,
                ignored=chosen.ignored,
                again=True,
            )
        return Nothing(left_out=chosen.left_out, ignored=chosen.ignored)

    def _publish(self, head: Head, chosen: Choice, tree: str) -> Committed:
        target, made = self._target(head, tree)
        new = made or self._object(head, tree)
        self._git.repository.refuse_links(target or "HEAD")
        files.make_directory(self._git.repository.common / "logs")
        with index.held(self._git) as users:
            self._refuse_if_moved(head, chosen, users)
            users.put(chosen.changes)
            try:
                self._move(head, target, new, made=bool(made))
            except BaseException:
                if self._git.head().commit != new:
                    users.undo()
                raise
        return Committed(
            commit=new,
            branch=_short(target),
            paths=len(chosen.changes),
            left_out=chosen.left_out,
            ignored=chosen.ignored,
        )

    def _target(self, head: Head, tree: str) -> tuple[str, str]:
        """The branch to move, and the commit it has already if a killed runner made it."""
        if not self._branch:
            return head.ref, ""
        for number in range(1, _MOST_NAMES):
            ref = f"refs/heads/ralph/{self._branch}" + (f"-{number}" if number > 1 else "")
            there = self._git.commit_named(ref)
            if not there:
                return ref, ""
            if self._is_ours(there) and self._facts(there) == [tree, *([head.commit] if head.commit else [])]:
                return ref, there
        raise UsageError(f"there are {_MOST_NAMES} branches called ralph/{self._branch}", hint="delete some of them")

    def _is_ours(self, commit: str) -> bool:
        wanted = self._message.loop_id, self._message.task_id
        return bool(wanted[0]) and trailers.made_by(self._git.message(commit)) == wanted

    def _facts(self, commit: str) -> list[str]:
        """Its tree and its parents."""
        head, _, _ = self._git.out("cat-file", "commit", commit).partition(b"\n\n")
        fields = (line.split(b" ", 1) for line in head.split(b"\n"))
        return [field[1].decode() for field in fields if field[0] in {b"tree", b"parent"}]

    def _object(self, head: Head, tree: str) -> str:
        words = ["commit-tree", tree, "-F", "-", *(["-p", head.commit] if head.commit else [])]
        sign = signing.signature(self._git)
        if sign:
            words = [*sign.settings, *words, f"-S{sign.key}"]
        seconds = signing.SECONDS if sign else running.SECONDS
        try:
            ended = self._git.run(*words, stdin=self._message.text().encode(), env=self._people, seconds=seconds)
        except running.TookTooLong as error:
            if sign:
                raise signing.CannotSign(
                    f"the commit could not be signed in time: {error.message}", hint=_SIGN
                ) from error
            raise
        if ended.code and sign:
            raise signing.CannotSign(
                f"the commit could not be signed: {signing.why_not(self._git, ended.said)}", hint=_SIGN
            )
        if ended.code:
            raise running.failed(words, ended.said)
        return ended.output.decode().strip()

    def _refuse_if_moved(self, head: Head, chosen: Choice, users: index.UserIndex) -> None:
        now, _ = objects.in_index(self._git, users.path)
        staged = any(now.get(path) not in {chosen.before[path], blob} for path, blob in chosen.changes.items())
        if staged or self._git.head() != head:
            raise _Moved

    def _move(self, head: Head, target: str, new: str, *, made: bool) -> None:
        zeros = "0" * len(new)
        about = f"ralph: {self._message.subject}"
        if not made:
            old = zeros if self._branch else head.commit or zeros
            where = [target] if target else ["--no-deref", "HEAD"]
            self._ref("update-ref", "-m", about, *where, new, old)
        if self._branch:
            self._ref("symbolic-ref", "-m", about, "HEAD", target)

    def _ref(self, *words: str) -> None:
        ended = self._git.run(*words, env=self._people)
        if not ended.code:
            return
        if any(said in ended.said for said in _MOVED):
            raise _Moved
        if _REF_LOCKED in ended.said:
            raise index.Locked(f"the branch is locked: {ended.said}", hint="try again when the other git is done")
        raise running.failed(words, ended.said)


_SIGN = "unlock the key (sign something with it in a terminal), or turn commit.gpgsign off, then go on"


def _people(git: Git) -> dict[str, str]:
    found: dict[str, str] = {}
    for role in ("author", "committer"):
        who = git.settings.identity(role)
        found |= {f"GIT_{role.upper()}_NAME": who.name, f"GIT_{role.upper()}_EMAIL": who.email}
        if date := os.environ.get(f"GIT_{role.upper()}_DATE"):
            found[f"GIT_{role.upper()}_DATE"] = date
    return found


def _count(git: Git, commit: str) -> int:
    """How many paths a commit changed."""
    changed = git.out("diff-tree", "--root", "--no-commit-id", "--no-renames", "--name-only", "-r", "-z", commit)
    return changed.count(b"\0")


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/")
