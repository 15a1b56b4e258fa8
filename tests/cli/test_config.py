import json
from pathlib import Path

import pytest

from support import ralph
from untilproven.cli.main import run
from untilproven.model.settings import BY_KEY, OPTIONS, Kind
from untilproven.store.layout import Project

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def root(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project.root)
    return project.root


def test_every_setting_is_listed_with_its_value(root: Path, capsys: Capture) -> None:
    assert run(["config"]) == 0
    rows = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows[1:]] == list(BY_KEY)
    assert ["timeout", '"8h"'] in rows


def test_a_flag_is_shown_as_the_origin(root: Path, capsys: Capture) -> None:
    assert run(["config", "max_iterations", "--max-iterations", "5", "--origin"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split(maxsplit=2) == ["max_iterations", "5", "flag --max-iterations"]


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_every_setting_has_its_flags(root: Path, capsys: Capture, option: object) -> None:
    assert isinstance(option, type(OPTIONS[0]))
    words = {Kind.COUNT: "7", Kind.MONEY: "7", Kind.DURATION: "7m"}
    for flag in option.flags:
        word = option.choices[-1] if option.choices else words.get(option.kind, "seven")
        typed = [flag] if option.kind is Kind.SWITCH else [flag, word]
        assert run(["config", option.key, "--json", *typed]) == 0
        found = json.loads(capsys.readouterr().out)["settings"][option.key]
        assert found["origin"] == f"flag {option.flag}"


def test_a_switch_can_be_turned_off_again(root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RALPH_COMMIT", "1")
    assert run(["config", "commit", "--no-commit"]) == 0
    assert capsys.readouterr().out == "false\n"


def test_a_repeated_flag_makes_a_list(root: Path, capsys: Capture) -> None:
    assert run(["config", "until", "--until", "pytest -q", "--until", "ruff check ."]) == 0
    assert capsys.readouterr().out == "pytest -q\nruff check .\n"


def test_one_value_is_printed_bare_for_scripts(root: Path, capsys: Capture) -> None:
    shown = []
    for key in ("timeout", "max_iterations", "auto_test", "agent", "until"):
        assert run(["config", key]) == 0
        shown.append(capsys.readouterr().out)
    assert shown == ["8h\n", "200\n", "true\n", "", ""]


def test_a_section_shows_its_settings(root: Path, capsys: Capture) -> None:
    assert run(["config", "task", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["settings"]) == {
        "task.max_iterations",
        "task.timeout",
        "task.max_cost",
    }


def test_json_has_values_origins_and_what_is_withheld(root: Path, capsys: Capture) -> None:
    (root / "ralph.toml").write_text('timeout = "90m"\nhooks.on_action = "evil"\n')
    assert run(["config", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert set(printed) == {"settings", "withheld"}
    assert set(printed["settings"]) == set(BY_KEY)
    assert printed["settings"]["timeout"] == {"value": "1h30m", "origin": f"project file {root}/ralph.toml:1"}
    assert printed["settings"]["hooks.on_action"] == {"value": None, "origin": "default"}
    assert printed["withheld"] == [
        {"key": "hooks.on_action", "value": "evil", "origin": f"project file {root}/ralph.toml:2"}
    ]


def test_what_is_withheld_is_said_with_the_next_step_and_without_escape_sequences(root: Path, capsys: Capture) -> None:
    (root / "ralph.toml").write_text('agent_cmd = "\\u001b[8mevil"\n')
    assert run(["config"]) == 0
    told = capsys.readouterr().err
    assert 'agent_cmd = "\\u001b[8mevil"' in told
    assert "ralph trust" in told
    assert "\x1b[8m" not in told


def test_an_unknown_key_is_answered_with_the_nearest(root: Path, capsys: Capture) -> None:
    assert run(["config", "max_iteration"]) == 2
    assert "did you mean max_iterations?" in capsys.readouterr().err
    assert run(["config", ""]) == 2


def test_a_wrong_file_is_a_usage_error_in_json_too(root: Path, capsys: Capture) -> None:
    (root / "ralph.toml").write_text("\nmax_iteration = 5\n")
    assert run(["config", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["kind"], error["line"]) == ("config", 2)


@pytest.mark.parametrize("flag", [["--timeout", "90"], ["-n", "0"], ["--max-cost", "inf"], ["--sandbox", "off"]])
def test_a_wrong_flag_is_a_usage_error(root: Path, capsys: Capture, flag: list[str]) -> None:
    assert run(["config", *flag]) == 2


def test_a_mistyped_variable_is_warned_about_on_stderr(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_MAX_ITERATION", "5")
    assert run(["config", "--json"]) == 0
    printed = capsys.readouterr()
    assert "RALPH_MAX_ITERATIONS" in printed.err
    assert json.loads(printed.out)


def test_looking_runs_nothing_the_project_names(root: Path) -> None:
    (root / "tomllib.py").write_text("open('ran', 'w')")
    (root / "evil").write_text("#!/bin/sh\ntouch ran\n")
    (root / "evil").chmod(0o755)
    (root / "ralph.toml").write_text('agent_cmd = "./evil"\nhooks.on_task_start = "./evil"\nnotify = ["./evil"]\n')
    assert ralph("config", cwd=root).returncode == 0
    assert not (root / "ran").exists()


def test_settings_are_found_from_a_subdirectory(root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "ralph.toml").write_text("max_iterations = 5\n")
    (root / "src/deep").mkdir(parents=True)
    monkeypatch.chdir(root / "src/deep")
    assert run(["config", "max_iterations"]) == 0
    assert capsys.readouterr().out == "5\n"
