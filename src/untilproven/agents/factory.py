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
    if "," not in plan.agent or plan.agent.startswith(_REPLAY):
        return _agent(plan.agent.strip(), plan, root)
    from untilproven.agents.in_turn import InTurn  # noqa: PLC0415  few loops have several

    names = [name.strip() for name in plan.agent.split(",")]
    if len(set(names)) < len(names) or not set(names) <= set(NAMES):
        raise UsageError(
            f"--agent {quoted(plan.agent)} is no list of agents",
            hint=f"each of {', '.join(NAMES)} can stand in it, once",
        )
    return InTurn([_agent(name, plan, root) for name in names])


def _agent(name: str, plan: Plan, root: Path) -> Agent:
    if name == "command":
        if plan.agent_cmd is UNSET or not plan.agent_cmd.strip() or "\0" in plan.agent_cmd:
            raise UsageError("the agent `command` needs a command to run", hint=_COMMAND_HINT)
        return CommandAgent(plan.agent_cmd, plan.agent_arguments, plan.model or "")
    if name.startswith(_REPLAY) and name != _REPLAY:
        from untilproven.agents.replay import ReplayAgent  # noqa: PLC0415  most loops play nothing

        return ReplayAgent(root / name.removeprefix(_REPLAY))
    if name in NAMES:
        from untilproven.agents.adapter import Asked  # noqa: PLC0415  loads all that one needs
        from untilproven.agents.known import KnownAgent  # noqa: PLC0415  the same

        return KnownAgent(adapter_of(name), Asked(model=plan.model or "", arguments=plan.agent_arguments), root)
    raise UsageError(
        f"there is no agent {quoted(name)}; there are: auto, {', '.join(NAMES)}, command, replay:FILE",
        hint=f"any program can be the agent, {_COMMAND_HINT}",
    )


def adapter_of(name: str) -> "Adapter":
    """One module for each, named like it."""
    module = import_module(f"untilproven.agents.{name}")
    adapter: Adapter = getattr(module, name.capitalize())()
    return adapter
