"""`ralph agents`: the agents that are known, and which can work here."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from agents.actor import Actor, lend
from process.scenes import alive, wait_for
from support import ralph
from untilproven.cli import agents
from untilproven.store.layout import Project


@pytest.fixture
def actor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Actor:
    return Actor(tmp_path, monkeypatch)


def listed(project: Project) -> dict[str, Any]:
    done = ralph("agents", "--json", cwd=project.root)
    assert (done.returncode, done.stderr) == (0, "")
    return {one["name"]: one for one in json.loads(done.stdout)["agents"]}


def here(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The same in this process."""
    assert agents.command.main(["--json"], standalone_mode=False) == 0
    return {one["name"]: one for one in json.loads(capsys.readouterr().out)["agents"]}


def test_each_is_listed_with_what_is_known_and_what_is_missing(
    project: Project, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    actor.plays("claude", "2.1.325 (Claude Code)\n")
    actor.plays("codex", "codex-cli 0.166.0\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    found = listed(project)
    assert list(found)[:6] == ["claude", "codex", "opencode", "gemini", "qwen", "aider"]
    assert found["claude"] == {
        "name": "claude",
        "program": str(actor.bin / "claude"),
        "version": "2.1.325",
        "billed": "the key in ANTHROPIC_API_KEY",
        "missing": None,
    }
    assert (found["codex"]["version"], found["codex"]["billed"]) == ("0.166.0", None)
    assert found["codex"]["missing"].startswith("nobody is logged in: ")
    assert found["qwen"] == {
        "name": "qwen",
        "program": None,
        "version": None,
        "billed": None,
        "missing": "not on PATH",
    }
    assert "sk-secret" not in json.dumps(found)


def test_the_table_says_the_same(project: Project, actor: Actor, own_home: Path) -> None:
    actor.plays("codex", "codex-cli 0.166.0\n")
    lend(own_home / ".codex/auth.json", "{}")
    done = ralph("agents", cwd=project.root)
    rows = {line.split()[0]: line.split(maxsplit=3)[1:] for line in done.stdout.splitlines()[1:]}
    assert done.returncode == 0
    assert rows["codex"] == ["0.166.0", "ready", f"billed: the login in {own_home}/.codex"]
    assert rows["claude"] == ["-", "missing", "not on PATH"]


def test_a_program_gets_no_key_and_is_not_in_the_project(
    project: Project, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    actor.plays("claude", "1.0\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    listed(project)
    assert "sk-secret" not in (actor.seen / "env").read_text()
    assert (actor.seen / "pwd").read_text() == "/\n"
    assert actor.argv == ["--version"]


def test_one_in_the_project_is_not_run(project: Project, actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    actor.plays("claude", "1.0\n", where=project.root)
    monkeypatch.setenv("PATH", f"{project.root}:.:{os.environ['PATH']}")
    assert listed(project)["claude"]["program"] is None
    assert not (actor.seen / "argv").exists()


def test_whatever_a_program_says_a_version_is_a_word_for_the_terminal(project: Project, actor: Actor) -> None:
    actor.plays("claude", "\x1b[31m1.0\x1b[0m\n")
    actor.plays("codex", "who knows\n")
    actor.plays("gemini", "", 3)
    actor.plays("qwen", "x" * 1_000_000 + "1.0")
    done = ralph("agents", cwd=project.root)
    rows = {line.split()[0]: line.split()[1] for line in done.stdout.splitlines()[1:]}
    assert "\x1b" not in done.stdout
    assert (rows["codex"], rows["gemini"], rows["qwen"]) == ("-", "-", "-")


def test_what_only_looks_like_a_program_has_no_version(project: Project, actor: Actor) -> None:
    path = actor.bin / "claude"
    path.write_bytes(b"\x7fELF nonsense")
    path.chmod(0o755)
    assert listed(project)["claude"]["version"] is None


def test_those_that_hang_are_not_waited_for_one_after_the_other(
    project: Project, actor: Actor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.root)
    monkeypatch.setattr(agents, "_SECONDS", 6.0)
    for name in ("claude", "codex", "gemini"):
        actor.plays(name, also=f"sleep 1000 & echo $! > $seen/{name}.pid; echo $$ > $seen/{name}.own; wait")
    actor.plays("aider", "aider 0.86.2\n")
    before = time.monotonic()
    found = here(capsys)
    assert time.monotonic() - before < 17
    assert (found["claude"]["version"], found["aider"]["version"]) == (None, "0.86.2")
    pids = [int(path.read_text()) for path in actor.seen.iterdir() if path.suffix in {".pid", ".own"}]
    assert len(pids) == 6
    wait_for(lambda: not any(map(alive, pids)), "those that were killed are gone")


def test_one_that_leaves_something_running_is_not_waited_for(
    project: Project, actor: Actor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.root)
    actor.plays("claude", "2.0\n", also="sleep 15 & echo $! > $seen/late.pid")
    before = time.monotonic()
    assert here(capsys)["claude"]["version"] == "2.0"
    assert time.monotonic() - before < 10
    os.kill(int((actor.seen / "late.pid").read_text()), 9)
