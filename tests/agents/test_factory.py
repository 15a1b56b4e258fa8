"""From the name of an agent to the agent."""

import pytest
from msgspec import UNSET, UnsetType

from agents.stage import Stage
from untilproven.agents.command import CommandAgent
from untilproven.agents.factory import adapter_of, agent_of
from untilproven.agents.in_turn import InTurn
from untilproven.agents.known import KnownAgent
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


@pytest.mark.parametrize("name", ["claude", "codex", "opencode", "gemini", "qwen", "aider"])
def test_a_known_name_is_its_agent(stage: Stage, name: str) -> None:
    agent = agent_of(plan(f" {name} "), stage.root)
    assert isinstance(agent, KnownAgent)
    assert (agent.name, adapter_of(name).name) == (name, name)


def test_several_names_take_turns_in_their_order(stage: Stage) -> None:
    agent = agent_of(plan("codex, claude"), stage.root)
    assert isinstance(agent, InTurn)
    assert agent.name == "codex,claude"


@pytest.mark.parametrize(
    "names", ["claude,claude", "claude,", ",", "claude,nobody", "claude,command", "auto,claude", "claude,\x1b[31m"]
)
def test_a_list_has_known_agents_once_each(stage: Stage, names: str) -> None:
    with pytest.raises(UsageError) as caught:
        agent_of(plan(names, "my-agent"), stage.root)
    assert "is no list of agents" in caught.value.message
    assert "\x1b" not in caught.value.message
    assert "claude, codex, opencode, gemini, qwen, aider" in caught.value.hint


def test_a_cassette_may_have_a_comma_in_its_name(stage: Stage) -> None:
    (stage.root / "a,b.toml").write_text('version = 1\n[[iteration]]\nsteps = [{ say = "hi" }]')
    assert stage.play(agent_of(plan("replay:a,b.toml"), stage.root)).said == "hi\n"
