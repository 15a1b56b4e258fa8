"""From words to a verb's module, and from whatever went wrong to an exit code."""

import gc
import importlib
import os
import sys
from typing import TYPE_CHECKING

import click

from untilproven.cli import output, verbs
from untilproven.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Verbs(click.Group):
    """Imports a verb's module only when that verb is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return sorted(verbs.ALL)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's signature
        if cmd_name not in verbs.ALL:
            return None
        command = importlib.import_module(f"untilproven.cli.{cmd_name}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"untilproven.cli.{cmd_name}.command is not a command")
        if cmd_name not in verbs.LOAD_MORE:
            gc.enable()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in verbs.ALL and not args[0].startswith("-"):
            from difflib import get_close_matches  # noqa: PLC0415  only a mistake needs it

            near = get_close_matches(args[0], verbs.ALL, n=1)
            hint = f"did you mean `ralph {near[0]}`?" if near else "`ralph help all` lists the verbs"
            raise UsageError(f"there is no verb {output.quoted(args[0])}", hint=hint)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[str]]":
        """The verbs, from their summaries: a TAB imports none of them."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  only a TAB needs it

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        found = [CompletionItem(name, help=verbs.ALL[name]) for name in names]
        return found + click.Command.shell_complete(self, ctx, incomplete)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def ralph() -> None:
    """Runs a coding agent again and again until the work is proven done."""


def dispatch(argv: list[str]) -> int:
    """Run a verb and return its exit code; a mistake in its words is a UsageError."""
    if os.environ.get("_RALPH_COMPLETE"):
        from untilproven.cli.completion import answer  # noqa: PLC0415  only a TAB needs it

        return answer(ralph)
    if argv and (" " in argv[0].strip() or argv[0].partition("=")[0] == "--loop-id"):
        argv = ["run", *argv]  # source 004: a task in words needs no verb
    try:
        result = ralph.main(args=argv, prog_name="ralph", standalone_mode=False, color=output.wants_color(sys.stdout))
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        context = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "ralph"
        raise UsageError(error.format_message(), hint=f"see `{context} --help`") from error
    return result if isinstance(result, int) else 0
