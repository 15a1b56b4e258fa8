"""`ralph status`."""

from typing import TYPE_CHECKING, Any

import click

from untilproven.cli import here, output
from untilproven.cli.completion import complete_loop
from untilproven.errors import UsageError
from untilproven.model.registry import MAX_CONCURRENT_LOOPS, communication_paths
from untilproven.store.layout import StateDirectory
from untilproven.watch import loops

if TYPE_CHECKING:
    from untilproven.store.lifecycle import StaleLoop

_START = """\
Nothing is running here. To begin:
  ralph doctor    what this machine can do
  ralph init      write a ralph.toml to start from
  ralph --help    everyday verbs
"""


@click.command("status", short_help="what is running, and how far it is")
@click.argument("loop", required=False, shell_complete=complete_loop)
@click.option("--all", "every", is_flag=True, help="also loops that ended, were put away, or are not registered")
@click.option("--check-stale", is_flag=True, help="find loops whose process is gone, and mark them crashed")
@click.option("--cleanup", is_flag=True, help="with --check-stale: free the slots of crashed loops")
@click.option("--brief", is_flag=True, hidden=True)
@click.option("--json", "as_json", is_flag=True, help="print it as JSON")
def command(loop: str | None, *, every: bool, check_stale: bool, cleanup: bool, brief: bool, as_json: bool) -> int:
    """Show the active loops of this project, or all about one LOOP.

    Exits with 1 when a stored file is damaged; what could be read is still shown.
    """
    if cleanup and not check_stale:
        raise UsageError("--cleanup goes with --check-stale", hint="ralph status --check-stale --cleanup")
    if loop and (every or check_stale):
        raise UsageError("name one LOOP, or ask for all of them")
    state = here.project().state
    if loop:
        return _one(state, loop, as_json=as_json)
    return _several(state, every=every, check_stale=check_stale, cleanup=cleanup, brief=brief, as_json=as_json)


def _one(state: StateDirectory, loop_id: str, *, as_json: bool) -> int:
    found = loops.one(state, loop_id)
    if as_json:
        output.emit_json(found.as_json())
    else:
        for label, text in found.lines():
            click.echo(f"{label:<12}{output.printable(text)}")
    for line in found.damage:
        output.warn(line)
    return 1 if found.damage else 0


def _stale(state: StateDirectory, *, cleanup: bool) -> "list[StaleLoop]":
    from untilproven.store.lifecycle import check_stale_loops  # noqa: PLC0415  only to look must be quick

    return check_stale_loops(state, cleanup=cleanup) if state.exists() else []


def _several(
    state: StateDirectory, *, every: bool, check_stale: bool, cleanup: bool, brief: bool, as_json: bool
) -> int:
    stale = _stale(state, cleanup=cleanup) if check_stale else []
    found = loops.overview(state, every=every)
    used = found.slots_used
    if as_json:
        document: dict[str, Any] = {
            "loops": [row.as_json() for row in found.rows],
            "max_concurrent_loops": MAX_CONCURRENT_LOOPS,
            "slots_used": used,
            "free_slots": MAX_CONCURRENT_LOOPS - used,
            "communication_paths": communication_paths(used),
            "damage": list(found.damage),
        }
        if check_stale:
            document["stale"] = [{"loop_id": loop.loop_id, "removed": loop.removed} for loop in stale]
        output.emit_json(document)
        return 1 if found.damage else 0
    for loop in stale:
        freed = "its slot is free" if loop.removed else "free its slot with --cleanup"
        output.note(f"{loop.loop_id} has crashed; {freed}, or carry on with `ralph resume {loop.loop_id}`")
    if check_stale and not stale:
        output.note("no loop has crashed")
    if found.rows:
        output.table(loops.HEAD, [row.cells() for row in found.rows])
        output.note(
            f"{used} of {MAX_CONCURRENT_LOOPS} slots used, {MAX_CONCURRENT_LOOPS - used} free; "
            f"communication paths between them: {communication_paths(used)}"
        )
    elif brief:
        click.echo(_START, nl=False)
    else:
        output.note("no loop is active here" if not every else "there are no loops here")
    for line in found.damage:
        output.warn(line)
    return 1 if found.damage else 0
