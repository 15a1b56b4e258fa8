"""Every git that the runner starts on a repository goes through here.

Git is given the repository's objects, branches, HEAD and index, and a configuration of ours in place of the
repository's: no hook, filter, driver, monitor, alias or include that stands there exists for it.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from untilproven.store import files
from untilproven.store.lock import FileLock, is_locked
from untilproven.store.vouch import user_state
from untilproven.workspace.git import running, settings
from untilproven.workspace.git.repository import Repository, find
from untilproven.workspace.git.settings import Settings
from untilproven.workspace.overlay.removal import remove

_SHARED = ("refs", "logs", "packed-refs", "reftable", "shallow")
_DATA = ("exclude", "attributes")
_LARGEST = 4 * files.MIB
_OLD = 60.0
_LOCK = "in-use"
_CONFIG = """\
[core]
	repositoryformatversion = {version}
	bare = false
	logAllRefUpdates = true
	hooksPath = /dev/null
	fsmonitor = false
{core}[gc]
	auto = 0
[protocol]
	allow = never
[extensions]
{extensions}"""


class Head(msgspec.Struct, frozen=True):
    """Where the next commit goes. `ref` is empty if HEAD is on no branch, `commit` if there is none yet."""

    ref: str
    commit: str


class Git:
    """One repository; `private` is a directory of ours that ends with it."""

    def __init__(self, repository: Repository, private: Path) -> None:
        self.repository = repository
        self.private = private
        common = private / "common"
        with files.explained(common):
            (common / "info").mkdir(parents=True)
            (common / "config").write_text("")
            for name in _SHARED:
                (common / name).symlink_to(repository.common / name)
        self._env = {
            **running.environment(repository.top),
            "GIT_DIR": str(repository.directory),
            "GIT_COMMON_DIR": str(common),
            "GIT_OBJECT_DIRECTORY": str(repository.common / "objects"),
        }
        self.settings = settings.load(repository.directory, repository.common, common, repository.top)
        settings.refuse_strangers(repository.directory, repository.top, self.settings)
        (common / "config").write_text(_configuration(self.settings))
        for name in _DATA:
            _copy(repository.common / "info" / name, common / "info" / name)

    def run(
        self,
        *words: str,
        stdin: bytes | Path = b"",
        index: Path | None = None,
        tree: Path | None = None,
        env: Mapping[str, str] | None = None,
        seconds: float = running.SECONDS,
    ) -> running.Ended:
        """Run one git to its end, whatever that is. `tree` is a directory that it may take for the working tree."""
        given = {**self._env, **(env or {})}
        if index:
            given["GIT_INDEX_FILE"] = str(index)
        if tree:
            given["GIT_WORK_TREE"] = str(tree)
        return running.run(words, given, stdin=stdin, seconds=seconds, cwd=tree)

    def out(self, *words: str, stdin: bytes | Path = b"", index: Path | None = None) -> bytes:
        """The same for one that must succeed: what it printed."""
        ended = self.run(*words, stdin=stdin, index=index)
        if ended.code:
            raise running.failed(words, ended.said)
        return ended.output

    def stream(self, *words: str, stdin: bytes | Path) -> Iterator[bytes]:
        return running.stream(words, self._env, stdin=stdin)

    def commit_named(self, name: str) -> str:
        """The commit that a name means; empty if it means none."""
        ended = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return ended.output.decode("ascii", "replace").strip() if not ended.code else ""

    def head(self) -> Head:
        ref = os.fsdecode(self.run("symbolic-ref", "--quiet", "HEAD").output).strip()
        if ref and not ref.startswith("refs/heads/"):
            raise running.GitFailed(f"HEAD leads to {ref}, which is no branch", hint="git switch to a branch")
        return Head(ref, self.commit_named("HEAD"))

    def message(self, commit: str) -> str:
        """What a commit says, without its headers."""
        _, _, text = self.out("cat-file", "commit", commit).partition(b"\n\n")
        return text.decode("utf-8", "replace")


@contextlib.contextmanager
def confined(root: Path, *, bare: bool = False) -> Iterator[Git]:
    """Git for the repository that a directory lies in; `bare` for who does not need files that are checked out."""
    repository = find(root, bare=bare)
    place = user_state() / "git"
    with files.explained(place):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep(place)
        private = Path(tempfile.mkdtemp(dir=place))
    lock = FileLock(private / _LOCK, timeout=1.0, what=str(private))
    lock.acquire()
    try:
        with files.explained(private):
            yield Git(repository, private)
    finally:
        lock.release()
        remove(private)


def _sweep(place: Path) -> None:
    """What others left here who were killed."""
    for path in place.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > _OLD and not is_locked(path / _LOCK):
                remove(path)


def _configuration(found: Settings) -> str:
    """Of the repository's own configuration: how its files are written, and which files name what is ignored."""
    extensions = {
        "objectFormat": settings.plain(found.value("extensions.objectformat"), r"[a-z0-9]+"),
        "refStorage": settings.plain(found.value("extensions.refstorage"), r"[a-z0-9]+"),
    }
    core = {
        "sharedRepository": settings.plain(found.value("core.sharedrepository"), r"[a-z0-9]+"),
        "excludesFile": _regular(found.value("core.excludesfile")),
        "attributesFile": _regular(found.value("core.attributesfile")),
    }
    return _CONFIG.format(version=int(any(extensions.values())), core=_lines(core), extensions=_lines(extensions))


def _lines(values: Mapping[str, str]) -> str:
    escaped = {name: value.replace("\\", "\\\\").replace('"', '\\"') for name, value in values.items() if value}
    return "".join(f'\t{name} = "{value}"\n' for name, value in escaped.items())


def _regular(named: str | None) -> str:
    """A file that can be read without waiting for anybody."""
    if not named or "\n" in named:
        return ""
    path = Path(named).expanduser()
    return str(path) if path.is_absolute() and path.is_file() else ""


def _copy(source: Path, target: Path) -> None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        target.write_bytes(files.read(source, _LARGEST))
