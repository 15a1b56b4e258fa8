"""`ralph task import`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untilproven.cli import here, output
from untilproven.config import trust
from untilproven.store import clock
from untilproven.store.tasks import book_of

if TYPE_CHECKING:
    from untilproven.queue.importing import Intake
    from untilproven.queue.reading import Source

_SHOWN = 10


@click.command("import", short_help="take over the tasks of another tool's file")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--format", "format_name", default="", metavar="NAME", help="what the file is, if it cannot be told")
@click.option("--dry-run", is_flag=True, help="only say what would be done")
@click.option("--json", "as_json", is_flag=True, help="print what was done as JSON")
def import_tasks(file: Path, *, format_name: str, dry_run: bool, as_json: bool) -> None:
    """Take over the tasks of FILE, or of all lists of tasks in a directory: prd.json, PRD.md and other checklists,
    ralphy's tasks.yaml and tasks.json, docs/plans/*.md, .ralph/, .agents/tasks/, .autoloop/tasks.jsonl,
    .claude/ralph-loop.local.md.

    Doing it again adds nothing twice, and brings what has changed in the file. What the file calls done is pending
    here until it is proven. Commands that it names become checks, which are not run before `ralph trust`.
    """
    from untilproven.queue import importing, reading  # noqa: PLC0415  the formats are needed by nothing else here

    project = here.project()
    book = book_of(project)
    # All are read before the first is written: a mistake in one of them leaves everything as it was.
    sources = reading.load(project.root, file, format_name)
    taken: list[tuple[Source, Intake]] = []
    for source in sources:
        if dry_run:
            taken.append((source, importing.planned(source, book.read().by_id, clock.now())))
        else:
            taken.append((source, importing.take(book, source)))
    lines = [line for _, intake in taken for line in intake.commands]
    untrusted = trust.untrusted_commands(project.root, lines)
    if as_json:
        files = [_as_plain(source, intake) for source, intake in taken]
        output.emit_json({"files": files, "dryRun": dry_run, "untrustedCommands": untrusted})
        return
    for source, intake in taken:
        _tell(source, intake, dry_run=dry_run)
    _tell_of_commands(untrusted)


def _as_plain(source: "Source", intake: "Intake") -> dict[str, Any]:
    return {
        "file": source.path,
        "format": source.format,
        "created": [{"id": task.id, "title": task.title, "externalId": task.external_id} for task in intake.created],
        "updated": [{"id": update.id, "changes": update.changes} for update in intake.updated],
        "unchanged": intake.unchanged,
        "claimed": intake.claimed,
        "warnings": intake.warnings,
    }


def _tell(source: "Source", intake: "Intake", *, dry_run: bool) -> None:
    for task in intake.created:
        output.line(output.printable(f"new      {task.id}  {task.title}"))
    for update in intake.updated:
        said = ", ".join(key for key in update.changes if key != "source")
        output.line(output.printable(f"changed  {update.id}  {said}"))
    counts = f"{len(intake.created)} new, {len(intake.updated)} changed, {intake.unchanged} as before"
    output.note(f"{source.path} ({source.format}): {counts}" + ("; nothing was written" if dry_run else ""))
    if intake.claimed:
        output.note(
            f"  it says that {_listed(intake.claimed)} {'is' if len(intake.claimed) == 1 else 'are'} done: that is a "
            "claim, and pending here until it is proven (or `ralph task done ID` says it in your name)"
        )
    for warning in intake.warnings[:_SHOWN]:
        output.warn(warning)
    if len(intake.warnings) > _SHOWN:
        output.warn(f"and {len(intake.warnings) - _SHOWN} more; --json has all of them")


def _tell_of_commands(untrusted: list[str]) -> None:
    for line in untrusted[:_SHOWN]:
        output.warn(f"not run before you trust it: {line}")
    if len(untrusted) > _SHOWN:
        output.warn(f"and {len(untrusted) - _SHOWN} commands more")
    if untrusted:
        output.note("  to look at what they would run and allow it: ralph trust")


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
