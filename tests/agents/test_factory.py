"""From the name of an agent to the agent."""

import pytest
from msgspec import UNSET, UnsetType

from agents.stage import Stage
from untilproven.agents.command import CommandAgent
from untilproven.agents.factory import agent_of
from untilproven.errors import ConfigError, UsageError
from untilproven.model.plan import Plan


def plan(agent: str, command: str | UnsetType = UNSET) -> Plan:
    return Plan(agent=agent, agent_cmd=command, agent_arguments=("-v",), model="m", task_hash="0")


def test_a_command_is_made_with_all_that_belongs_to_it(stage: Stage) -> None:
    assert agent_of(plan("command", "my-agent"), stage.root) == CommandAgent("my-agent", ("-v",), "m")


def test_a_cassette_is_found_from_the_root_on_and_read_at_once(stage: Stage) -> None:
    (stage.root / "c.toml").write_text('version = 1\n[[iteration]]\nsteps = [{ say = "hi" }]')
    assert stage.play(agent_of(plan("replay:c.toml"), stage.root)).said == "hi\n"
    with pytest.raises(ConfigError):
        agent_of(plan("replay:absent.toml"), stage.root)


@pytest.mark.parametrize("command", [UNSET, " ", "a\0b"])
def test_a_command_must_be_one(stage: Stage, command: str | UnsetType) -> None:
    with pytest.raises(UsageError) as caught:
        agent_of(plan("command", command), stage.root)
    assert "--agent-cmd" in caught.value.hint


@pytest.mark.parametrize("name", ["", "nobody", "replay", "replay:", "command:x", "\x1b[31m"])
def test_an_unknown_name_is_answered_with_those_that_there_are(stage: Stage, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        agent_of(plan(name), stage.root)
    assert "command, replay:FILE" in caught.value.message
    assert "\x1b" not in caught.value.message
    assert "--agent-cmd" in caught.value.hint
