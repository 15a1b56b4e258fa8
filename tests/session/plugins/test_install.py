"""`ralph install` adds to what is there; `--uninstall` leaves what was there."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from session.plugins.test_splice import SHAPES
from support import ralph
from untilproven.session.plugins import known
from untilproven.session.plugins.jsonc import parse

WITH_HOOKS = ("claude", "codex", "gemini", "qwen")
SETTINGS = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
}
STOP = {"claude": "Stop", "codex": "Stop", "gemini": "AfterAgent", "qwen": "Stop"}
ALL = (*WITH_HOOKS, "opencode")


def install(agent: str, *words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    done = ralph("install", agent, *words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done


def snapshot(top: Path) -> dict[str, tuple[int, bytes | str]]:
    """Every file, link and directory, but for what ralph remembers."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in sorted(top.rglob("*")):
        name = path.relative_to(top).as_posix()
        if name.startswith((".local", ".git/")):
            continue
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
        found[name] = (stat.S_IMODE(path.lstat().st_mode), content)
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.mark.parametrize("scope", ["--user", "--project"])
@pytest.mark.parametrize("agent", ALL)
def test_it_is_as_it_was_after_uninstalling(agent: str, scope: str, root: Path, own_home: Path) -> None:
    before = snapshot(own_home), snapshot(root)
    install(agent, scope, cwd=root)
    assert (snapshot(own_home), snapshot(root)) != before
    install(agent, scope, "--uninstall", cwd=root)
    assert (snapshot(own_home), snapshot(root)) == before
    assert "was not in" in install(agent, scope, "--uninstall", cwd=root).stderr


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_settings_of_any_form_come_back_to_the_byte(text: str, root: Path, own_home: Path) -> None:
    path = own_home / SETTINGS["claude"]
    path.parent.mkdir()
    path.write_bytes(text.encode())
    path.chmod(0o600)
    before = snapshot(own_home)
    install("claude", cwd=root)
    once = snapshot(own_home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    install("claude", cwd=root)
    assert snapshot(own_home) == once  # a second time changes nothing
    install("claude", "--uninstall", cwd=root)
    assert snapshot(own_home) == before


@pytest.mark.parametrize("agent", WITH_HOOKS)
def test_settings_that_changed_since_lose_our_entries_alone(agent: str, root: Path, own_home: Path) -> None:
    path = own_home / SETTINGS[agent]
    path.parent.mkdir()
    path.write_text('{\n  // mine\n  "model": "x"\n}\n')
    install(agent, cwd=root)
    changed = path.read_text().replace('"x"', '"y"')
    path.write_text(changed)
    install(agent, cwd=root)
    assert path.read_text() == changed
    install(agent, "--uninstall", cwd=root)
    assert path.read_text() == '{\n  // mine\n  "model": "y"\n}\n'


def test_an_installation_of_another_machine_is_taken_out_without_a_record(root: Path, own_home: Path) -> None:
    path = root / SETTINGS["claude"]
    path.parent.mkdir()
    path.write_text('{"model": "x"}\n')
    install("claude", "--project", cwd=root)
    (record,) = (own_home / ".local/state/untilproven/plugins").iterdir()
    record.unlink()
    install("claude", "--project", "--uninstall", cwd=root)
    assert json.loads(path.read_text()) == {"model": "x"}
    assert [one for one in (root / ".claude").rglob("*") if one.is_file()] == [path]


@pytest.mark.parametrize("agent", ALL)
def test_a_project_gets_no_path_of_this_machine(agent: str, root: Path, own_home: Path) -> None:
    install(agent, "--project", cwd=root)
    written = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())
    for part in (sys.prefix, str(own_home), str(root)):
        assert part.encode() not in written


@pytest.mark.parametrize("agent", WITH_HOOKS)
def test_the_hooks_call_this_program_and_have_time_for_it(agent: str, root: Path, own_home: Path) -> None:
    install(agent, cwd=root)
    settings = json.loads((own_home / SETTINGS[agent]).read_text())
    (hook,) = settings["hooks"][STOP[agent]][0]["hooks"]
    program = str(Path(sys.executable).with_name("ralph"))
    assert hook["command"] == f"{program} hook stop --agent {agent}"
    assert hook["timeout"] == 3600 * (1000 if agent in {"gemini", "qwen"} else 1)


def test_another_version_takes_the_place_of_the_one_before(root: Path, own_home: Path) -> None:
    path = own_home / SETTINGS["claude"]
    install("claude", cwd=root)
    path.write_text(path.read_text().replace("3600", "60"))
    install("claude", cwd=root)
    settings = json.loads(path.read_text())
    assert [group["hooks"][0]["timeout"] for group in settings["hooks"]["Stop"]] == [3600]
    install("claude", "--uninstall", cwd=root)
    assert not (own_home / ".claude").exists()


def test_hooks_of_a_project_are_quiet_where_there_is_no_ralph(root: Path) -> None:
    install("claude", "--project", cwd=root)
    settings = json.loads((root / SETTINGS["claude"]).read_text())
    for groups in settings["hooks"].values():
        command = groups[0]["hooks"][0]["command"]
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            env={"PATH": "/nowhere"},
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_settings_that_cannot_be_read_are_left_alone(root: Path, own_home: Path) -> None:
    path = own_home / SETTINGS["claude"]
    path.parent.mkdir()
    path.write_text('{\n  "model": "x"\n  "env": {}\n}\n')
    before = snapshot(own_home)
    done = ralph("install", "claude", cwd=root)
    assert done.returncode == 2
    assert f"{path}, line 3: '\"' instead of `,` or `}}`" in done.stderr
    assert "nothing was changed" in done.stderr
    assert snapshot(own_home) == before


