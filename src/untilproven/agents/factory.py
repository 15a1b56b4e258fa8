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
    from untilproven.agents.adapter import Adapter, Asked

BUILT_IN = "api"
NAMES = ("claude", "codex", "opencode", "gemini", "qwen", "aider", BUILT_IN)
"""Agents that are known, in the order in which they are looked for."""

_REPLAY, _ACP = "replay:", "acp:"
_KIN = {
    "claude-agent-acp": "claude",
    "claude-code-acp": "claude",
    "codex-acp": "codex",
    "opencode": "opencode",
    "gemini": "gemini",
    "qwen": "qwen",
}
"""Programs that speak the Agent Client Protocol, and the agents whose settings and logins they use."""
_COMMAND_HINT = 'for example: --agent-cmd "my-agent --yes"; it gets the prompt on stdin, or where {prompt_file} stands'


def agent_of(plan: Plan, root: Path, *apart: Path) -> Agent:
    """The agent that the plan names; a cassette is read now, so that its mistakes are found before anything runs. The
    program of one that is known is in no tree: not in this one, and in none `apart` from it."""
    if "," not in plan.agent or plan.agent.startswith((_REPLAY, _ACP)):
        return _agent(plan.agent.strip(), plan, root, *apart)
    from untilproven.agents.in_turn import InTurn  # noqa: PLC0415  few loops have several

    names = [name.strip() for name in plan.agent.split(",")]
    if len(set(names)) < len(names) or not set(names) <= set(NAMES):
        raise UsageError(
            f"--agent {quoted(plan.agent)} is no list of agents",
            hint=f"each of {', '.join(NAMES)} can stand in it, once",
        )
    return InTurn([_agent(name, plan, root, *apart) for name in names])


def _agent(name: str, plan: Plan, root: Path, *apart: Path) -> Agent:
    if name == "command":
        if plan.agent_cmd is UNSET or not plan.agent_cmd.strip() or "\0" in plan.agent_cmd:
            raise UsageError("the agent `command` needs a command to run", hint=_COMMAND_HINT)
        return CommandAgent(plan.agent_cmd, plan.agent_arguments, plan.model or "")
    if name.startswith(_REPLAY) and name != _REPLAY:
        from untilproven.agents.replay import ReplayAgent  # noqa: PLC0415  most loops play nothing

        path = name.removeprefix(_REPLAY).replace("{task}", plan.task_id or "")
        return ReplayAgent(root / path, strict=plan.mode == "strict")
    if name in NAMES:
        from untilproven.agents.known import KnownAgent  # noqa: PLC0415  loads all that one needs

        return KnownAgent(adapter_of(name, plan.model or ""), _asked(plan), root, *apart)
    if name.startswith(_ACP):
        from untilproven.agents.acp import AcpAgent, words_of  # noqa: PLC0415  the same

        command = name.removeprefix(_ACP)
        kin = _KIN.get(Path(words_of(command)[0]).name)
        return AcpAgent(command, adapter_of(kin) if kin else None, _asked(plan), root, *apart)
    raise UsageError(
        f"there is no agent {quoted(name)}; there are: auto, {', '.join(NAMES)}, acp:COMMAND, command, replay:FILE",
        hint=f"any program can be the agent, {_COMMAND_HINT}",
    )


def _asked(plan: Plan) -> "Asked":
    from untilproven.agents.adapter import Asked  # noqa: PLC0415  the same

    return Asked(
        model=plan.model or "",
        seeded=plan.mode == "seeded",
        arguments=plan.agent_arguments,
        users_settings=plan.agent_home == "user",
        passed=plan.env,
    )


def adapter_of(name: str, model: str = "") -> "Adapter":
    """One module for each, named like it. Who is billed for the built-in one depends on the model."""
    kind = getattr(import_module(f"untilproven.agents.{name}"), name.capitalize())
    adapter: Adapter = kind(model) if name == BUILT_IN else kind()
    return adapter
