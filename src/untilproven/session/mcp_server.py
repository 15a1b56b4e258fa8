"""`ralph mcp`: the tools, served over stdin and stdout to whatever agent speaks the Model Context Protocol."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from untilproven.errors import RalphError, UsageError
from untilproven.session import audit
from untilproven.session.above import agent_above
from untilproven.session.tools import Told, Tools
from untilproven.store.layout import Project

if TYPE_CHECKING:
    from mcp.server import MCPServer

_INSTRUCTIONS = """\
Work in a loop until the task is proven done. Call ralph_start with the task (and, if you know it, the command that
proves it). Work. When you stop for any reason, call ralph_report; it tells you how to go on. When you believe that
everything is done, call ralph_complete with evidence for every requirement: the checks are then run, and they decide.
Do not tell the user that the task is done before ralph_complete has answered with status completed."""


@dataclass
class Evidence:
    """What shows that one requirement is met, in words, and in which files of the project."""

    requirement: str
    evidence: str
    files: list[str] = field(default_factory=list)


def server(project: Project, version: str) -> "MCPServer":
    """Everything is ready, and nothing runs yet."""
    try:
        from mcp.server import MCPServer  # noqa: PLC0415  an extra, and slow to load
    except ImportError as error:
        raise UsageError(
            "`ralph mcp` needs the package mcp, which is not installed",
            hint="pip install 'untilproven[mcp]', or: uvx --from 'untilproven[mcp]' ralph mcp",
        ) from error
    made: MCPServer = MCPServer("untilproven", instructions=_INSTRUCTIONS, version=version, log_level="WARNING")
    _add(made, Tools(project, agent_above()))
    return made


def _add(made: "MCPServer", tools: Tools) -> None:
    @made.tool()
    async def ralph_start(
        task: str, until: list[str] | None = None, max_iterations: int | None = None, trust_promise: bool = False
    ) -> dict[str, Any]:
        """Start a loop for TASK. `until` are commands that prove it when they pass; where none is given, the project's
        own tests are looked for. Returns the loop's id, the requirements to bring evidence for, and what to do."""
        return await _answered(
            partial(tools.start, task, until, max_iterations, trust_promise=trust_promise),
        )

    @made.tool()
    async def ralph_report(loop: str, summary: str) -> dict[str, Any]:
        """Report that an iteration is over and the work is not done yet. Returns how to go on."""
        return await _answered(partial(tools.report, loop, summary))

    @made.tool()
    async def ralph_complete(loop: str, summary: str, audit: list[Evidence]) -> dict[str, Any]:
        """Say that the work is done, with evidence for every requirement of the loop: what was run and what it said,
        which files show it. The checks are then run and decide; status `completed` means that they agree."""
        return await _answered(partial(tools.complete, loop, summary, [_shown(one) for one in audit]))

    @made.tool()
    async def ralph_show(loop: str) -> dict[str, Any]:
        """How a loop stands."""
        return await _answered(partial(tools.look, loop))

    @made.tool()
    async def ralph_cancel(loop: str) -> dict[str, Any]:
        """End a loop without completing it: the user wants that, or it cannot be done."""
        return await _answered(partial(tools.cancel, loop))


def _shown(one: Evidence) -> audit.Shown:
    return audit.Shown(requirement=one.requirement, evidence=one.evidence, files=tuple(one.files))


async def _answered(call: Callable[[], Told]) -> dict[str, Any]:
    """Checks take their time, and nobody else is kept waiting meanwhile; what is refused is told, not thrown."""
    import anyio  # noqa: PLC0415  comes with mcp
    import msgspec  # noqa: PLC0415  loaded already

    try:
        told: dict[str, Any] = msgspec.to_builtins(await anyio.to_thread.run_sync(call))
    except RalphError as error:
        return {"error": error.message, "hint": error.hint}
    return told
