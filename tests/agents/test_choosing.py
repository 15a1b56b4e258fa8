"""Which agents are here, which can work, and which one does if nobody names one."""

from pathlib import Path

import pytest

from agents.actor import Actor, lend
from agents.stage import Stage
from untilproven.agents.choosing import choose, look, survey
from untilproven.agents.factory import NAMES
from untilproven.errors import NoAgent


def test_the_first_that_is_there_and_logged_in_is_taken(
    stage: Stage, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("claude", "codex", "gemini"):
        actor.plays(name)
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    assert choose(stage.root).name == "gemini"
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert choose(stage.root).name == "codex"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    chosen = choose(stage.root)
    assert (chosen.name, chosen.program) == ("claude", str(actor.bin / "claude"))
    assert chosen.billed == "the key in ANTHROPIC_API_KEY"


def test_nothing_is_started_to_find_out(stage: Stage, actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    actor.plays("claude")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    choose(stage.root)
    assert not (actor.seen / "argv").exists()


def test_what_is_missing_is_said_of_each(stage: Stage, actor: Actor) -> None:
    actor.plays("codex")
    seen = {one.name: one for one in survey(stage.root)}
    assert tuple(seen) == NAMES
    assert (seen["claude"].program, seen["claude"].missing) == ("", "not on PATH")
    assert seen["codex"].missing.startswith("nobody is logged in: ")
    assert "OPENAI_API_KEY" in seen["codex"].missing


def test_a_login_file_is_who_is_billed(stage: Stage, actor: Actor, own_home: Path) -> None:
    actor.plays("codex")
    lend(own_home / ".codex/auth.json", "{}")
    assert look("codex", stage.root).billed == f"the login in {own_home}/.codex"
    (own_home / ".codex/auth.json").unlink()
    (own_home / ".codex/auth.json").mkdir()
    assert look("codex", stage.root).billed == ""


def test_where_none_is_installed_it_says_what_to_do(stage: Stage, actor: Actor) -> None:
    assert actor.bin.is_dir()
    with pytest.raises(NoAgent) as caught:
        choose(stage.root)
    assert "none that is known is on PATH (claude, codex, opencode, gemini, qwen, aider" in caught.value.message
    assert "install one" in caught.value.hint
    assert "--agent-cmd" in caught.value.hint
    assert caught.value.exit_code == 6


def test_where_nobody_is_logged_in_it_says_where_one_could(stage: Stage, actor: Actor) -> None:
    actor.plays("qwen")
    actor.plays("aider")
    with pytest.raises(NoAgent) as caught:
        choose(stage.root)
    assert caught.value.message.startswith("no agent can work yet (qwen: nobody is logged in: ")
    assert "; aider: nobody is logged in: " in caught.value.message
    assert "log in to one" in caught.value.hint
    assert caught.value.exit_code == 6


def test_one_in_the_project_is_not_chosen(stage: Stage, actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    actor.plays("claude", where=stage.root)
    monkeypatch.setenv("PATH", f"{stage.root}:/usr/bin:/bin")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert look("claude", stage.root).missing == "not on PATH"