def test_settings_that_are_not_text_are_left_alone(root: Path, own_home: Path) -> None:
    path = own_home / SETTINGS["claude"]
    path.parent.mkdir()
    path.write_bytes(b'{\n  "model": "\xff"\n}\n')
    done = ralph("install", "claude", cwd=root)
    assert done.returncode == 2
    assert "line 2: not UTF-8" in done.stderr


def test_a_command_of_the_users_is_never_written_over(root: Path, own_home: Path) -> None:
    mine = own_home / ".claude/commands/ralph.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("my own\n")
    before = snapshot(own_home)
    done = ralph("install", "claude", cwd=root)
    assert done.returncode == 2
    assert str(mine) in done.stderr
    assert snapshot(own_home) == before


def test_a_command_that_the_user_has_changed_stays(root: Path, own_home: Path) -> None:
    install("claude", cwd=root)
    mine = own_home / ".claude/commands/ralph.md"
    mine.write_text(mine.read_text() + "And be kind.\n")
    assert ralph("install", "claude", cwd=root).returncode == 2
    done = install("claude", "--uninstall", cwd=root)
    assert f"left {mine}: changed since it was installed" in done.stderr
    assert [path for path in (own_home / ".claude").rglob("*") if path.is_file()] == [mine]


def test_a_link_to_settings_is_followed_and_stays(root: Path, own_home: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text('{"model": "x"}\n')
    link = own_home / SETTINGS["claude"]
    link.parent.mkdir()
    link.symlink_to(real)
    install("claude", cwd=root)
    assert link.is_symlink()
    assert "Stop" in json.loads(real.read_text())["hooks"]
    install("claude", "--uninstall", cwd=root)
    assert link.is_symlink()
    assert real.read_text() == '{"model": "x"}\n'


@pytest.mark.parametrize("linked", [".claude", ".claude/settings.json"])
def test_a_link_out_of_a_project_is_refused(linked: str, root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside if linked == ".claude" else outside / "settings.json"
    (root / linked).parent.mkdir(exist_ok=True)
    (root / linked).symlink_to(target)
    done = ralph("install", "claude", "--project", cwd=root)
    assert done.returncode == 1
    assert "leads out of the project" in done.stderr
    assert list(outside.iterdir()) == []


def test_a_dry_run_shows_and_changes_nothing(root: Path, own_home: Path) -> None:
    path = own_home / SETTINGS["claude"]
    path.parent.mkdir()
    path.write_text('{"model": "\x1b[31mx"}\n'.replace("\x1b", "\\u001b"))
    before = snapshot(own_home)
    done = install("claude", "--dry-run", cwd=root)
    assert f"+++ {path}" in done.stdout
    assert "hook stop --agent claude" in done.stdout
    assert snapshot(own_home) == before
    install("claude", cwd=root)
    assert "-" in install("claude", "--uninstall", "--dry-run", cwd=root).stdout
    assert install("claude", "--dry-run", cwd=root).stdout == ""


def test_nothing_is_written_where_the_user_may_not_write(root: Path, own_home: Path) -> None:
    if os.geteuid() == 0:
        (own_home / ".claude").write_text("a file in the way\n")
    else:
        (own_home / ".claude").mkdir(mode=0o500)
    done = ralph("install", "claude", cwd=root)
    assert done.returncode == 1
    assert "cannot write" in done.stderr or "is gone" in done.stderr or "cannot read" in done.stderr


@pytest.mark.parametrize(
    ("agent", "variable", "where"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("qwen", "QWEN_HOME", "settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugin/ralph.js"),
    ],
)
def test_it_goes_where_the_agent_looks(agent: str, variable: str, where: str, root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    done = ralph("install", agent, cwd=root, env={**os.environ, variable: str(elsewhere)})
    assert done.returncode == 0, done.stderr
    assert (elsewhere / where).exists()


def test_the_plugin_of_claude_has_the_hooks_that_a_project_gets(root: Path) -> None:
    top = Path(ralph("install", "claude", "--plugin-dir", cwd=root).stdout.strip())
    install("claude", "--project", cwd=root)
    shipped = json.loads((top / "hooks/hooks.json").read_text())
    assert shipped["hooks"] == parse((root / SETTINGS["claude"]).read_text()).plain()["hooks"]
    plugin = json.loads((top / ".claude-plugin/plugin.json").read_text())
    market = json.loads((top / ".claude-plugin/marketplace.json").read_text())
    assert [one["name"] for one in market["plugins"]] == [plugin["name"]]
    assert {path.stem for path in (top / "commands").iterdir()} == {
        "ralph",
        "ralph-loop",
        "cancel-ralph",
        "ralph-status",
    }


@pytest.mark.parametrize("agent", ["gemini", "qwen", "opencode"])
def test_every_agent_with_commands_has_the_four(agent: str) -> None:
    names = [Path(name).stem for name in known.shipped(agent) if "command" in name]
    assert sorted(names) == ["cancel-ralph", "ralph", "ralph-loop", "ralph-status"]


def test_no_command_file_runs_anything() -> None:
    """What a user types after /ralph is text: a shell in a command's file would run what is quoted in it."""
    for agent in ("claude", "gemini", "qwen", "opencode"):
        for name, data in known.shipped(agent).items():
            if "command" in name:
                assert b"!`" not in data
                assert b"!{" not in data
            if agent == "opencode" and "command" in name:
                assert b"$ARGUMENTS" not in data


def test_unknown_agents_are_named(root: Path) -> None:
    done = ralph("install", "aider", cwd=root)
    assert done.returncode == 2
    assert "'claude', 'codex', 'gemini', 'qwen', 'opencode'" in done.stderr
