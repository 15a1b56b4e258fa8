"""What every scene needs: a home, a repository with all that can be in one, and a loop's work in it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from untilproven.core.trailers import Message
from untilproven.errors import RalphError
from untilproven.model.receipt import Proof
from untilproven.workspace.entry import Entry
from untilproven.workspace.git.committing import Committed, Nothing, Waiting, commit
from untilproven.workspace.walk import walk

LOOP = "ralph-fix-it-a1b2c3d4"
MESSAGE = Message(task="Fix it", loop_id=LOOP, proof=Proof.RED_TO_GREEN, receipt="sha256:" + "0" * 64)
OWN = [PurePosixPath(".git"), PurePosixPath(".aiwg/ralph")]


class Change(NamedTuple):
    base: Entry | None
    ours: Entry | None


class Stage:
    """A repository with two commits, whose user has things staged, changed, untracked and ignored."""

    def __init__(self, base: Path, name: str = "project") -> None:
        self.base = base
        self.home = base / "home"
        self.root = base / name
        for path in (self.home, self.root):
            path.mkdir(parents=True, exist_ok=True)
        for variable in [name for name in os.environ if name.startswith(("GIT_", "XDG_"))]:
            del os.environ[variable]
        os.environ["HOME"] = str(self.home)
        (self.home / ".gitconfig").write_text("[user]\nname = U Ser\nemail = u@example.org\n")
        self.furnish()
        self.before: dict[str, Entry] = {}
        self.begin()

    def furnish(self) -> None:
        self.write("src/a.py", "a = 1\n")
        self.write("src/b.py", "b = 2\n")
        self.write("src/deep/er/c.py", "c = 3\n")
        self.write("run.sh", "#!/bin/sh\n").chmod(0o755)
        self.write(".gitignore", ".env\nnode_modules\n*.log\n")
        self.write("both.txt", "theirs\n")
        (self.root / "link").symlink_to("src/a.py")
        self.host("git init -q -b main . && git add -A && git commit -qm first")
        self.write("staged.txt", "staged\n")
        self.host("git add staged.txt")
        self.write("untracked.txt", "mine\n")
        self.write("src/deep/er/c.py", "c = 4  # not committed\n")
        self.write(".env", "TOKEN=1\n")

    def begin(self) -> None:
        """The loop begins here."""
        self.before = dict(walk(self.root, OWN, None).entries)

    def changes(self) -> dict[str, Change]:
        after = walk(self.root, OWN, None).entries
        both = sorted({*self.before, *after})
        return {
            path: Change(self.before.get(path), after.get(path))
            for path in both
            if self.before.get(path) != after.get(path)
        }

    def commit(self, branch: str = "", message: Message = MESSAGE) -> Committed | Nothing | Waiting:
        return commit(self.root, self.changes(), message, branch=branch)

    def committed(self, branch: str = "") -> Committed:
        done = self.commit(branch)
        assert isinstance(done, Committed), done
        return done

    def work(self) -> None:
        """What a loop typically does."""
        self.write("src/a.py", "a = 10\n")
        self.write("new/file.py", "new = 1\n")
        (self.root / "src/b.py").unlink()

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def host(self, command: str, *, check: bool = True, env: Mapping[str, str] | None = None) -> str:
        """As the user would type it."""
        ran = subprocess.run(
            command,
            shell=True,
            cwd=self.root,
            check=False,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
        assert not check or ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def tree(self, commit: str = "HEAD") -> dict[str, str]:
        """Paths and modes of a commit."""
        lines = self.host(f"git ls-tree -r -z {commit}").split("\0")
        return {line.partition("\t")[2]: line[:6] for line in lines if line}

    def status(self) -> dict[str, str]:
        lines = self.host("git status --porcelain -z --untracked-files=all").split("\0")
        return {line[3:]: line[:2] for line in lines if line}

    def head(self) -> str:
        return self.host("git rev-parse HEAD").strip()


OF_THE_USER = {"staged.txt": "A ", "src/deep/er/c.py": " M", "untracked.txt": "??"}
"""What `git status` says of the user's own things, before the loop and after it."""


def fresh(base: Path, name: str) -> Stage:
    """A stage of its own within a scene."""
    return Stage(base / name)


def out(done: Committed | Nothing | Waiting) -> dict[str, str]:
    assert not isinstance(done, Waiting), done
    return {one.path: one.why for one in done.left_out}


def refuses(kind: type[RalphError], do: Callable[[], object]) -> RalphError:
    try:
        do()
    except kind as error:
        return error
    raise AssertionError("not refused")


def canary(base: Path) -> tuple[Path, Path]:
    """A program that leaves a mark when it is run, and the directory for the marks."""
    marks = base / "marks"
    shutil.rmtree(marks, ignore_errors=True)
    marks.mkdir(parents=True)
    script = base / "canary.sh"
    script.write_text(f"#!/bin/sh\n: > {marks}/$$-$(basename $0)\nexit 0\n")
    script.chmod(0o755)
    return script, marks


def play(scenes: Mapping[str, Any]) -> None:
    """Run as a script: the name of a scene and a directory for it."""
    scenes[sys.argv[1]](Path(sys.argv[2]))
