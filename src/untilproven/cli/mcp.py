"""`ralph mcp`."""

import click

from untilproven import __version__
from untilproven.cli import here


@click.command("mcp", short_help="a loop for agents without hooks, as tools")
def command() -> int:
    """Serve tools to an agent that speaks the Model Context Protocol, over stdin and stdout.

    ralph_start, ralph_report, ralph_complete, ralph_show and ralph_cancel: a loop for agents that have no hooks. A
    completion needs evidence for every requirement, and then the checks decide. Needs the extra: untilproven[mcp].
    """
    from untilproven.session.mcp_server import server  # noqa: PLC0415  loads all that checks need

    server(here.project(), __version__).run("stdio")
    return 0
