"""`ralph archive`."""

import click

from untilproven.cli import here, output
from untilproven.cli.completion import complete_loop
from untilproven.errors import UsageError
from untilproven.store.archive import archive_loop, ended_loops
from untilproven.workspace.snapshots.retention import prune


@click.command("archive", short_help="put ended loops away")
@click.argument("loops", nargs=-1, shell_complete=complete_loop)
@click.option("--all", "every", is_flag=True, help="all that ended; crashed loops stay, they may be continued")
@click.option("--json", "as_json", is_flag=True, help="print what was moved as JSON")
def command(loops: tuple[str, ...], *, every: bool, as_json: bool) -> None:
    """Move LOOPS that have ended to .aiwg/ralph/archive/. `ralph status LOOP` still finds them.

    What their discarded iterations did can no longer be brought back then; the start and what was kept can.
    """
    project = here.project()
    state = project.state
    if bool(loops) == every:
        raise UsageError("name the loops to put away, or say --all", hint="`ralph status --all` lists them")
    names = ended_loops(state) if every else loops
    moved = [archive_loop(state, name) for name in names]
    pruned = [prune(project.root, loop.loop_id) for loop in moved]
    if as_json:
        told = [
            {"loop_id": loop.loop_id, "path": str(loop.path)}
            | ({"freed_bytes": dropped.size} if dropped.iterations else {})
            for loop, dropped in zip(moved, pruned, strict=True)
        ]
        output.emit_json({"archived": told})
    elif not moved:
        output.note("nothing to put away")
    for loop in moved if not as_json else ():
        click.echo(f"{loop.loop_id} -> {loop.path}")
    if any(dropped.iterations for dropped in pruned) and not as_json:
        count, size = sum(dropped.iterations for dropped in pruned), sum(dropped.size for dropped in pruned)
        output.note(f"dropped the snapshots of {count} discarded iterations: {size / 1024:.0f} KiB freed")
