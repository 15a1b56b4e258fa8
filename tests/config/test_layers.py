import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.config.layers import load
from untilproven.errors import ConfigError
from untilproven.model.settings import BY_KEY


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture
def user_file(own_home: Path) -> Path:
    path = own_home / ".config/untilproven/config.toml"
    path.parent.mkdir(parents=True)
    return path


def refusal(root: Path, **flags: Any) -> ConfigError:
    with pytest.raises(ConfigError) as refused:
        load(root, flags)
    return refused.value


def test_without_any_file_the_defaults_are_in_force(root: Path) -> None:
    settings = load(root)
    assert settings.max_iterations == 200
    assert settings.timeout == timedelta(hours=8)
    assert settings.task.timeout == timedelta(minutes=30)
    assert settings.value("queue.max_cost") == 50.0
    assert settings.max_cost is None
    assert {str(settings.origin(key)) for key in BY_KEY} == {"default"}


def test_a_setting_that_does_not_exist_is_no_attribute(root: Path) -> None:
    for place in (load(root), load(root).task):
        with pytest.raises(AttributeError):
            place.max_iteration  # noqa: B018


def test_each_layer_wins_over_those_below_it(root: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    def note() -> None:
        settings = load(root)
        found.append((settings.max_iterations, str(settings.origin("max_iterations"))))

    note()
    user_file.write_text("\nmax_iterations = 100\n")
    note()
    (root / "ralph.toml").write_text("max_iterations = 90\n")
    note()
    monkeypatch.setenv("RALPH_MAX_ITERATIONS", "80")
    note()
    settings = load(root, {"max_iterations": "70"})
    found.append((settings.max_iterations, str(settings.origin("max_iterations"))))
    assert found == [
        (200, "default"),
        (100, f"user file {user_file}:2"),
        (90, f"project file {root}/ralph.toml:1"),
        (80, "environment RALPH_MAX_ITERATIONS"),
        (70, "flag --max-iterations"),
    ]


def test_the_user_file_is_looked_for_where_xdg_says(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xdg/untilproven").mkdir(parents=True)
    (tmp_path / "xdg/untilproven/config.toml").write_text('agent = "codex"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert load(root).agent == "codex"


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "HOME"])
def test_a_relative_home_never_makes_a_project_file_the_users_own(
    root: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for place in ("untilproven", ".config/untilproven"):
        (root / place).mkdir(parents=True)
        (root / place / "config.toml").write_text('agent_cmd = "evil"\n')
    monkeypatch.chdir(root)
    monkeypatch.setenv(variable, ".")
    assert load(root).agent_cmd is None


def test_a_relative_xdg_directory_is_ignored(root: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user_file.write_text("commit = true\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert load(root).commit is True


def test_the_users_own_link_is_followed_because_dotfiles_live_elsewhere(
    root: Path, user_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "dotfiles.toml").write_text("commit = true\n")
    user_file.symlink_to(tmp_path / "dotfiles.toml")
    assert load(root).commit is True


def test_settings_can_stand_in_pyproject(root: Path) -> None:
    text = '[project]\nname = "x"\n[tool.untilproven]\nmax_iterations = 7\n[tool.untilproven.task]\ntimeout = "5m"\n'
    (root / "pyproject.toml").write_text(text)
    settings = load(root)
    assert settings.max_iterations == 7
    assert str(settings.origin("task.timeout")) == f"project file {root}/pyproject.toml:6"


def test_settings_in_both_project_files_are_refused_by_name(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.untilproven]\nmax_iterations = 7\n")
    (root / "ralph.toml").write_text("# nothing set\n")
    assert load(root).max_iterations == 7
    (root / "ralph.toml").write_text("max_iterations = 8\n")
    message = refusal(root).message
    assert str(root / "ralph.toml") in message
    assert str(root / "pyproject.toml") in message


def test_a_pyproject_that_does_not_mention_us_is_none_of_our_business(root: Path) -> None:
    (root / "pyproject.toml").write_text("this is not toml")
    assert load(root).max_iterations == 200


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("\nmax_iteration = 5", 2, "max_iterations"),
        ("maxIterations = 5", 1, "max_iterations"),
        ("MAX_ITERATIONS = 5", 1, "max_iterations"),
        ("max-cost = 5", 1, "max_cost"),
        ("[task]\n\ntime_out = '5m'", 3, "task.timeout"),
        ("[tsk]\ntimeout = '5m'", 1, "task"),
        ("task.max_tasks.x = 1", 1, "queue.max_tasks"),
        ('"task.timeout" = "5m"', 1, "task.timeout"),
        ('a = """\nmax_iteration = 3\n"""', 1, "`ralph config`"),
    ],
)
def test_an_unknown_key_is_named_with_its_line_and_the_nearest_key(
    root: Path, text: str, line: int, words: str
) -> None:
    (root / "ralph.toml").write_text(text)
    error = refusal(root)
    assert error.message.startswith(f"{root}/ralph.toml:{line}: there is no setting")
    assert words in error.hint
    assert error.exit_code == 2
    assert error.details == {"file": f"{root}/ralph.toml", "line": line}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("\n\nmax_iterations = 0", 3, "max_iterations: 0 is not a number from 1"),
        ("max_iterations = true", 1, "true is not a whole number"),
        ("max_cost = nan", 1, "nan is not an amount"),
        ("timeout = 30", 1, '30 has no unit; write "30h", "30m" or "30s"'),
        ('timeout = "0s"', 1, "no time at all"),
        ("[task]\nmax_iterations = 0xffffffffffffffffffff", 2, "a number this large"),
        ('until = "pytest"', 1, "'pytest' is not a list"),
        ('sandbox = "off"', 1, "'off' is not one of auto, overlay, shadow, none"),
        ("agent.name = 1", 1, "a table is not text"),
        ("task = 5", 1, "task is a section"),
        ("[[task]]\ntimeout='5m'", 1, "task is a section"),
    ],
)
def test_a_wrong_value_is_named_with_its_line(root: Path, text: str, line: int, words: str) -> None:
    (root / "ralph.toml").write_text(text)
    message = refusal(root).message
    assert message.startswith(f"{root}/ralph.toml:{line}: ")
    assert words in message


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = \n", 2), ("a = 1\na = 2", 2), ('x = "', 1), ("a = [1,\n2", 2), ("a = " + "1" * 5000, 1)],
)
def test_a_syntax_error_is_named_with_its_line(root: Path, text: str, line: int) -> None:
    (root / "ralph.toml").write_text(text)
    assert refusal(root).message.startswith(f"{root}/ralph.toml:{line}: this is not TOML: ")


