"""`ralph restore LOOP N|best|start`."""

import click

from untilproven.cli import here, output
from untilproven.cli.completion import complete_loop
from untilproven.contract import Conflict
from untilproven.core.text import text
from untilproven.runtime.restoring import bring_back
from untilproven.store import reader
from untilproven.store.reader import LoopView
from untilproven.workspace.snapshots.restoring import Restored


@click.command("restore", short_help="bring the tree back to the start, or to an iteration")
@click.argument("loop", shell_complete=complete_loop)
@click.argument("state", metavar="N|best|start|end")
@click.option("--dry-run", is_flag=True, help="say what would change, and change nothing")
@click.option("--json", "as_json", is_flag=True, help="print what changed as JSON")
def command(loop: str, state: str, *, dry_run: bool, as_json: bool) -> int:
    """Bring every file that LOOP has changed back to what it was at its start, or after iteration N.

    A discarded iteration can be brought back too. What you changed yourself since then stays, and is listed; the exit
    code is then 1. `ralph restore LOOP end` undoes it.
    """
    project = here.project()
    view = reader.resolve(project.state, loop)
    target, done = bring_back(project, view, state, dry_run=dry_run)
    if as_json:
        output.emit_json(_as_json(view, target, done, dry_run=dry_run))
    else:
        tell(done, target, dry_run=dry_run)
    return 1 if done.conflicts else 0


def tell(done: Restored, target: str, *, dry_run: bool = False) -> None:
    """Every path that is other than it was, and what stays as the user has it."""
    for path, change in done.changed.items():
        output.line(f"{change:<9} {_shown(path)}")
    for conflict in done.conflicts:
        output.warn(_yours_stays(conflict))
    where = f"iteration {target}" if target.isdigit() else f"the {target}"
    if not done.changed and not done.conflicts:
        output.note(f"already there: nothing differs from {where}")
    else:
        verb = "would change" if dry_run else "changed"
        output.note(f"{_count(len(done.changed), 'path')} {verb}, back to {where}")
    if done.conflicts:
        output.note(f"{_count(len(done.conflicts), 'path')} left as you have changed it since")


def _yours_stays(conflict: Conflict) -> str:
    aside = f"; the other version is in {conflict.aside}" if conflict.aside else ""
    return f"{_shown(conflict.path)}: changed by you, so it stays{aside}"


def _shown(path: str) -> str:
    return output.printable(path).replace("\n", "?")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _as_json(view: LoopView, target: str, done: Restored, *, dry_run: bool) -> dict[str, object]:
    return {
        "loop_id": view.state.loop_id,
        "target": int(target) if target.isdigit() else target,
        "dry_run": dry_run,
        "changes": [{"path": text(path), "change": change} for path, change in done.changed.items()],
        "conflicts": [
            {"path": text(one.path), "wanted": one.wanted, **({"aside": text(str(one.aside))} if one.aside else {})}
            for one in done.conflicts
        ],
    }
