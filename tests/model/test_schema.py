from typing import Any

import jsonschema
import msgspec
import pytest

from sources import examples
from support import run_iteration
from untilproven.model import schema
from untilproven.model.status import Status
from untilproven.store.checkpoints import read_checkpoint, write_checkpoint
from untilproven.store.layout import Project
from untilproven.store.lifecycle import create_state


def problems(name: str, value: Any) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(schema.schema(name)).iter_errors(value)]


@pytest.mark.parametrize("name", schema.names())
def test_every_schema_is_itself_valid_and_hides_how_unknown_keys_are_kept(name: str) -> None:
    made = schema.schema(name)
    jsonschema.Draft202012Validator.check_schema(made)
    text = msgspec.json.encode(made)
    assert b"+extra" not in text
    assert b"(?!" not in text
    assert made["$schema"].endswith("2020-12/schema")


def test_what_is_written_passes_its_schema(project: Project) -> None:
    with create_state(project, "fix") as writer:
        run_iteration(writer, 1)
        write_checkpoint(writer)
        writer.transition_status(Status.ABORTED, reason="enough")
        lines = [msgspec.json.decode(line) for line in writer.loop.journal.read_bytes().splitlines()]
        assert len(lines) == 7
        for line in lines:
            assert problems("event", line) == []
        assert problems("state", msgspec.json.decode(writer.loop.state.read_bytes())) == []
        assert problems("iteration", msgspec.json.decode(writer.loop.iteration(1).read_bytes())) == []
        checkpoint = msgspec.json.decode(msgspec.json.encode(msgspec.to_builtins(read_checkpoint(writer.loop, 1))))
        assert problems("checkpoint", checkpoint) == []
    assert problems("registry", msgspec.json.decode(project.state.registry.read_bytes())) == []


def test_a_schema_refuses_what_the_program_refuses() -> None:
    example = {key: value for key, value in examples()["state"].items() if value is not None}
    assert problems("state", example) == []
    assert problems("state", {**example, "status": "done"})
    assert problems("state", {**example, "loop_id": "x"})
    assert problems("event", {"v": 1, "type": "loop.started"})
