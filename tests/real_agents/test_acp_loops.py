"""Agents that speak the Agent Client Protocol drive a loop: a false claim, a failing check, a fix, a proof."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from models.script import Bash, Read, Step, Turn, Write
from process.scenes import wait_for
from real_agents.cases import stage
from real_agents.clients import Place, opencode
from real_agents.install import NODE, TOOLS, missing
from real_agents.running import end_all

COMMANDS = {
    "claude": "claude-agent-acp",
    "codex": "codex-acp",
    "opencode": "opencode acp",
    "gemini": "gemini --acp -m gemini-2.5-flash",
    "qwen": "qwen --acp",
}
CLAIM = "All is well. <promise>DONE</promise>"
STEPS: tuple[Step, ...] = (
    Turn(say=CLAIM),
    Turn(say="I look.", calls=(Read(read="README.md"), Bash(bash="git status --short"))),
    Turn(calls=(Write(write="made.txt", content="by the agent\n"),)),
    *(Turn(say=CLAIM),) * 4,
)
FORGETFUL = {"gemini"}
"""It keeps sessions, and does not always find them a few seconds later."""
UNPRICED = {"codex", "qwen"}
"""They tell no money; the scripted model has no price, or is not told."""
LONGEST = 350
ABSENT = {name: missing(name) or missing(command.split()[0]) for name, command in COMMANDS.items()}
pytestmark = pytest.mark.timeout(400)
each = pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.skipif(bool(why), reason=why)) for one, why in ABSENT.items()]
)


def surroundings(name: str, place: Place) -> dict[str, str]:
    """What says where the model is; all else is up to ralph."""
    provider = {"name": "scripted", "base_url": f"{place.url}/v1", "env_key": "OPENAI_API_KEY", "wire_api": "responses"}
    chosen = {"model": "scripted", "model_provider": "scripted", "model_providers": {"scripted": provider}}
    return {
        "claude": {"ANTHROPIC_BASE_URL": place.url, "ANTHROPIC_API_KEY": "key"},
        "codex": {"CODEX_CONFIG": json.dumps(chosen), "OPENAI_API_KEY": "key"},
        "opencode": opencode(place, "").env,
        "gemini": {"GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": place.url},
        "qwen": {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": f"{place.url}/v1", "OPENAI_MODEL": "scripted"},
    }[name]


def run(name: str, place: Place, *words: str) -> "subprocess.Popen[str]":
    tool = TOOLS[COMMANDS[name].split()[0]]
    path = os.pathsep.join([str(tool.bin), str(NODE.bin), str(Path(sys.executable).parent), "/usr/bin", "/bin"])
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "untilproven", "run", "make it", "--agent", f"acp:{COMMANDS[name]}", *words],
        cwd=place.root,
        env={"PATH": path, "HOME": str(place.home), "LANG": "C.UTF-8", **surroundings(name, place)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def observed(place: Place) -> list[dict[str, Any]]:
    (journal,) = place.root.glob(".aiwg/ralph/loops/*/events.jsonl")
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    return [event for event in events if event["type"] == "iteration.observed"]


@pytest.fixture
def base() -> Iterator[Path]:
    """What is in /tmp is not seen in a room."""
    with tempfile.TemporaryDirectory(prefix="ralph-acp-", dir="/var/tmp", ignore_cleanup_errors=True) as made:
        yield Path(made)


@each
@pytest.mark.parametrize(("sandbox", "context"), [("overlay", "continue"), ("none", "fresh")])
def test_a_loop_ends_with_the_proof_and_not_with_the_claim(name: str, sandbox: str, context: str, base: Path) -> None:
    words = ("--until", "grep -q agent made.txt", "--promise", "DONE", "-n", "3", "--sandbox", sandbox)
    with (
        stage(name, {name: STEPS}, base) as (place, server),
        run(name, place, *words, "--context", context, "--no-auto-test") as ralph,
    ):
        said, _ = ralph.communicate(timeout=LONGEST)
        assert ralph.returncode == 0, said
        assert "make it" in server.turns(name)[0].prompt
    first, second = observed(place)
    assert first["claim"] == second["claim"] == "<promise>DONE</promise>"
    assert (first["delta"], [one["path"] for one in second["delta"]]) == ([], ["made.txt"])
    assert {one["kind"] for one in second["actions"]} == {"read", "git", "bash" if name == "codex" else "write"}
    if context == "fresh" or name not in FORGETFUL:
        assert (first["session"] == second["session"]) == (context == "continue")
    if name == "opencode":
        assert [one["usage"]["cost_usd"] for one in (first, second)] == [0.00375, 0.01125]
    else:
        assert [one["usage"]["total_tokens"] for one in (first, second)] == [1050, 3150]
    assert ("cost_usd" in second["usage"]) == (name not in UNPRICED)


@each
def test_nothing_is_left_of_one_that_is_stopped_in_its_work(name: str, base: Path) -> None:
    steps = (Turn(calls=(Bash(bash="touch started; sleep 300; touch late.txt"),)),)
    with (
        stage(name, {name: steps}, base) as (place, _),
        run(name, place, "--until", "test -e never", "-n", "1", "--sandbox", "none", "--no-auto-test") as ralph,
    ):
        wait_for((place.root / "started").exists, "the agent works", LONGEST)
        ralph.terminate()
        ralph.communicate(timeout=LONGEST)
        assert end_all(place) == []
        assert not (place.root / "late.txt").exists()
    (only,) = observed(place)
    assert only["interrupted"]
