"""The commits of a git repository as the guard sees them, without a checkout."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import msgspec

from untilproven.guard.change import Change
from untilproven.workspace.git.running import GitFailed, environment

MOST_FILES = 200
_REGULAR = ("100644", "100755")


class Missing(GitFailed):
    """A content that is not in the repository, because it was not cloned whole."""


class Entry(msgspec.Struct, frozen=True):
    """One changed file, by the names git has for its contents; None where it is not."""

    path: str
    before: str | None
    after: str | None
    old_path: str | None = None


class Commit(msgspec.Struct, frozen=True):
    repository: str
    hash: str
    message: str
    entries: tuple[Entry, ...]
    files: int
    """How many files it changes, those that are no plain files included."""

    @property
    def subject(self) -> str:
        return self.message.partition("\n")[0]

    @property
    def is_too_large(self) -> bool:
        return self.files > MOST_FILES


class Repository:
    """Reads with one `git log` and one `git cat-file`; to be used in a `with`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = (path.parent if path.name == ".git" else path).absolute().name.removesuffix(".git")
        self._reader = subprocess.Popen(
            self._git("cat-file", "--batch"),
            env=environment(path),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.kill()
        self._reader.communicate()

    def _git(self, *words: str) -> list[str]:
        """Whoever names a directory here means it, whoever owns it."""
        return ["git", "--no-pager", "-c", "safe.directory=*", "-C", str(self.path), *words]

    def _output(self, *words: str) -> bytes:
        ended = subprocess.run(self._git(*words), env=environment(self.path), capture_output=True, check=False)
        if ended.returncode:
            raise GitFailed(f"{self.path}: {ended.stderr.decode(errors='replace').strip()}")
        return ended.stdout

    def commits(self, newest: int) -> Iterator[Commit]:
        """Without merges, the newest first."""
        log = self._output(
            *(
                "-c",
                "log.showRoot=true",
                "-c",
                "log.showSignature=false",
                "log",
                "--no-merges",
                f"--max-count={newest}",
            ),
            *("--raw", "-z", "-M", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--no-color"),
            *("--encoding=UTF-8", "--format=format:%x01%H%x00%B%x00"),
        )
        fields = iter(log.split(b"\0"))
        following = next(fields, b"")
        while following.startswith(b"\x01"):
            commit = following[1:].decode()
            message = next(fields).decode("utf-8", "replace").strip()
            entries = []
            files = 0
            while (following := next(fields, b"").removeprefix(b"\n")).startswith(b":"):
                files += 1
                if entry := _entry(following.decode(), fields):
                    entries.append(entry)
            following = following or next(fields, b"")
            yield Commit(self.name, commit, message, tuple(entries), files)

    def changes(self, commit: Commit) -> tuple[Change, ...]:
        return tuple(
            Change(entry.path, self._maybe(entry.before), self._maybe(entry.after), entry.old_path)
            for entry in commit.entries
        )

    def _maybe(self, name: str | None) -> bytes | None:
        return None if name is None else self.content(name)

    def content(self, name: str) -> bytes:
        """Of a blob."""
        asked, answers = self._reader.stdin, self._reader.stdout
        if asked is None or answers is None:
            raise GitFailed(f"{self.path}: git is not listening")
        asked.write(f"{name}\n".encode())
        asked.flush()
        header = answers.readline().split()
        if len(header) != 3:
            raise Missing(f"{self.path}: the content {name} is not there", hint="use a clone that has all of it")
        content = answers.read(int(header[2]))
        answers.read(1)
        return content

    def tree(self, commit: Commit) -> dict[str, str]:
        """All plain files after it: the name of each one's content."""
        listed = self._output("ls-tree", "-r", "-z", "--full-tree", commit.hash).split(b"\0")
        found = {}
        for line in filter(None, listed):
            what, _, path = line.partition(b"\t")
            mode, _, name = what.decode().split()
            if mode in _REGULAR:
                found[os.fsdecode(path)] = name
        return found


def _entry(raw: str, fields: Iterator[bytes]) -> Entry | None:
    """None for a submodule, a link, and a plain file that becomes or was one of them."""
    old_mode, new_mode, before, after, status = raw[1:].split()
    path = os.fsdecode(next(fields))
    old_path = None
    if status[0] in "RC":
        old_path, path = path, os.fsdecode(next(fields))
    if {old_mode, new_mode} - {*_REGULAR, "000000"}:
        return None
    return Entry(path, None if status == "A" else before, None if status == "D" else after, old_path)
