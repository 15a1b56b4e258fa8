"""What a check finds around it."""

import os
from pathlib import Path

import pytest

from checks.conftest import LayeredPlace
from untilproven.checks.surroundings import environment_for_checks

ROOT = Path("/home/u/project")


def path_of(path: str, root: Path = ROOT) -> str:
    return environment_for_checks({"PATH": path}, root)["PATH"]


def test_places_of_the_tree_are_left_out_of_the_path() -> None:
    assert (
        path_of("/home/u/project/bin:/usr/bin:/home/u/project:/home/u/other/../project/tools:/bin") == "/usr/bin:/bin"
    )
    assert path_of("/home/u/project-two/bin:/usr/bin") == "/home/u/project-two/bin:/usr/bin"


def test_relative_and_empty_places_are_left_out() -> None:
    assert path_of("bin:.:/usr/bin::") == "/usr/bin"
    assert path_of("") == path_of(".") == os.defpath


def test_installed_dependencies_stay_for_they_are_as_they_were() -> None:
    kept = "/home/u/project/.venv/bin:/home/u/project/node_modules/.bin:/home/u/project/sub/vendor/bin"
    assert path_of(f"{kept}:/usr/bin") == f"{kept}:/usr/bin"


def test_a_link_into_the_tree_is_of_the_tree(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "bin").mkdir(parents=True)
    (tmp_path / "tools").symlink_to(root / "bin")
    assert path_of(f"{tmp_path}/tools:/usr/bin", root) == "/usr/bin"
    assert path_of(f"{tmp_path}/tools/../project/bin:/usr/bin", root) == "/usr/bin"


def test_keys_of_agents_and_our_own_words_stay_out_unless_they_are_passed() -> None:
    env = {
        "ANTHROPIC_API_KEY": "k",
        "OPENAI_BASE_URL": "u",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_TOKEN": "t",
        "GEMINI_API_KEY": "k",
        "GOOGLE_API_KEY": "k",
        "OPENROUTER_API_KEY": "k",
        "RALPH_LOOP_ID": "x",
        "RALPH_RESULT_FILE": "x",
        "RALPH_KEEPER": "mark",
        "HOME": "/home/u",
        "DATABASE_URL": "x",
    }
    kept = {"RALPH_KEEPER": "mark", "HOME": "/home/u", "DATABASE_URL": "x", "PYTHONDONTWRITEBYTECODE": "1"}
    assert environment_for_checks(env, ROOT) == kept
    assert environment_for_checks(env, ROOT, ["OPENAI_BASE_URL"]) == {**kept, "OPENAI_BASE_URL": "u"}


def test_what_a_shell_would_read_first_is_not_the_tree_s() -> None:
    env = {"BASH_ENV": "/home/u/project/.env.sh", "ENV": "rc.sh", "LANG": "C"}
    assert environment_for_checks(env, ROOT) == {"LANG": "C", "PYTHONDONTWRITEBYTECODE": "1"}
    assert "BASH_ENV" in environment_for_checks({"BASH_ENV": "/etc/rc"}, ROOT)


def test_a_check_in_a_room_has_that_environment(layered: LayeredPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("PLAIN", "open")
    printed = layered.room().run("env", timeout=20).output
    assert "PLAIN=open" in printed
    assert "secret" not in printed
