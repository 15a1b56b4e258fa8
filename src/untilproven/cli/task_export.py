"""`ralph task export`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untilproven.cli import here, output
from untilproven.errors import UsageError

if TYPE_CHECKING:
    from untilproven.queue.exporting import Outlet


@click.command("export", short_help="write the tasks into another tool's file")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--format", "format_name", default="", metavar="NAME", help="what to write, if it cannot be told")
@click.option("--dry-run", is_flag=True, help="only say what would be done")
@click.option("--json", "as_json", is_flag=True, help="print what was done as JSON")
def export_tasks(file: Path | None, *, format_name: str, dry_run: bool, as_json: bool) -> None:
    """Write the tasks into FILE; without one, print them in the format that --format names.

    Of a file that is there only that changes which is different here, byte for byte: entries whose tasks are proven
    done are marked so, and open tasks that are not in it are added. Nothing is marked done that is not proven.
    """
    from untilproven.queue import exporting  # noqa: PLC0415  the formats are needed by nothing else here

    project = here.project()
    if file is None:
        if not format_name:
            raise UsageError(
                "neither a file nor a format was named", hint="ralph task export prd.json, or --format prd"
            )
        outlet = exporting.printed(project, format_name)
    elif file.is_dir():
        raise UsageError(f"{file} is a directory", hint=f"name the file: ralph task export {file / 'prd.json'}")
    else:
        outlet = exporting.export(project, file, format_name, rehearse=dry_run)
    if as_json:
        output.emit_json(_as_plain(outlet, file, dry_run=dry_run))
        return
    if file is None:
        sys.stdout.write(outlet.text)
    else:
        _tell(outlet, file, dry_run=dry_run)
    if outlet.unproven:
        output.warn(f"done here without proof, and so open there: {', '.join(outlet.unproven)}")
    for warning in outlet.warnings:
        output.warn(warning)


def _as_plain(outlet: "Outlet", file: Path | None, *, dry_run: bool) -> dict[str, Any]:
    return {
        "file": str(file) if file else None,
        "format": outlet.format,
        "dryRun": dry_run,
        "added": outlet.added,
        "done": outlet.done,
        "unproven": outlet.unproven,
        "warnings": outlet.warnings,
        **({} if file else {"text": outlet.text}),
    }


def _tell(outlet: "Outlet", file: Path, *, dry_run: bool) -> None:
    for task_id in outlet.done:
        output.line(f"done   {task_id}")
    for task_id in outlet.added:
        output.line(f"added  {task_id}")
    counts = f"{len(outlet.done)} marked done, {len(outlet.added)} added"
    output.note(f"{file} ({outlet.format}): {counts}" + ("; nothing was written" if dry_run else ""))
