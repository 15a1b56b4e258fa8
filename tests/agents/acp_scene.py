"""A scripted agent that speaks the Agent Client Protocol, on a stage, and what it can be told to say."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from agents.stage import Stage
from untilproven.agents.acp import AcpAgent
from untilproven.agents.adapter import Asked
from untilproven.contract import Worked
from untilproven.model.iteration import Continue

Json = dict[str, Any]
PROGRAM = Path(__file__).with_name("acp_agent.py")
DONE = Continue(reason="it came to its end")


OPTIONS = [
    {"optionId": "no", "name": "No", "kind": "reject_once"},
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "once", "name": "Once", "kind": "allow_once"},
]


class Scene:
    """A scripted agent on a stage."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.script = stage.directory / "script.json"

    def play(self, *steps: Json, prompt: str = "fix it", session: str = "", model: str = "", **script: Any) -> Worked:
        self.script.write_text(json.dumps([{"steps": steps, **script}]))
        self.script.with_suffix(".heard").unlink(missing_ok=True)
        line = shlex.join([sys.executable, str(PROGRAM), str(self.script)])
        agent = AcpAgent(line, None, Asked(model=model), self.stage.root)
        self.stage.events.clear()
        turn = replace(self.stage.turn(prompt=prompt), session=session)
        return agent.work(turn, self.stage.room, self.stage.events.append)

    agent = f"acp-{Path(sys.executable).name}"

    @property
    def heard(self) -> list[Json]:
        """What the agent was told."""
        return [json.loads(line) for line in self.script.with_suffix(".heard").read_text().splitlines()]

    def asked(self, method: str) -> Json:
        (params,) = (one["params"] for one in self.heard if one.get("method") == method)
        return dict(params)

    @property
    def methods(self) -> list[str]:
        return [one["method"] for one in self.heard if "method" in one]

    @property
    def actions(self) -> list[tuple[str, str]]:
        found = [event.data for event in self.stage.events if event.kind == "action" and event.data]
        return [(data["kind"], data["target"]) for data in found]


def call(number: str = "1", **told: Any) -> Json:
    return {"update": {"sessionUpdate": "tool_call", "toolCallId": number, **told}}


def later(number: str = "1", **told: Any) -> Json:
    return {"update": {"sessionUpdate": "tool_call_update", "toolCallId": number, **told}}


def cost(amount: Any, currency: str = "USD") -> Json:
    return {"update": {"sessionUpdate": "usage_update", "used": 1, "cost": {"amount": amount, "currency": currency}}}
