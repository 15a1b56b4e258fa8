"""`ralph completion SHELL`, and what the shell is told when TAB is pressed."""

import contextlib
import os
import sys

import click

from untilproven.cli import here, output

# Both programs are one; a single variable means that either understands the other's script.
VARIABLE = "_RALPH_COMPLETE"
_PROGRAMS = ("ralph", "untilproven")
_INSTALL = {
    "bash": "put this line in ~/.bashrc:  source <(ralph completion bash)",
    "zsh": "put this line in ~/.zshrc, after compinit:  source <(ralph completion zsh)",
    "fish": "put this line in ~/.config/fish/config.fish:  ralph completion fish | source",
}


@click.command("completion", short_help="print a completion script for your shell")
@click.argument("shell", type=click.Choice(list(_INSTALL)))
def command(shell: str) -> None:
    """Print the completion script for SHELL."""
    click.echo("\n".join(_script(shell, program) for program in _PROGRAMS), nl=False)
    # A shell that reads the script at every start has its stderr on the terminal too.
    if sys.stdout.isatty() and sys.stderr.isatty():
        output.note(_INSTALL[shell])


def _script(shell: str, program: str) -> str:
    from click.shell_completion import ShellComplete, get_completion_class  # noqa: PLC0415  every verb imports us

    shells = get_completion_class(shell)
    if shells is None:
        raise LookupError(f"click knows no {shell}")
    # The base class's `source`, because bash's runs the first `bash` on PATH, which may be the project's.
    return ShellComplete.source(shells(click.Command(program), {}, program, VARIABLE))


def answer(group: click.Group) -> int:
    """What the shell asks through the environment. Silent when it fails: the user is in the middle of a line."""
    from click.shell_completion import get_completion_class  # noqa: PLC0415  every verb imports us

    shells = get_completion_class(os.environ[VARIABLE].removesuffix("_complete"))
    if shells is None:
        return 1
    try:
        click.echo(shells(group, {}, "ralph", VARIABLE).complete())
    except Exception:  # noqa: BLE001  a TAB must not print a traceback
        return 1
    return 0


def complete_loop(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The ids of this project's loops, for a verb's LOOP."""
    found: list[str] = []
    with contextlib.suppress(Exception):  # a TAB must not print a traceback
        state = here.project().state
        if state.exists():
            found = [loop.loop_id for loop in state.all_loops() if loop.loop_id.startswith(incomplete)]
    return found
