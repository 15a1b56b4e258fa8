"""`ralph report LOOP`, `ralph report --all`."""

from pathlib import Path

import click

from untilproven.cli import here, output
from untilproven.cli.completion import complete_loop
from untilproven.core.text import text
from untilproven.errors import Foreign, UsageError
from untilproven.guard.marks import Marks
from untilproven.model import wire
from untilproven.store import clock
from untilproven.store.layout import Project
from untilproven.watch import loops
from untilproven.watch.follow import newest_loop
from untilproven.watch.report import across, material, writing


@click.command("report", short_help="write a report of a loop")
@click.argument("loop", required=False, shell_complete=complete_loop)
@click.option("--all", "every", is_flag=True, help="over all your loops of this project, and not of one")
@click.option(
    "--output",
    "chosen",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="where to write it, instead of beside the loop's other files",
)
@click.option("--json", "as_json", is_flag=True, help="print the numbers as JSON, not where they were written")
def command(loop: str | None, *, every: bool, chosen: Path | None, as_json: bool) -> int:
    """Write what LOOP, or the newest one, amounts to: analytics.json, report.md, and report.html with plots.

    Exits with 1 when something could not be read; the report is then about the rest.
    """
    project = here.project()
    if every and loop:
        raise UsageError("say which loop, or --all, and not both", hint="ralph report --all")
    return _all(project, chosen, as_json=as_json) if every else _one(project, loop, chosen, as_json=as_json)


def _one(project: Project, loop: str | None, chosen: Path | None, *, as_json: bool) -> int:
    found = loops.one(project.state, loop or newest_loop(project.state), exact=True)
    view = found.row.view
    if view.foreign and chosen is None:
        raise Foreign(
            f"{view.state.loop_id} was not started by you on this machine; nothing is written beside it",
            hint=f"say where: ralph report {view.state.loop_id} --output DIR",
        )
    now = clock.now()
    marks = {name: mark.verdict for name, mark in Marks(project.root).valid(now).items()}
    made = material.gathered(found, marks, now)
    paths = writing.of_loop(view.directory, made, chosen)
    return _told(paths, made.analytics, made.damage, as_json=as_json)


def _all(project: Project, chosen: Path | None, *, as_json: bool) -> int:
    summary, damage = across.gathered(project.state, clock.now())
    if not summary.total_loops_run:
        raise UsageError("no loop of yours has run here", hint='start one: ralph "what is to be done"')
    paths = writing.of_all(project.state, summary, chosen)
    return _told(paths, summary, damage, as_json=as_json)


def _told(paths: list[Path], record: wire.Record, damage: list[str] | tuple[str, ...], *, as_json: bool) -> int:
    if as_json:
        output.emit_json(wire.to_builtins(record))
    else:
        for path in paths:
            output.line(text(str(path)))
    for one in damage:
        output.warn(one)
    return 1 if damage else 0
