"""A project with tasks, a tracker on loopback, and the two brought together."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from support import ralph
from trackers.github import TOKEN, GitHubServer
from untilproven.model.task import Task
from untilproven.store.layout import Project
from untilproven.store.tasks import book_of

HERE = Path(__file__).parent
TRACKER = "github:octocat/hello"


class Office:
    """A project whose tasks are also kept elsewhere."""

    def __init__(self, project: Project, server: GitHubServer | None = None) -> None:
        self.project = project
        self.root = project.root
        self.book = book_of(project)
        self.env = {**os.environ}
        if server:
            self.env |= {"RALPH_GITHUB_URL": server.url, "RALPH_GITHUB_TOKEN": TOKEN}

    def add(self, title: str, **more: Any) -> str:
        return self.book.create(title=title, **more).id

    def task(self, task_id: str) -> Task:
        return self.book.read().by_id[task_id]

    def statuses(self) -> dict[str, str]:
        return {name: str(task.status) for name, task in self.book.read().by_id.items()}

    def sync(self, *words: str, tracker: str = TRACKER) -> subprocess.CompletedProcess[str]:
        return ralph("task", "sync", f"--tracker={tracker}", *words, cwd=self.root, env=self.env)

    def synced(self, *words: str, tracker: str = TRACKER) -> str:
        """A sync that works; what it printed."""
        done = self.sync(*words, tracker=tracker)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout + done.stderr

    def start(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "untilproven", "task", "sync", f"--tracker={TRACKER}"],
            cwd=self.root,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def install(self, name: str, source: str, **env: str) -> Path:
        """A program beside the project, first on PATH."""
        programs = self.root.parent / "programs"
        programs.mkdir(exist_ok=True)
        path = programs / name
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(HERE / source))} "$@"\n')
        path.chmod(0o755)
        self.env |= {"PATH": f"{programs}:{os.environ['PATH']}", **env}
        return path

    def lines(self, name: str) -> list[dict[str, Any]]:
        path = self.root / ".aiwg/ralph" / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def conflicts(self) -> list[dict[str, Any]]:
        return [line for line in self.lines("learning.jsonl") if line["type"] == "tracker_conflict"]
