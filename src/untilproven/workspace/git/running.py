"""Starting one git: with nothing of the repository's in its surroundings, to its end or to its time limit."""

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from untilproven.core.text import cut
from untilproven.errors import RalphError

SECONDS = 120.0
_CHUNK = 1024 * 1024
_LARGEST = 512 * _CHUNK
_SAID = 4096
_DROPPED = frozenset(
    {"GPG_TTY", "SSH_ASKPASS", "SUDO_ASKPASS", "DISPLAY", "WAYLAND_DISPLAY", "PAGER", "EDITOR", "VISUAL", "CDPATH"}
)
"""Where somebody would be asked, or something else be started."""
_ALWAYS = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "never",
    "LC_ALL": "C",
}


class GitFailed(RalphError):
    """Git refused, in its own words."""

    kind = "git"


class TookTooLong(GitFailed):
    """It was ended because it did not come to an end by itself."""


class Ended(NamedTuple):
    """How it ended, what it gave, and what it said."""

    code: int
    output: bytes
    said: str


def program(env: Mapping[str, str]) -> str:
    """Git, from the user's own system: never one that lies in the tree."""
    found = shutil.which("git", path=env["PATH"])
    if not found:
        raise GitFailed("git is not installed, or PATH does not lead to it", hint="install git, then try again")
    return found


def environment(tree: Path) -> dict[str, str]:
    """What every git finds: nothing of git's own variables, and no program from inside the tree."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") and name not in _DROPPED}
    return {**env, "PATH": path_outside(tree), **_ALWAYS}


def path_outside(tree: Path) -> str:
    """PATH without what lies in the tree, and without what depends on where one stands."""
    inside = tree.resolve()
    named = os.environ.get("PATH", os.defpath).split(os.pathsep)
    kept = [one for one in named if one.startswith("/") and not Path(one).resolve().is_relative_to(inside)]
    return os.pathsep.join(kept) or os.defpath


def run(
    words: Sequence[str],
    env: Mapping[str, str],
    *,
    stdin: bytes | Path = b"",
    seconds: float = SECONDS,
    cwd: Path | None = None,
) -> Ended:
    """Run it to its end and give what it printed."""
    with _started(words, env, stdin, cwd, seconds) as running:
        parts, size = [], 0
        for part in running.output():
            parts.append(part)
            size += len(part)
            if size > _LARGEST:
                raise GitFailed(f"git {_verb(words)} printed more than can be believed")
        return Ended(running.code(), b"".join(parts), running.said())


def stream(
    words: Sequence[str], env: Mapping[str, str], *, stdin: bytes | Path, seconds: float = SECONDS
) -> Iterator[bytes]:
    """What it prints, as it comes; an ending that is no success raises."""
    with _started(words, env, stdin, None, seconds) as running:
        yield from running.output()
        if running.code():
            raise failed(words, running.said())


def failed(words: Sequence[str], said: str) -> GitFailed:
    return GitFailed(f"git {_verb(words)} failed: {said or 'it did not say why'}")


def _verb(words: Sequence[str]) -> str:
    return next((word for word in words if not word.startswith("-") and "=" not in word), "")


class _Running:
    """A git at work."""

    def __init__(
        self, process: subprocess.Popen[bytes], words: Sequence[str], errors: IO[bytes], seconds: float
    ) -> None:
        self._process = process
        self._words = words
        self._errors = errors
        self._seconds = seconds
        self._until = time.monotonic() + seconds

    def output(self) -> Iterator[bytes]:
        if self._process.stdout is None:
            return
        fd = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(fd, select.POLLIN | select.POLLHUP)
        while True:
            left = self._until - time.monotonic()
            if left <= 0 or not poll.poll(left * 1000):
                raise self._too_long()
            part = os.read(fd, _CHUNK)
            if not part:
                return
            yield part

    def code(self) -> int:
        try:
            return self._process.wait(max(self._until - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            raise self._too_long() from None

    def said(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(size - _SAID, 0))
        return cut(self._errors.read(_SAID).decode("utf-8", "replace").strip(), _SAID)

    def _too_long(self) -> TookTooLong:
        return TookTooLong(f"git {_verb(self._words)} was ended after {self._seconds:g} s: {self.said()}")


@contextlib.contextmanager
def _given(stdin: bytes | Path) -> Iterator[IO[bytes]]:
    """A file, so that nobody has to feed it while the answers are read."""
    if isinstance(stdin, Path):
        with stdin.open("rb") as file:
            yield file
        return
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        yield file


@contextlib.contextmanager
def _started(
    words: Sequence[str], env: Mapping[str, str], stdin: bytes | Path, cwd: Path | None, seconds: float
) -> Iterator[_Running]:
    """In a session of its own, so that there is no terminal to ask at; nothing of it is left afterwards."""
    with tempfile.TemporaryFile() as errors, _given(stdin) as given:
        try:
            process = subprocess.Popen(
                [program(env), *words],
                env=env,
                cwd=cwd or "/",
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise GitFailed(f"git cannot be started: {error.strerror}") from error
        with process:
            try:
                yield _Running(process, words, errors, seconds)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
