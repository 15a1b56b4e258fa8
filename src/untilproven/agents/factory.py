"""From the name of an agent to the agent."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET

from untilproven.agents.command import CommandAgent
from untilproven.contract import Agent
from untilproven.core.naming import quoted
from untilproven.errors import UsageError
from untilproven.model.plan import Plan

if TYPE_CHECKING:
    from untilproven.agents.adapter import Adapter

NAMES = ("claude", "codex", "opencode", "gemini", "qwen", "aider")
"""Agents that are known, in the order in which they are looked for."""

_REPLAY = "replay:"
_COMMAND_HINT = 'for example: --agent-cmd "my-agent --yes"; it gets the prompt on stdin, or where {prompt_file} stands'


def agent_of(plan: Plan, root: Path) -> Agent:
    """The agent that the plan names; a cassette is read now, so that its mistakes are found before anything runs."""
    if plan.agent == "command":
        if plan.agent_cmd is UNSET or not plan.agent_cmd.strip() or "\0" in plan.agent_cmd:
            raise UsageError("the agent `command` needs a command to run", hint=_COMMAND_HINT)
        return CommandAgent(plan.agent_cmd, plan.agent_arguments, "" if plan.model is UNSET else plan.model)
    if plan.agent.startswith(_REPLAY) and plan.agent != _REPLAY:
        from untilproven.agents.replay import ReplayAgent  # noqa: PLC0415  most loops play nothing

        return ReplayAgent(root / plan.agent.removeprefix(_REPLAY))
    if plan.agent in NAMES:
        from untilproven.agents.adapter import Asked  # noqa: PLC0415  loads all that one needs
        from untilproven.agents.known import KnownAgent  # noqa: PLC0415  the same

        asked = Asked(model="" if plan.model is UNSET else plan.model, arguments=plan.agent_arguments)
        return KnownAgent(adapter_of(plan.agent), asked, root)
    raise UsageError(
        f"there is no agent {quoted(plan.agent)}; there are: {', '.join(NAMES)}, command, replay:FILE",
        hint=f"any program can be the agent, {_COMMAND_HINT}",
    )


def adapter_of(name: str) -> "Adapter":
    """One module for each, named like it."""
    module = import_module(f"untilproven.agents.{name}")
    adapter: Adapter = getattr(module, name.capitalize())()
    return adapter
