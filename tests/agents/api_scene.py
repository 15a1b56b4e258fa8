"""The built-in agent, and a scripted model that it talks to in each wire format."""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest

from agents.stage import Stage
from models.script import Step
from models.server import ModelServer
from untilproven.agents.adapter import Asked
from untilproven.agents.factory import adapter_of
from untilproven.agents.known import KnownAgent
from untilproven.contract import Worked

TALK = "talk"


class Wire(NamedTuple):
    model: str
    key: str
    address: str
    """The variable that says where the provider is."""
    path: str = ""


WIRES = {
    "chat": Wire("openai-chat:gpt-5", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"),
    "responses": Wire("openai:gpt-5", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"),
    "anthropic": Wire("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "gemini": Wire("google:gemini-2.5-flash", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
}
each_wire = pytest.mark.parametrize("wire", WIRES)
KEY = "planted-key-3f9c"


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of whoever runs the suite are not used."""
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_BASE_URL"))]:
        monkeypatch.delenv(name)
    for wire in WIRES.values():
        monkeypatch.setenv(wire.key, KEY)


class Scene:
    """A stage on which the agent works with one model."""

    def __init__(self, stage: Stage, server: ModelServer) -> None:
        self.stage, self.server = stage, server

    def agent(self, wire: str = "chat", *words: str, url: str = "", asked: Asked | None = None) -> KnownAgent:
        chosen, asked = WIRES[wire], asked or Asked()
        address = ("--base-url", url or self.server.url(TALK) + chosen.path)
        given = Asked(arguments=(*address, *words), seeded=asked.seeded, passed=asked.passed)
        return KnownAgent(adapter_of("api", chosen.model), given, self.stage.root)

    def play(self, steps: Sequence[Step], wire: str = "chat", *words: str, prompt: str = "fix it") -> Worked:
        self.server.extend(TALK, *steps)
        return self.stage.play(self.agent(wire, *words), prompt=prompt)

    def told(self) -> list[str]:
        """What the model was told of each action, in its last request."""
        asked = self.server.turns(TALK)[-1].asked
        assert asked
        return [message.text for message in asked.messages if message.role == "tool"]

    @property
    def outcomes(self) -> list[str]:
        return self.stage.told("error")


@pytest.fixture
def scene(stage: Stage, keys: None) -> Iterator[Scene]:
    with ModelServer({TALK: []}) as server:
        yield Scene(stage, server)
