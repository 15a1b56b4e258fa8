"""`ralph hook` ends in time and says why, and gives one answer."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from session.scenes import hook
from support import ralph
from untilproven.session import storage
from untilproven.session.plugins.known import PROMPT_SECONDS
from untilproven.store.layout import Project


def called(root: Path, event: str, before: str = "") -> "subprocess.Popen[bytes]":
    """`ralph hook EVENT` in a process in which something else is so."""
    code = f"import sys\nfrom untilproven.cli import hooking\n{before}\nsys.exit(hooking.run(['{event}']))"
    return subprocess.Popen([sys.executable, "-c", code], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def typed(root: Path, check: str) -> bytes:
    return json.dumps({"session_id": "s1", "cwd": str(root), "prompt": f"/ralph Fix add --until '{check}'"}).encode()


def test_a_start_that_takes_too_long_says_so_and_leaves_no_loop(project: Project) -> None:
    process = called(project.root, "prompt", "hooking._LAST_SECONDS = {'prompt': 2}")
    said, _ = process.communicate(typed(project.root, "sleep 50"), timeout=40)
    assert process.returncode == 0
    assert "too long" in json.loads(said)["systemMessage"]
    assert ralph("status", cwd=project.root).stderr.startswith("no loop")


def test_a_start_that_is_broken_off_leaves_no_loop(project: Project) -> None:
    process = called(project.root, "prompt")
    assert process.stdin
    process.stdin.write(typed(project.root, "sleep 50"))
    process.stdin.close()
    process.stdin = None
    deadline = time.monotonic() + 60
    while not storage.load_link(storage.place_of(project.root, "s1")).loop_id and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=40)
    assert ralph("status", cwd=project.root).stderr.startswith("no loop")


def test_what_cannot_even_be_left_in_order_is_left(project: Project) -> None:
    """Something of ours hangs, and hangs again while it is cleaned up."""
    hang = (
        "import time\nfrom untilproven.session import quick\n"
        "hooking._LONGEST_SECONDS, hooking._GRACE_SECONDS = 1, 1\n"
        "def stop(*_):\n    try:\n        time.sleep(50)\n    finally:\n        time.sleep(50)\n"
        "quick.stop = stop"
    )
    process = called(project.root, "stop", hang)
    said, _ = process.communicate(b"{}", timeout=30)
    assert process.returncode == 0
    assert "too long" in json.loads(said)["systemMessage"]


def test_there_is_time_left_when_the_agent_would_give_up() -> None:
    from untilproven.cli import hooking  # noqa: PLC0415  what it sets is for its own process

    assert hooking._LAST_SECONDS["prompt"] + hooking._GRACE_SECONDS < PROMPT_SECONDS


def test_an_answer_that_was_given_is_not_given_again(project: Project) -> None:
    """What comes after it fails: two answers would be none."""
    hook("start", "--session", "s1", "--", "Fix add", "--until", "false", cwd=project.root)
    fail = "from untilproven.session import quick\ndef fails():\n    raise OSError\nquick.pid_above = fails"
    process = called(project.root, "stop", fail)
    said, _ = process.communicate(json.dumps({"session_id": "s1", "last_assistant_message": "working"}).encode())
    assert json.loads(said)["decision"] == "block"


def test_what_is_not_said_behind_ralph_is_as_the_settings_say(project: Project) -> None:
    (project.root / "ralph.toml").write_text('[session]\nmax_iterations = 7\npromise = "ALL GREEN"\n')
    hook("start", "--session", "s1", "--", "task --trust-promise", cwd=project.root)
    state = storage.load(storage.place_of(project.root, "s1"))
    assert state is not None
    assert (state.max_iterations, state.completion_promise) == (7, "ALL GREEN")


def test_sessions_can_be_switched_off(project: Project) -> None:
    (project.root / "ralph.toml").write_text("[session]\nenabled = false\n")
    hook("start", "--session", "s1", "--", "task --trust-promise", cwd=project.root)
    assert storage.load(storage.place_of(project.root, "s1")) is None
