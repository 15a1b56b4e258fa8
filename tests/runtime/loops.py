"""A project in which `ralph run` is tried: agents that are small scripts or cassettes, and what a loop left behind."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from process.scenes import wait_for
from support import make_project, ralph

HELD = "echo $$ > ../agent.pid; : > ../holding; while [ ! -e ../go ]; do sleep 0.02; done"
"""A line of an agent that says that it works, and goes on when `../go` is there."""


class Place:
    """A project, with room beside it for what is no part of its tree."""

    def __init__(self, path: Path) -> None:
        self.beside = path
        self.project = make_project(path / "project")
        self.root = self.project.root
        self.state = self.project.state

    def write(self, name: str, content: str = "", *, mode: int = 0o644) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        path.chmod(mode)
        return path

    def script(self, *lines: str, name: str = "agent") -> str:
        """An agent in sh; it has read its prompt into `$prompt` before the first line."""
        path = self.beside / name
        path.write_text("\n".join(["#!/bin/sh", 'cat > "../prompt-$RALPH_ITERATION"', *lines, ""]))
        path.chmod(0o755)
        return f"--agent-cmd={shlex.quote(str(path))}"

    def cassette(self, *iterations: Sequence[dict[str, Any]], then: str = "nothing", name: str = "cassette") -> str:
        path = self.beside / f"{name}.json"
        scenes = [{"steps": list(steps)} for steps in iterations]
        path.write_text(json.dumps({"version": 1, "then": then, "iteration": scenes}))
        return f"--agent=replay:{path}"

    def prompt(self, iteration: int) -> str:
        return (self.beside / f"prompt-{iteration}").read_text()

    def run(self, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """`ralph run` with a task, unless there is one among the words."""
        return ralph("run", *words, "--sandbox=none", cwd=self.root, env={**os.environ, **(env or {})})

    def ralph(self, *words: str) -> subprocess.CompletedProcess[str]:
        return ralph(*words, cwd=self.root)

    @contextmanager
    def running(
        self, *words: str, verb: str = "run", sandbox: str = "--sandbox=none"
    ) -> Iterator["subprocess.Popen[str]"]:
        """`ralph run` in a process group of its own, ended with all of it when the test is over."""
        rest = [sandbox] if verb == "run" and sandbox else []
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "untilproven", verb, *words, *rest],
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            (self.beside / "go").touch()
            process.kill()
            process.communicate()

    def loops(self) -> list[str]:
        return [loop.loop_id for loop in self.state.all_loops()] if self.state.loops.exists() else []

    @property
    def loop(self) -> str:
        (only,) = self.loops()
        return only

    def directory(self, loop_id: str = "") -> Path:
        return self.state.loop(loop_id or self.loop).path

    def read(self, loop_id: str = "") -> dict[str, Any]:
        """state.json as it lies there."""
        return self._json(self.directory(loop_id) / "state.json")

    def status(self) -> str:
        """What the only loop is now; nothing before there is one."""
        if not self.loops() or not (self.directory() / "state.json").exists():
            return ""
        return str(self.read()["status"])

    def receipt(self, loop_id: str = "") -> dict[str, Any]:
        return self._json(self.directory(loop_id) / "receipt.json")

    def events(self, kind: str = "", loop_id: str = "") -> list[dict[str, Any]]:
        lines = (self.directory(loop_id) / "events.jsonl").read_text().splitlines()
        return [event for line in lines if kind in {"", (event := json.loads(line))["type"]}]

    def slots(self) -> list[str]:
        registry = self._json(self.state.registry) if self.state.registry.exists() else {"active_loops": []}
        return [loop["loop_id"] for loop in registry["active_loops"]]

    def holding(self) -> int:
        """Wait until an agent with `HELD` works; its pid."""
        wait_for((self.beside / "holding").exists, "the agent works")
        return int((self.beside / "agent.pid").read_text())

    def let_go(self) -> None:
        (self.beside / "go").touch()

    @staticmethod
    def _json(path: Path) -> dict[str, Any]:
        found = json.loads(path.read_text())
        assert isinstance(found, dict)
        return found


def ended(process: "subprocess.Popen[str]", seconds: float = 40) -> tuple[int, str, str]:
    """How a program ended: its exit code, and what it printed."""
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


def interrupt(process: "subprocess.Popen[str]") -> None:
    """Ctrl-C, and wait until it was heard: two that wait together are one."""
    process.send_signal(signal.SIGINT)
    wait_for(lambda: not _pending(process.pid) >> (signal.SIGINT - 1) & 1, "the signal is heard")


def _pending(pid: int) -> int:
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields.get("ShdPnd", "0"), 16) | int(fields.get("SigPnd", "0"), 16)
