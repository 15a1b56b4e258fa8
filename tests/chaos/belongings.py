"""What the user has in the project before a loop comes: all that must be there afterwards, exactly as it was."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

LONG_AGO = 1_600_000_000_000_000_007


def furnish(root: Path, tree: Mapping[str, str]) -> None:
    """A repository with the files of a scenario, a stash, and things that are staged, changed, ignored and odd."""
    (Path.home() / ".gitconfig").write_text("[user]\nname = U\nemail = u@example.org\n[init]\ndefaultBranch = main\n")
    for name, content in tree.items():
        _write(root / name, content)
    _write(root / ".gitignore", ".env\nnode_modules\ndiary\n.aiwg\n")
    _write(root / "yours/tracked.txt", "tracked\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    _write(root / "yours/tracked.txt", "put away\n")
    git(root, "stash", "-q")
    _write(root / "yours/staged.txt", "staged\n")
    git(root, "add", "yours/staged.txt")
    _belongings(root / "yours")
    for at, path in enumerate(sorted(root.rglob("*"))):
        if path.relative_to(root).parts[0] != ".git":
            os.utime(path, ns=(LONG_AGO, LONG_AGO + at), follow_symlinks=False)


def _belongings(yours: Path) -> None:
    _write(yours / "tracked.txt", "changed\n")
    _write(yours / "untracked.txt", "untracked\n")
    _write(yours / ".env", "TOKEN=1\n").chmod(0o600)
    _write(yours / "node_modules/x/index.js", "x\n")
    _write(yours / "not\nin \udcff one line", "odd\n")
    _write(yours / "read-only", "read-only\n").chmod(0o400)
    _write(yours / "closed/file", "closed\n").chmod(0o444)
    (yours / "closed").chmod(0o555)
    (yours / "empty/inner").mkdir(parents=True, mode=0o750)
    _write(yours / "link", "-> tracked.txt")
    _write(yours / "dangling", "-> nowhere")
    _write(yours / "out", "-> /etc")


def _write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if content.startswith("-> "):
        path.symlink_to(content.removeprefix("-> "))
    else:
        path.write_text(content)
    return path


def git(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=root, check=True, capture_output=True, text=True, errors="surrogateescape"
    )
    return done.stdout
