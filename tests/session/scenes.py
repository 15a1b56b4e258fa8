"""A host with sessions of its own, and a project with a mistake that a check finds."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from untilproven.session import (
    HookContext,
    RalphLoopConfig,
    RalphLoopHook,
    RalphLoopOptions,
    StartLoopOptions,
    Toast,
    create_ralph_loop_hook,
)
from untilproven.store.layout import Project

PLAIN = StartLoopOptions(trust_promise=True)
DONE = "All is done.\n\n<promise>DONE</promise>"
CHECK = f"{sys.executable} -m unittest -q"


class Host:
    """Sessions with messages; prompts that are injected are answered with what was prepared."""

    def __init__(self, project: Project, *, delay: float = 0, **more: Any) -> None:
        self.messages: dict[str, list[dict[str, Any]]] = {}
        self.prompts: list[tuple[str, str]] = []
        self.toasts: list[Toast] = []
        config = RalphLoopConfig(continuation_delay=delay, state_dir=more.pop("state_dir", None))
        options = {"inject_prompt": self.inject, "show_toast": self.toasts.append, **more}
        self.hook: RalphLoopHook = create_ralph_loop_hook(
            RalphLoopOptions(config=config, workdir=project.root, get_messages=self.get, **options)
        )

    async def get(self, session: str) -> Sequence[dict[str, Any]]:
        return list(self.messages.get(session, []))

    async def inject(self, session: str, prompt: str) -> None:
        self.prompts.append((session, prompt))
        self.say(session, prompt, role="user")

    def say(self, session: str, text: str, role: str = "assistant") -> None:
        self.messages.setdefault(session, []).append({"role": role, "content": text})

    async def idle(self, session: str) -> None:
        await self.hook.handler(HookContext(event="session.idle", session_id=session))

    async def error(self, session: str, name: str) -> None:
        await self.hook.handler(HookContext(event="session.error", session_id=session, data={"error": {"name": name}}))


def broken_sum(root: Path) -> None:
    """One function that is wrong, and one test that says so."""
    (root / "sums.py").write_text("def add(a, b):\n    return a - b\n")
    (root / "test_sums.py").write_text(
        "import unittest\n\nfrom sums import add\n\n\n"
        "class Sums(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"
    )


def mend(root: Path) -> None:
    (root / "sums.py").write_text("def add(a, b):\n    return a + b\n")


def hook(event: str, *words: str, cwd: Path, said: dict[str, Any] | str = "", agent: str = "claude") -> Any:
    """`ralph hook EVENT` as an agent calls it: what it prints, read as JSON if it is."""
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "untilproven", "hook", event, "--agent", agent, *words],
        cwd=cwd,
        input=said if isinstance(said, str) else json.dumps(said),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    printed = ran.stdout.strip()
    return json.loads(printed) if printed.startswith("{") else printed


def stop(session: str, text: str, *, cwd: Path, agent: str = "claude", **more: Any) -> Any:
    """The agent wants to stop, with these as its last words."""
    name = "prompt_response" if agent == "gemini" else "last_assistant_message"
    return hook("stop", cwd=cwd, said={"session_id": session, "cwd": str(cwd), name: text, **more}, agent=agent)
