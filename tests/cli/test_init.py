import json
from pathlib import Path

import pytest

from untilproven.cli.main import run
from untilproven.config.layers import load
from untilproven.model.settings import OPTIONS
from untilproven.store.layout import Project

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def root(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project.root)
    return project.root


def test_the_starter_explains_every_setting_and_sets_none(root: Path, capsys: Capture) -> None:
    before = load(root)
    assert run(["init"]) == 0
    lines = (root / "ralph.toml").read_text().splitlines()
    assert all(line.startswith("#") for line in lines)
    assert load(root) == before
    for option in OPTIONS:
        assert any(line.startswith(f"# {option.key} = ") for line in lines)
        assert any(line.startswith(f"## {option.help}") for line in lines)


def test_a_line_of_the_starter_means_the_same_wherever_it_is_switched_on(root: Path) -> None:
    run(["init"])
    path = root / "ralph.toml"
    path.write_text(path.read_text().replace("# task.timeout = ", "task.timeout = "))
    assert str(load(root).origin("task.timeout")).startswith(f"project file {path}:")


def test_printing_writes_nothing(root: Path, capsys: Capture) -> None:
    assert run(["init", "--print"]) == 0
    assert "# max_iterations = 200" in capsys.readouterr().out
    assert not (root / "ralph.toml").exists()


def test_an_existing_file_is_kept_unless_forced_and_then_kept_beside(root: Path, capsys: Capture) -> None:
    (root / "ralph.toml").write_text("max_iterations = 5\n")
    assert run(["init"]) == 2
    assert "ralph init --force" in capsys.readouterr().err
    assert (root / "ralph.toml").read_text() == "max_iterations = 5\n"
    assert run(["init", "--force"]) == 0
    assert (root / "ralph.toml").read_text().startswith("# Settings")
    assert (root / "ralph.toml.bak").read_text() == "max_iterations = 5\n"


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_in_the_way_is_never_followed_nor_replaced(
    root: Path, tmp_path: Path, force: list[str], exists: bool
) -> None:
    target = tmp_path / "victim"
    if exists:
        target.write_text("precious")
    (root / "ralph.toml").symlink_to(target)
    assert run(["init", *force]) != 0
    assert (root / "ralph.toml").is_symlink()
    assert (target.read_text() == "precious") if exists else not target.exists()


def test_a_directory_in_the_way_is_an_error(root: Path) -> None:
    (root / "ralph.toml").mkdir()
    assert run(["init"]) == 2
    assert run(["init", "--force"]) == 1


def test_it_is_written_where_it_will_be_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "src").mkdir()
    monkeypatch.chdir(root / "src")
    assert run(["init"]) == 0
    assert (root / "ralph.toml").exists()


def test_a_loop_config_is_converted(root: Path) -> None:
    (root / "loop.json").write_text(json.dumps({"loop": {"maxTimePerTask": 600, "onFailure": "stop"}}))
    assert run(["init", "--from", "loop.json"]) == 0
    settings = load(root)
    assert settings.task.timeout.total_seconds() == 600
    assert settings.queue.on_failure == "stop"


def test_a_loop_config_that_is_wrong_writes_nothing(root: Path) -> None:
    (root / "loop.json").write_text('{"loop": {"maxTime": 600}}')
    assert run(["init", "--from", "loop.json", "--force"]) == 2
    assert not (root / "ralph.toml").exists()


def test_settings_are_not_converted_into_a_second_place(root: Path, capsys: Capture) -> None:
    (root / "pyproject.toml").write_text("[tool.untilproven]\nmax_iterations = 5\n")
    (root / "loop.json").write_text('{"loop": {"parallelism": 1}}')
    assert run(["init", "--from", "loop.json"]) == 2
    assert "pyproject.toml" in capsys.readouterr().err
    assert not (root / "ralph.toml").exists()


def test_a_mistake_in_a_json_config_is_named_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "old.json"
    source.write_text('{\n  "loop": {\n    "maxCostPerTask": 5,\n    "maxIterationPerTask": 12\n  }\n}\n')
    assert run(["init", "--from", str(source), "--print"]) == 2
    said = capsys.readouterr().err
    assert f"{source}:4: there is no setting 'maxIterationPerTask'" in said
    assert "did you mean maxIterationsPerTask?" in said
    source.write_text('{"loop": {\n  "maxCostPerTask": "much"}}')
    assert run(["init", "--from", str(source), "--print"]) == 2
    assert f"{source}:2: loop.maxCostPerTask" in capsys.readouterr().err
