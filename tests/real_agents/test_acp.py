"""Agents that speak the Agent Client Protocol write a file over it, and say so."""

from pathlib import Path

import pytest

from real_agents.acp import COMMANDS, connected
from real_agents.cases import CASES, DONE, stage
from real_agents.install import missing

ABSENT = {name: missing(name) or missing(command[0]) for name, command in COMMANDS.items()}


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.skipif(bool(why), reason=why)) for one, why in ABSENT.items()]
)
def test_a_turn_over_the_protocol_writes_a_file(name: str, tmp_path: Path) -> None:
    with (
        stage(name, {name: CASES["turn"].steps}, tmp_path) as (place, server),
        connected(name, place) as agent,
    ):
        started = agent.call("initialize", protocolVersion=1, clientCapabilities={})
        assert started["protocolVersion"] == 1
        session = agent.call("session/new", cwd=str(place.root), mcpServers=[])["sessionId"]
        ended = agent.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "over the protocol"}])
        assert ended["stopReason"] == "end_turn"
        assert (place.root / "made.txt").read_text() == "by the agent\n"
        assert DONE in agent.words
        assert "over the protocol" in server.turns(name)[0].prompt
