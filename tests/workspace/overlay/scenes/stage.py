"""What every scene needs: a home, a project with all that can be in one, and a workspace on it."""

import hashlib
import math
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from untilproven.contract import Delta, Ran, Supervision
from untilproven.errors import RalphError
from untilproven.store.layout import Project, find_project
from untilproven.workspace.openings import Openings
from untilproven.workspace.overlay.workspace import OverlayWorkspace

SUPERVISION = Supervision(marker="ralph-scene")
LOOP = "ralph-scene-a1b2c3d4"


class Stage:
    openings = Openings()

    def __init__(self, base: Path, name: str = "project") -> None:
        self.base = base
        self.home = base / "home"
        self.root = base / name
        for path in (self.home, self.root):
            path.mkdir(parents=True, exist_ok=True)
        os.environ["HOME"] = str(self.home)
        self.furnish()
        self.project: Project = find_project(self.root)
        self.project.state.make()
        self.workspace = self.another()

    def another(self) -> OverlayWorkspace:
        """As another process would make it."""
        from untilproven.workspace.factory import _not_the_users  # noqa: PLC0415  HOME is set by now

        return OverlayWorkspace(self.project, LOOP, _not_the_users(self.project), self.openings)

    def furnish(self) -> None:
        (self.home / ".gitconfig").write_text("[user]\nname = U\nemail = u@example.org\n[commit]\ngpgsign = false\n")
        self.write("src/a.py", "a = 1\n")
        self.write("src/b.py", "b = 2\n")
        self.write("src/deep/er/c.py", "c = 3\n")
        self.write("run.sh", "#!/bin/sh\n").chmod(0o755)
        self.write(".gitignore", ".env\nnode_modules\n")
        self.host("git init -q . && git add -A && git commit -qm first")
        self.write("untracked.txt", "mine\n")
        self.write("src/b.py", "b = 2  # not committed\n")
        self.write("staged.txt", "staged\n")
        self.host("git add staged.txt")
        self.write(".env", "TOKEN=1\n").chmod(0o600)
        self.write("node_modules/x/index.js", "x\n")
        (self.root / "empty/inner").mkdir(parents=True)
        (self.root / "link").symlink_to("src/a.py")
        (self.root / "dangling").symlink_to("nowhere")
        (self.root / "to_etc").symlink_to("/etc")
        for at, path in enumerate(sorted(self.root.rglob("*"))):
            if ".git" not in path.parts:
                os.utime(path, ns=(1_600_000_000_000_000_000, 1_600_000_000_000_000_007 + at), follow_symlinks=False)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def host(self, command: str) -> str:
        return subprocess.run(
            command, shell=True, cwd=self.root, check=True, capture_output=True, text=True, errors="replace"
        ).stdout

    def agent(self, command: str, number: int = 1) -> Ran:
        """The agent's work in an iteration; its room stays open."""
        return self.workspace.open(number, SUPERVISION).run(command, timeout=60)

    def python(self, script: str, number: int = 1) -> Ran:
        return self.workspace.open(number, SUPERVISION).run(["/usr/bin/python3", "-c", script], timeout=60)

    def check(self, command: str) -> Ran:
        return self.workspace.checking(SUPERVISION).run(command, timeout=60)

    def look_no_more(self) -> None:
        """From now on the tree is known only by what is merged and dropped."""
        self.workspace.tree()
        self.workspace._known._stale_at = math.inf

    def changes(self) -> dict[str, str]:
        return told(self.workspace.delta())


def told(delta: Delta) -> dict[str, str]:
    return {
        change.path: f"{change.change} {change.previous_path}" if change.previous_path else change.change
        for change in delta.changes
    }


def fingerprint(root: Path, *, times: bool = True, without: tuple[str, ...] = ()) -> dict[str, tuple[object, ...]]:
    """Names, contents, modes, link targets, empty directories, and times of everything, git's own files included."""
    found: dict[str, tuple[object, ...]] = {}
    for directory, names, files in os.walk(root):
        for name in [*names, *files]:
            path = Path(directory) / name
            where = str(path.relative_to(root))
            if where.split("/", maxsplit=1)[0] in without:
                continue
            seen = path.lstat()
            content = ""
            if stat.S_ISREG(seen.st_mode):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            elif stat.S_ISLNK(seen.st_mode):
                content = str(path.readlink())
            found[where] = (oct(seen.st_mode), seen.st_uid, content, seen.st_mtime_ns if times else 0)
    return found


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def succeeded(ran: Ran) -> None:
    assert ran.exit_code == 0, ran


def refuses(kind: type[RalphError], do: Callable[[], object]) -> str:
    """What is said when something is refused."""
    try:
        do()
    except kind as error:
        return error.message
    raise AssertionError("not refused")


def play(scenes: Mapping[str, Any]) -> None:
    """Run as a script: the name of a scene and a directory for it."""
    scenes[sys.argv[1]](Path(sys.argv[2]))
