"""Each agent in a real loop: a false claim, a failing check, a fix, a proof; limits, refusals and kills."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from models.script import Bash, Failure, Read, Step, Turn, Write
from real_agents.cases import RESETS_AT, stage
from real_agents.clients import CLIENTS
from real_agents.install import missing
from real_agents.loops import command, events, ralph

CLAIM = "All is well. <promise>DONE</promise>"
UNTIL = ("--until", "grep -q agent made.txt", "--promise", "DONE", "--no-auto-test", "--no-measure")
FIX: tuple[Step, ...] = (
    Turn(say="I look.", calls=(Read(read="README.md"), Bash(bash="git status --short"))),
    Turn(calls=(Write(write="made.txt", content="by the agent\n"),)),
)
WITHOUT_TOOLS: tuple[Step, ...] = (Turn(calls=(Write(write="made.txt", content="by the agent\n"),), say=CLAIM),)
KINDS = {"codex": {"git", "bash"}, "aider": set()}
"""Codex reads and writes with a shell; aider has no tools."""
PRICED = {"claude", "codex", "opencode", "gemini", "aider"}
"""Where the cost is reported, or the model's price is known."""
ABSENT = {name: missing(name) for name in CLIENTS}
pytestmark = pytest.mark.timeout(400)


def each(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "name",
        [
            pytest.param(one, marks=pytest.mark.skipif(bool(ABSENT[one]), reason=ABSENT[one]))
            for one in names or CLIENTS
        ],
    )


PLANTED = (
    *(".claude/CLAUDE.md", ".claude/skills/planted/SKILL.md", ".codex/AGENTS.md", ".config/opencode/AGENTS.md"),
    *(".gemini/GEMINI.md", ".qwen/QWEN.md", "AGENTS.md"),
)
"""Where people keep what they tell their agents in every project."""


def steps(name: str) -> tuple[Step, ...]:
    return (Turn(say=CLAIM), *(WITHOUT_TOOLS if name == "aider" else FIX), *(Turn(say=CLAIM),) * 4)


@each()
@pytest.mark.parametrize(("sandbox", "context"), [("overlay", "continue"), ("none", "fresh")])
def test_a_loop_ends_with_the_proof_and_not_with_the_claim(
    name: str, sandbox: str, context: str, tmp_path: Path
) -> None:
    with stage(name, {name: steps(name)}, tmp_path) as (place, server):
        done = ralph(name, place, *UNTIL, "-n", "3", "--sandbox", sandbox, "--context", context)
        assert done.returncode == 0, done.stdout + done.stderr
        first, second = events(place, "iteration.observed")
        assert first["claim"] == second["claim"] == "<promise>DONE</promise>"
        assert (first["delta"], [one["path"] for one in second["delta"]]) == ([], ["made.txt"])
        assert {one["kind"] for one in second["actions"]} == KINDS.get(name, {"read", "git", "write"})
        assert "make it" in server.turns(name)[0].prompt
        assert first["usage"]["total_tokens"] == 1050
        assert second["usage"]["total_tokens"] == 1050 * (len(server.turns(name)) - 1)
        assert ("cost_usd" in second["usage"]) == (name in PRICED)
        if context == "continue":
            assert first["session"] == second["session"]
        assert {path.name for path in place.root.iterdir()} == {".git", ".aiwg", "README.md", "made.txt"}


@each("claude", "codex", "opencode", "gemini", "qwen")
def test_it_is_not_told_what_the_user_tells_agents_everywhere(name: str, tmp_path: Path) -> None:
    with stage(name, {name: (Turn(say=CLAIM),) * 4}, tmp_path) as (place, server):
        for path in PLANTED:
            place.config(path, "---\nname: planted\ndescription: PLANTED-7\n---\nPLANTED-7\n")
        ralph(name, place, *UNTIL, "-n", "1", "--sandbox", "none")
        bodies = [str(request.body) for request in server.turns(name)]
    assert any("make it" in body for body in bodies)
    assert not any("PLANTED-7" in body for body in bodies)


@each()
def test_a_key_that_is_refused_ends_the_loop_at_once(name: str, tmp_path: Path) -> None:
    with stage(name, {name: (Failure(fail="unauthorized"),) * 100}, tmp_path) as (place, _):
        done = ralph(name, place, *UNTIL, "-n", "5")
        assert done.returncode == 6, done.stdout + done.stderr
        assert len(events(place, "iteration.observed")) == 1
        assert "the agent cannot work" in done.stdout + done.stderr
        assert "the-users-own-key" not in done.stdout + done.stderr


@each("claude", "codex", "gemini")
def test_a_usage_limit_pauses_the_loop(name: str, tmp_path: Path) -> None:
    limits = (Failure(fail="usage_limit", resets_at=RESETS_AT),) * 100
    with stage(name, {name: limits}, tmp_path) as (place, _):
        done = subprocess.Popen(
            command(name, place, *UNTIL, "-n", "5")[0],
            cwd=place.root,
            env=command(name, place)[1],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            _wait_for(lambda: bool(list(place.root.glob(".aiwg/ralph/loops/*/events.jsonl"))), 60)
            _wait_for(lambda: any(one["to"] == "paused" for one in events(place, "status.changed")), 120)
        finally:
            done.send_signal(signal.SIGINT)
            said, _ = done.communicate(timeout=60)
        (paused,) = [one for one in events(place, "status.changed") if one["to"] == "paused"][:1]
        assert paused["pause_reason"] == "usage_limit", said
        if name == "codex":
            assert paused["resume_at"].startswith("2030-03-17T"), said


@each("claude", "codex", "opencode", "gemini", "qwen")
def test_nothing_of_an_agent_outlives_a_runner_that_is_killed(name: str, tmp_path: Path) -> None:
    busy = "touch started; sleep 300.125; touch late.txt"
    with stage(name, {name: (Turn(calls=(Bash(bash=busy),)),) * 3}, tmp_path) as (place, _):
        argv, env = command(name, place, *UNTIL, "-n", "2")
        runner = subprocess.Popen(
            argv,
            cwd=place.root,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(lambda: any("300.125" in " ".join(one) for one in _lines_of(place.home)), 120)
        finally:
            runner.kill()
            runner.wait()
        _wait_for(lambda: not _lines_of(place.home), 2)
        assert not (place.root / "late.txt").exists()


def _lines_of(home: Path) -> list[list[str]]:
    """The command lines of every process that has this home."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("HOME") == str(home) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.cmdline())
        except (psutil.Error, OSError):
            continue
    return found


def _wait_for(true: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.1)
