"""A repository with tasks in a queue, and an agent that does what they say."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from runtime.loops import Place

PATIENCE = 300
"""Seconds for a run of the queue, on a machine that has much else to do."""
AGENT = """\
prompt=$(cat)
case "$prompt" in
  *"make "*)
    name=$(printf %s "$prompt" | sed -n 's/^.*make \\([a-z]*\\)$/\\1/p' | head -n 1)
    echo "$name" > "$name.txt";;
  *"spoil"*) echo junk > junk.txt;;
  *"ask"*) echo '{"status":"blocked","blocker":"which colour?"}' > "$RALPH_RESULT_FILE";;
esac
"""


class Queue:
    """A repository with tasks, and an agent that does what they say."""

    def __init__(self, base: Path) -> None:
        self.place = Place(base)
        self.agent = base / "agent.sh"
        self.acts(AGENT)
        self.git("init", "-q")
        for key, value in (("user.name", "u"), ("user.email", "u@v")):
            self.git("config", key, value)
        self.place.write("README", "a project\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")
        self.place.write("README", "a project\nmine\n")

    def acts(self, script: str) -> None:
        self.agent.write_text(f"#!/bin/sh\n{script}")
        self.agent.chmod(0o755)

    @property
    def words(self) -> tuple[str, ...]:
        return (f"--agent-cmd={self.agent}", f"--share={self.agent}", "--sandbox=overlay")

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.place.root, check=True, capture_output=True, text=True)
        return done.stdout

    def add(self, title: str, *words: str) -> str:
        done = self.place.ralph("task", "add", title, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def work(self, *words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-P", "-m", "untilproven", "work", *self.words, *words]
        return subprocess.run(
            command, cwd=self.place.root, capture_output=True, text=True, timeout=PATIENCE, check=False
        )

    def tasks(self) -> dict[str, dict[str, Any]]:
        done = self.place.ralph("task", "list", "--all", "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        return {task["id"]: task for task in (found["tasks"] if isinstance(found, dict) else found)}

    def statuses(self) -> dict[str, str]:
        return {name: task["status"] for name, task in self.tasks().items()}

    def subjects(self) -> list[str]:
        return self.git("log", "--reverse", "--format=%s").splitlines()[1:]

    def committed(self, path: str, commit: str = "HEAD") -> str:
        return self.git("show", f"{commit}:{path}")


class started:  # noqa: N801  used like a function
    """`ralph work` in a process of its own."""

    def __init__(self, queue: Queue, *words: str) -> None:
        command = [sys.executable, "-m", "untilproven", "work", *queue.words]
        self.process = subprocess.Popen(
            [*command, *words],
            cwd=queue.place.root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> "subprocess.Popen[bytes]":
        return self.process

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def wait_for(queue: Queue, status: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while status not in queue.statuses().values():
        assert time.monotonic() < deadline, queue.statuses()
        time.sleep(0.1)
