"""`ralph trust`."""

import sys
from pathlib import Path

import click

from untilproven.cli import here, output
from untilproven.config import trust
from untilproven.config.layers import load
from untilproven.config.settings import Ask
from untilproven.config.sources import PROJECT_FILE, PYPROJECT
from untilproven.config.values import to_plain, to_toml
from untilproven.core.picking import CLOSED
from untilproven.core.tasks import commands as commands_of
from untilproven.errors import UsageError
from untilproven.model.task import Task
from untilproven.store.layout import Project
from untilproven.store.tasks import book_of


@click.command("trust", short_help="allow this project's settings and tasks to run commands")
@click.option("--yes", is_flag=True, help="allow without asking")
@click.option("--revoke", is_flag=True, help="take back what was allowed to this project")
@click.option("--json", "as_json", is_flag=True, help="print what was allowed as JSON; needs --yes or --revoke")
def command(*, yes: bool, revoke: bool, as_json: bool) -> int:
    """Show what this project's settings and tasks would be allowed to do, and allow it.

    Exactly what is shown is allowed: when one of these settings or commands changes, ralph asks again.
    """
    project = here.project()
    root = project.root
    if revoke:
        if yes:
            raise UsageError("--yes allows and --revoke takes back", hint="give one of the two")
        return _revoke(root, as_json=as_json)
    book = book_of(project)
    commands = _commands(root, book.read().by_id)
    return _allow(root, load(root).ask, book.path, commands, yes=yes, as_json=as_json)


def _commands(root: Path, tasks: dict[str, Task]) -> dict[str, str]:
    """The commands of open tasks that are not trusted yet, each with the first task that has it."""
    found: dict[str, str] = {}
    for task in tasks.values():
        for line in commands_of(task) if task.status not in CLOSED else ():
            found.setdefault(line, task.id)
    return {line: found[line] for line in trust.commands_not_granted(root, found)}


def _allow(root: Path, ask: Ask | None, tasks: Path, commands: dict[str, str], *, yes: bool, as_json: bool) -> int:
    already = ask is None or trust.is_granted(ask)
    asking = [str(path) for path, asks in ((ask.file if ask else root, not already), (tasks, commands)) if asks]
    if not as_json:
        _show(ask, already=already, nothing_else=not commands)
        _show_commands(tasks, commands)
    if asking:
        if not yes and not _agreed(" and ".join(asking), as_json=as_json):
            output.note("nothing was allowed")
            return 1
        if ask and not already:
            trust.grant(ask)
        trust.trust_commands(root, commands)
    if as_json:
        output.emit_json({**_as_json(ask), "commands": [*commands]})
    elif asking:
        output.note(f"allowed; to take it back: ralph trust --revoke  ({', '.join(asking)})")
    return 0


def _show_commands(tasks: Path, commands: dict[str, str]) -> None:
    if commands:
        click.echo(f"{output.printable(str(tasks))} asks to be trusted with these commands:")
    for line, task_id in commands.items():
        click.echo(f"  {task_id}: {to_toml(line)}")


def _show(ask: Ask | None, *, already: bool, nothing_else: bool) -> None:
    if ask is None:
        if nothing_else:
            output.note(
                "nothing to trust: this project's settings run no command and weaken no protection, "
                "and its tasks run none that you have not allowed"
            )
        return
    click.echo(f"{output.printable(str(ask.file))} {'is trusted with' if already else 'asks to be trusted with'}:")
    for setting in ask.settings:
        line = setting.origin.where.rpartition(":")[2]
        click.echo(f"  line {line}: {setting.key} = {to_toml(setting.value)}")


def _agreed(asking: str, *, as_json: bool) -> bool:
    if as_json or not sys.stdin.isatty():
        raise UsageError(
            f"nobody is here to ask, so nothing in {asking} was trusted",
            hint="allow it: ralph trust --yes (or for one call: RALPH_TRUST=1)",
        )
    return click.confirm("Allow this?", err=True)


def _as_json(ask: Ask | None) -> dict[str, object]:
    if ask is None:
        return {"file": None, "trusted": {}}
    return {
        "file": str(ask.file),
        "trusted": {setting.key: to_plain(setting.value) for setting in ask.settings},
    }


def _revoke(root: Path, *, as_json: bool) -> int:
    gone = trust.revoke([root / PROJECT_FILE, root / PYPROJECT])
    if trust.revoke_commands(root):
        gone.append(book_of(Project(root, root)).path)
    if as_json:
        output.emit_json({"revoked": [str(path) for path in gone]})
    elif not gone:
        output.note("nothing to take back: no settings or tasks of this project are trusted")
    for path in gone if not as_json else ():
        output.note(f"{path} is no longer trusted")
    return 0
