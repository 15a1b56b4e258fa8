"""`ralph hook EVENT`, for its help; `hooking` does the work without what this loads."""

import click

from untilproven.cli import hooking


@click.command(
    "hook",
    short_help="what the plugins in an agent's session call",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("event", type=click.Choice(hooking.EVENTS))
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def command(event: str, words: tuple[str, ...]) -> int:
    """Deal with one EVENT of an agent's session: JSON on stdin, the agent's own JSON on stdout.

    \b
    stop --agent NAME                       the agent wants to stop
    prompt --agent NAME                     the user has said something
    idle|error|deleted --agent opencode     the same for a plugin
    start --agent NAME --session ID -- "task" [--until CMD] [--max-iterations N]
    cancel|status --agent NAME --session ID

    Exits with 0 whatever happens: what is broken on our side never keeps an agent from stopping.
    """
    return hooking.run([event, *words])
