"""`ralph resume LOOP`."""

import click
from msgspec import UnsetType

from untilproven.cli import flags, here, output, running
from untilproven.cli.completion import complete_loop
from untilproven.config import layers
from untilproven.model.plan import Allowance
from untilproven.model.settings import BY_KEY
from untilproven.model.state import LoopConfiguration
from untilproven.runtime import planning, starting
from untilproven.store import reader
from untilproven.store.layout import Project
from untilproven.store.reader import LoopView
from untilproven.store.writer import LoopWriter

LIMITS = ("max_iterations", "timeout", "iteration_timeout", "idle_timeout", "max_cost", "max_tokens")
ALLOWED = ("allow_unknown_cost", "allow_test_edits", "allow_dependency_changes")


@click.command("resume", short_help="go on with a loop that stopped")
@click.argument("loop", shell_complete=complete_loop)
@flags.settings_flags(BY_KEY[key] for key in (*LIMITS, *ALLOWED, "interactive"))
@click.option("--from", "state", metavar="N|best|start", help="first bring the tree back to an iteration of the loop's")
@click.option("--detach", is_flag=True, help="go on in the background; `ralph attach LOOP` looks on")
@click.option("--json", "as_json", is_flag=True, help="print events as JSON lines")
@click.option("-v", "--verbose", is_flag=True, help="also show what the agent says")
@click.option("-q", "--quiet", is_flag=True, help="show only how it ends")
def command(loop: str, *, state: str | None, detach: bool, as_json: bool, verbose: bool, quiet: bool) -> int:
    """Go on with LOOP where it stopped: paused, killed, failed or aborted.

    A paused loop, and one whose process was killed, goes on in place. One that has ended is continued by a new loop
    that keeps its history and what it has spent. What is given here replaces the loop's own limits and permissions.
    """
    project = here.project()
    given = flags.given()
    settings = layers.load(project.root, given)
    if settings.interactive:
        from untilproven.cli.attending import refuse_without_a_terminal  # noqa: PLC0415  most loops are not attended

        refuse_without_a_terminal(settings.origin("interactive"), detach=detach, as_json=as_json)
    if state:
        from untilproven.cli import restore  # noqa: PLC0415  most go on from where they are
        from untilproven.runtime.restoring import bring_back  # noqa: PLC0415

        target, done = bring_back(project, reader.resolve(project.state, loop), state)
        if not as_json:
            restore.tell(done, target)
        if done.conflicts:
            return 1

    seen = reader.resolve(project.state, loop)
    if seen.state.plan and seen.state.plan.session:
        return _in_session(project, seen, planning.raised(seen.state, settings, given), as_json=as_json)

    def begin() -> LoopWriter:
        seen = reader.resolve(project.state, loop).state
        raised, configuration = planning.raised(seen, settings, given)
        return starting.take_up(project, loop, allowance=raised, configuration=configuration)

    view = running.View(as_json=as_json, verbose=verbose, quiet=quiet, interactive=settings.interactive)
    return running.start(project, begin, view, detach=detach)


def _in_session(
    project: Project, seen: LoopView, raised: tuple[Allowance | UnsetType, LoopConfiguration | None], *, as_json: bool
) -> int:
    from untilproven.session.resuming import resume  # noqa: PLC0415  most loops run by themselves

    state = resume(project, seen, allowance=raised[0], configuration=raised[1])
    if as_json:
        output.emit_json({"loop_id": state.loop_id, "status": state.status})
    else:
        output.line(f"{state.loop_id} is {state.status}: it goes on in its session, when the agent there stops next")
    return 0
