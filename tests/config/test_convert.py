import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from untilproven.config.convert import convert
from untilproven.config.layers import load
from untilproven.errors import ConfigError

SOURCE_002 = {
    "maxIterationsPerTask": 10,
    "maxTimePerTask": 1800,
    "maxCostPerTask": 5,
    "maxTasksPerRun": 50,
    "maxTimePerRun": 14400,
    "maxCostPerRun": 50,
    "onFailure": "continue",
    "parallelism": 1,
}


def written(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(content))
    return path


def test_the_sources_own_example_becomes_settings_that_load(tmp_path: Path) -> None:
    text = convert(written(tmp_path, {"loop": SOURCE_002}))
    assert tomllib.loads(text) == {
        "task": {"max_iterations": 10, "timeout": "30m", "max_cost": 5.0},
        "queue": {"max_tasks": 50, "timeout": "4h", "max_cost": 50.0, "on_failure": "continue", "parallelism": 1},
    }
    (tmp_path / "ralph.toml").write_text(text)
    assert str(load(tmp_path).origin("queue.timeout")).startswith("project file")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"loop": {"maxIterationPerTask": 1}}, "did you mean maxIterationsPerTask?"),
        ({"loops": {}}, "did you mean loop?"),
        ({"loop": {"zzz": 1}}, "it can have maxIterationsPerTask"),
        ({"loop": []}, "loop is not a JSON object"),
        ([], "the file is not a JSON object"),
        ({"loop": {"maxTimePerTask": 0}}, "no time at all"),
        ({"loop": {"maxTimePerTask": -1}}, "not a duration"),
        ({"loop": {"maxTimePerTask": 1.5}}, "not a whole number of seconds"),
        ({"loop": {"maxTimePerTask": True}}, "not a whole number of seconds"),
        ({"loop": {"maxTimePerTask": "30m"}}, "not a whole number of seconds"),
        ({"loop": {"maxTimePerTask": 1e300}}, "longer than a year"),
        ({"loop": {"maxCostPerTask": 0}}, "dollars above 0"),
        ({"loop": {"onFailure": "explode"}}, "continue, stop, retry"),
        ({"loop": {"parallelism": 0}}, "from 1"),
    ],
)
def test_what_cannot_be_converted_is_named(tmp_path: Path, content: Any, words: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(ConfigError) as refused:
        convert(path)
    assert str(path) in refused.value.message
    assert words in refused.value.message + refused.value.hint


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000, b'{"loop": NaN}'])
def test_a_file_that_is_not_json_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.json").write_bytes(data)
    with pytest.raises(ConfigError, match="cannot be read as JSON"):
        convert(tmp_path / "x.json")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        convert(tmp_path / "missing.json")