@pytest.mark.parametrize("name", ["ralph.toml", "pyproject.toml"])
@pytest.mark.parametrize("kind", ["fifo", "link", "directory", "huge", "binary", "deep", "long key"])
def test_a_hostile_project_file_is_refused_and_never_waited_for(
    root: Path, tmp_path: Path, name: str, kind: str
) -> None:
    path = root / name
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "link":
            (tmp_path / "elsewhere.toml").write_text("max_iterations = 1")
            path.symlink_to(tmp_path / "elsewhere.toml")
        case "directory":
            path.mkdir()
        case "huge":
            path.write_bytes(b"# untilproven\n" * 100_000)
        case "binary":
            path.write_bytes(b"untilproven = 1\n\xff\xfe\x00")
        case "deep":
            path.write_text("untilproven = " + "[" * 10_000 + "]" * 10_000)
        case "long key":
            path.write_text(".".join("a" * 500_000) + " = 'untilproven'")
    assert str(path) in refusal(root).message


def test_an_unreadable_file_is_an_error_and_not_an_absence(root: Path) -> None:
    (root / "ralph.toml").write_text("max_iterations = 1")
    (root / "ralph.toml").chmod(0)
    # In a user namespace of its own even root may not read what its mode forbids.
    command = ["unshare", "--user", sys.executable, "-P", "-m", "untilproven", "config"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cannot be read" in done.stderr


@given(st.binary(max_size=200))
def test_any_bytes_are_either_settings_or_a_config_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    root = tmp_path_factory.mktemp("root")
    (root / "ralph.toml").write_bytes(data)
    try:
        load(root)
    except ConfigError as error:
        assert str(root / "ralph.toml") in error.message  # noqa: PT017  which of the two happens is not the point


@pytest.mark.parametrize(("key", "text"), [("timeout", "90"), ("max_iterations", "0"), ("trust_promise", "perhaps")])
def test_a_wrong_value_in_a_variable_is_named(root: Path, monkeypatch: pytest.MonkeyPatch, key: str, text: str) -> None:
    monkeypatch.setenv(BY_KEY[key].variable, text)
    assert refusal(root).message.startswith(f"{BY_KEY[key].variable}: ")


def test_a_variable_that_is_not_utf8_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RALPH_MODEL", os.fsdecode(b"\xff"))
    assert refusal(root).message.startswith("RALPH_MODEL: ")


def test_an_empty_variable_is_the_same_as_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RALPH_MODEL", "")
    assert load(root).model is None


def test_a_list_in_a_variable_has_one_item_a_line(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RALPH_UNTIL", "pytest -q\nruff check .")
    assert load(root).until == ("pytest -q", "ruff check .")


def test_only_a_variable_that_looks_mistyped_is_warned_about(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRUST", "LOOP_ID", "ITERATION", "RESULT_FILE", "TASK_ID", "DIAGNOSTICS", "MODEL"):
        monkeypatch.setenv(f"RALPH_{name}", "1")
    assert load(root).warnings == ()
    monkeypatch.setenv("RALPH_MAX_ITERATION", "5")
    assert load(root).warnings == ("RALPH_MAX_ITERATION is not a setting; did you mean RALPH_MAX_ITERATIONS?",)


def test_a_wrong_flag_is_named(root: Path) -> None:
    assert refusal(root, timeout="90").message.startswith("--timeout: 90 has no unit")
