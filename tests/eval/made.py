"""Repositories of our own."""

import subprocess
from pathlib import Path

from untilproven.workspace.git.running import environment

WHO = ("-c", "user.name=A", "-c", "user.email=a@example.org")


class Made:
    """A repository of our own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *WHO, "-C", str(self.root), *words], env=environment(self.root), capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def commit(self, message: str, files: dict[str, bytes | None]) -> str:
        for path, content in files.items():
            at = self.root / path
            at.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                at.unlink()
            else:
                at.write_bytes(content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")
