"""A branch with one commit on top of HEAD. The working tree, the index and HEAD have no part in it."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from untilproven.errors import UsageError
from untilproven.store import files
from untilproven.workspace.git import objects, running, signing
from untilproven.workspace.git.confined import Git

_MOST_NAMES = 100
_MOST_LISTED = 1000


class Text(msgspec.Struct, frozen=True):
    """A file of a commit. `mode` is empty if there is none yet."""

    mode: str
    data: bytes


def read(git: Git, commit: str, paths: Iterable[str]) -> dict[str, Text]:
    """These files as a commit has them; what is a link, a directory or a submodule there is left out."""
    entries = objects.in_commit(git, commit)
    found: dict[str, Text] = {}
    for path in paths:
        blob = entries.get(path)
        if blob is None and not any(name.startswith(f"{path}/") for name in entries):
            found[path] = Text("", b"")
        elif blob is not None and blob.mode in {objects.REGULAR, objects.EXECUTABLE}:
            [(_, data)] = objects.contents(git, [blob.name])
            found[path] = Text(blob.mode, data)
    return found


def messages(git: Git, prefix: str) -> Iterator[tuple[str, str]]:
    """The branches whose names begin so, the newest name first, and what the commit at the end of each says."""
    words = [f"--count={_MOST_LISTED}", "--sort=-refname", "--format=%(refname:strip=2)", f"refs/heads/{prefix}*"]
    for branch in git.out("for-each-ref", *words).decode("utf-8", "replace").split():
        if commit := git.commit_named(f"refs/heads/{branch}"):
            yield branch, git.message(commit)


def branch(git: Git, name: str, parent: str, changed: Mapping[str, Text], message: str) -> tuple[str, str]:
    """Make the commit, and a branch of that name, or with a number after it if it is taken; returns both names."""
    blobs = objects.Blobs(git)
    for file in changed.values():
        blobs.add(file.data)
    stored = {
        path: objects.Blob(file.mode or objects.REGULAR, blob)
        for (path, file), blob in zip(changed.items(), blobs.write(), strict=True)
    }
    people = _people(git)
    commit = _commit(git, objects.tree_of(git, parent, stored), parent, message, people)
    for number in range(1, _MOST_NAMES):
        free = name if number == 1 else f"{name}-{number}"
        ref = f"refs/heads/{free}"
        if git.run("show-ref", "--verify", "--quiet", ref).code == 0:
            continue
        git.repository.refuse_links(ref)
        files.make_directory(git.repository.common / "logs")
        words = ["update-ref", "-m", "ralph: proposed", ref, commit, "0" * len(commit)]
        ended = git.run(*words, env=people)
        if ended.code:
            raise running.failed(words, ended.said)
        return free, commit
    raise UsageError(f"there are {_MOST_NAMES} branches called {name}", hint="delete some of them")


def prefix_of(git: Git, root: Path) -> str:
    """What stands before a path of the project in the names that git has for it."""
    below = root.resolve().relative_to(git.repository.top.resolve()).as_posix()
    return "" if below == "." else f"{below}/"


def _commit(git: Git, tree: str, parent: str, message: str, people: Mapping[str, str]) -> str:
    words = ["commit-tree", tree, "-p", parent, "-F", "-"]
    sign = signing.signature(git)
    if sign:
        words = [*sign.settings, *words, f"-S{sign.key}"]
    seconds = signing.SECONDS if sign else running.SECONDS
    ended = git.run(*words, stdin=message.encode(), env=people, seconds=seconds)
    if ended.code and sign:
        raise signing.CannotSign(
            f"the commit could not be signed: {signing.why_not(git, ended.said)}",
            hint="unlock the key (sign something with it in a terminal), or turn commit.gpgsign off",
        )
    if ended.code:
        raise running.failed(words, ended.said)
    return ended.output.decode().strip()


def _people(git: Git) -> dict[str, str]:
    found: dict[str, str] = {}
    for role in ("author", "committer"):
        who = git.settings.identity(role)
        found |= {f"GIT_{role.upper()}_NAME": who.name, f"GIT_{role.upper()}_EMAIL": who.email}
    return found
