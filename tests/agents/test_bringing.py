"""`--agent-home user`: the agent finds the user's settings, and keeps nothing of what it does to them."""

from pathlib import Path

import pytest

from agents.actor import Actor
from agents.stage import Stage
from untilproven.agents import bringing
from untilproven.agents.adapter import Asked
from untilproven.agents.bringing import Kept, brought, of
from untilproven.agents.factory import NAMES, adapter_of
from untilproven.agents.known import KnownAgent
from untilproven.errors import UsageError


def test_files_and_whole_directories_come_along(tmp_path: Path) -> None:
    (tmp_path / "skills/deep").mkdir(parents=True)
    (tmp_path / "skills/deep/one.md").write_text("one")
    (tmp_path / "CLAUDE.md").write_text("always")
    (tmp_path / "history.jsonl").write_text("not this")
    found = dict(brought(of(tmp_path, ("CLAUDE.md", "skills", "missing"), "in/")))
    assert found == {"in/CLAUDE.md": b"always", "in/skills/deep/one.md": b"one"}


def test_links_of_the_user_are_followed_once(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.md").write_text("a")
    (tmp_path / "skills").symlink_to(tmp_path / "real")
    (tmp_path / "real/back").symlink_to(tmp_path / "real")
    (tmp_path / "real/nowhere").symlink_to(tmp_path / "gone")
    assert dict(brought((Kept(tmp_path / "skills", "skills"),))) == {"skills/a.md": b"a"}


def test_what_is_too_large_to_be_copied_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bringing, "_MOST_FILES", 2)
    for number in range(3):
        (tmp_path / f"{number}").write_text("x")
    with pytest.raises(UsageError, match="too large to be copied"):
        dict(brought((Kept(tmp_path, "all"),)))


def test_every_agent_says_what_comes_along_and_no_login_does() -> None:
    for name in NAMES:
        adapter = adapter_of(name)
        logins = {login.name for login in adapter.logins}
        assert not logins & {kept.name for kept in adapter.settings}
        assert adapter.settings or name == "api"


@pytest.mark.parametrize("users", [True, False])
def test_it_finds_them_anew_each_time_and_only_if_asked(
    stage: Stage, actor: Actor, own_home: Path, monkeypatch: pytest.MonkeyPatch, users: bool
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    (own_home / ".claude/skills").mkdir(parents=True)
    (own_home / ".claude/CLAUDE.md").write_text("the user's own words")
    (own_home / ".claude/skills/one.md").write_text("one")
    spoil = 'cp -r "$CLAUDE_CONFIG_DIR" "$seen/found-$RALPH_ITERATION"; echo spoilt > "$CLAUDE_CONFIG_DIR/CLAUDE.md"'
    actor.plays("claude", also=spoil)
    agent = KnownAgent(adapter_of("claude"), Asked(users_settings=users), stage.root)
    for iteration in (1, 2):
        stage.play(agent, iteration)
        found = actor.seen / f"found-{iteration}"
        if users:
            assert (found / "CLAUDE.md").read_text() == "the user's own words"
            assert (found / "skills/one.md").read_text() == "one"
    assert (own_home / ".claude/CLAUDE.md").read_text() == "the user's own words"
    assert ("--strict-mcp-config" in actor.argv) is not users
    assert users or not (actor.seen / "found-1/skills").exists()
