import tomllib

import jsonschema
import pytest

from untilproven.config.schema import json_schema
from untilproven.config.starter import starter
from untilproven.model.settings import OPTIONS

VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


def test_every_setting_is_described_with_its_default() -> None:
    properties = json_schema()["properties"]
    for option in OPTIONS:
        place = properties[option.section]["properties"] if option.section else properties
        described = place[option.key.rpartition(".")[2]]
        assert described["description"] == option.help
        assert ("default" in described) is (option.default is not None)


def test_what_the_starter_shows_is_valid() -> None:
    lines = [line[2:] for line in starter().splitlines() if line.startswith("# ") and " = " in line]
    content = tomllib.loads("\n".join(lines))
    assert len(lines) == len(OPTIONS)
    assert [*VALIDATOR.iter_errors(content)] == []


@pytest.mark.parametrize(
    "text",
    [
        *["max_iteration = 5", "max_iterations = 0", "timeout = 30", 'timeout = "0s"', 'timeout = "5"', 'timeout = ""'],
        *["max_cost = 0", 'sandbox = "off"', "task.x = 1", "until = ['']", 'model = " "', "commit = 1"],
    ],
)
def test_what_the_program_refuses_the_schema_refuses(text: str) -> None:
    assert [*VALIDATOR.iter_errors(tomllib.loads(text))]
