"""`ralph install`."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from untilproven.cli import here, output
from untilproven.errors import UsageError

if TYPE_CHECKING:
    from untilproven.session.plugins.installing import Change, Plan

AGENTS = ("claude", "codex", "gemini", "qwen", "opencode")


@click.command("install", short_help="bring the loop into an agent's own sessions")
@click.argument("agent", type=click.Choice(AGENTS))
@click.option("--user", "scope", flag_value="user", default="user", help="for every project of yours (the default)")
@click.option("--project", "scope", flag_value="project", help="for this project, and all who work on it")
@click.option("--uninstall", is_flag=True, help="take it out again; settings become what they were")
@click.option("--dry-run", is_flag=True, help="show what would change, and change nothing")
@click.option("--plugin-dir", is_flag=True, help="print where the plugin's files are, for `claude --plugin-dir`")
def command(agent: str, scope: str, *, uninstall: bool, dry_run: bool, plugin_dir: bool) -> None:
    """Bring /ralph into the sessions of an agent: it then works until the work is proven, or you cancel it.

    Settings that are there are added to and never replaced, and --uninstall puts them back as they were.
    """
    from untilproven.session.plugins import installing, known, record  # noqa: PLC0415  help needs none of it

    if plugin_dir:
        if agent != "claude":
            raise UsageError(f"{agent} takes no directory of a plugin", hint=f"install it: ralph install {agent}")
        output.line(str(known.directory(agent)))
        return
    project = scope == "project"
    root = here.project().root if project else known.home(agent)
    target = known.Target(root, project, _ralph())
    kind = known.KINDS[agent]
    remembered = record.load(agent, root)
    look = installing.to_uninstall if uninstall else installing.to_install
    plan = look(kind.pieces(target), root, remembered, inside=project)
    if dry_run:
        _show(plan)
        return
    installing.carry_out(plan, agent, root, installing=not uninstall)
    _tell(plan)
    if uninstall:
        output.note(f"ralph is no longer in {agent}" if _changed(plan) else f"ralph was not in {agent}")
        return
    _next(agent, kind.next, project=project)


def _ralph() -> tuple[str, ...]:
    """The words that start this very program, wherever an agent is started."""
    beside = Path(sys.executable).with_name("ralph")
    if os.access(beside, os.X_OK):
        return (str(beside),)
    found = shutil.which("ralph")
    return (os.path.abspath(found),) if found else (sys.executable, "-P", "-m", "untilproven")  # noqa: PTH100


def _changed(plan: "Plan") -> list["Change"]:
    return [change for change in plan.changes if change.now != change.then]


def _tell(plan: "Plan") -> None:
    for change in plan.changes:
        if change.note:
            output.note(f"left {change.path}: {change.note}")
        elif change.then is None and change.now is not None:
            output.note(f"removed {change.path}")
        elif change.now != change.then:
            output.note(f"{'wrote' if change.now is None else 'changed'} {change.path}")


def _next(agent: str, then: str, *, project: bool) -> None:
    output.note(f'in {agent}: /ralph "fix the failing tests" --until "npm test"   (then /cancel-ralph, /ralph-status)')
    output.note(then)
    if project:
        output.note("who has no ralph on the PATH is not disturbed by it; commit these files to share them")
        if not shutil.which("ralph"):
            output.warn("there is no `ralph` on your PATH, so the hooks will do nothing; `--user` needs none there")


def _show(plan: "Plan") -> None:
    from difflib import unified_diff  # noqa: PLC0415  only a dry run needs it

    for change in plan.changes:
        now, then = ((data or b"").decode("utf-8", "replace").splitlines() for data in (change.now, change.then))
        here_now, here_then = (str(change.path) if data is not None else "/dev/null" for data in change[1:3])
        for text in unified_diff(now, then, here_now, here_then, lineterm=""):
            output.line(output.printable(text))
        if change.note:
            output.note(f"left {change.path}: {change.note}")
    if not _changed(plan):
        output.note("nothing would change")
