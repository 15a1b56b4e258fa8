"""`ralph status`."""

import click

from untilproven.cli import here, output, overview
from untilproven.cli.completion import complete_loop
from untilproven.errors import UsageError
from untilproven.store.layout import StateDirectory
from untilproven.watch import loops


@click.command("status", short_help="what is running, and how far it is")
@click.argument("loop", required=False, shell_complete=complete_loop)
@click.option("--all", "every", is_flag=True, help="also loops that ended, were put away, or are not registered")
@click.option("--check-stale", is_flag=True, help="find loops whose process is gone, and mark them crashed")
@click.option("--cleanup", is_flag=True, help="with --check-stale: free the slots of crashed loops")
@click.option("--watch", "watching", is_flag=True, help="look again every second, until Ctrl-C")
@click.option("--json", "as_json", is_flag=True, help="print it as JSON")
def command(loop: str | None, *, every: bool, check_stale: bool, cleanup: bool, watching: bool, as_json: bool) -> int:
    """Show the active loops of this project, or all about one LOOP.

    Exits with 1 when a stored file is damaged; what could be read is still shown.
    """
    if cleanup and not check_stale:
        raise UsageError("--cleanup goes with --check-stale", hint="ralph status --check-stale --cleanup")
    if loop and (every or check_stale):
        raise UsageError("name one LOOP, or ask for all of them")
    if watching and check_stale:
        raise UsageError("--watch only looks", hint="ralph status --check-stale, then ralph status --watch")
    state = here.project().state
    if watching:
        from untilproven.cli.watching import watch  # noqa: PLC0415  only to look once must be quick

        if loop:
            loops.one(state, loop)
            return watch(lambda: _one(state, loop, as_json=as_json))
        return watch(lambda: overview.show(state, every=every, as_json=as_json))
    if loop:
        return _one(state, loop, as_json=as_json)
    stale = None
    if check_stale:
        from untilproven.store.survey import check_stale_loops  # noqa: PLC0415  only to look must be quick

        stale = check_stale_loops(state, cleanup=cleanup) if state.exists() else []
    return overview.show(state, every=every, stale=stale, as_json=as_json)


def _one(state: StateDirectory, loop_id: str, *, as_json: bool) -> int:
    found = loops.one(state, loop_id)
    if as_json:
        output.emit_json(found.as_json())
    else:
        for label, text in found.lines():
            output.line(f"{label:<12}{output.printable(text)}")
        for text in found.damage:
            output.warn(text)
    return 1 if found.damage else 0
