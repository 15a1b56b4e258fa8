"""`ralph migrate`."""

from typing import Any

import click
import msgspec

from untilproven.cli import here, output
from untilproven.core.legacy import Shape
from untilproven.store.migration import LEGACY_FILES, Migration, Outcome, Refusal
from untilproven.store.migration import migrate as migrate_project

_SHAPES = {
    Shape.V2: "a version 2 state",
    Shape.EXTERNAL: "a loop file of the external supervisor",
    Shape.AD_HOC: "a loop file written by hand or by an agent",
    Shape.SYNC: "a loop file of the command line tool",
    Shape.HOOK: "a loop file of the stop hook",
    Shape.MINIMAL: "a loop file of the stop hook, its essentials only",
}

_SHOWN = 12


@click.command("migrate", short_help="bring a legacy current-loop.json into the registry")
@click.option("--dry-run", is_flag=True, help="say what would be done, and do nothing")
@click.option("--json", "as_json", is_flag=True, help="print what was done as JSON")
def command(*, dry_run: bool, as_json: bool) -> None:
    """Turn the loop file of an earlier tool into a loop of this one. The file itself stays as it is.

    A loop that had not ended becomes paused and takes a slot; one that had ended is stored. Running the
    command again changes nothing.
    """
    done = migrate_project(here.project(), dry_run=dry_run)
    moved = [migration for migration in done if isinstance(migration, Migration)]
    refused = [refusal for refusal in done if isinstance(refusal, Refusal)]
    if as_json:
        _as_json(moved, refused)
        return
    if not done:
        output.note(f"nothing to migrate: there is no {' and no '.join(LEGACY_FILES)}")
    for migration in moved:
        for line in _lines(migration):
            click.echo(output.printable(line).replace("\n", " "))
    if refused:
        for other in refused[1:]:
            output.error(other.error, as_json=False)
        raise refused[0].error


def _as_json(moved: list[Migration], refused: list[Refusal]) -> None:
    """One document, also when a file was refused: the error then carries what was done with the others."""
    rows = [_row(migration) for migration in moved]
    rows += [{"file": refusal.file, "outcome": "refused", "error": refusal.error.message} for refusal in refused]
    if refused:
        refused[0].error.details["migrations"] = rows
        raise refused[0].error
    output.emit_json({"migrations": rows})


def _row(migration: Migration) -> dict[str, Any]:
    return {key: value for key, value in msgspec.to_builtins(migration).items() if value is not None}


def _lines(migration: Migration) -> list[str]:
    kind = _SHAPES[migration.shape]
    name = migration.loop_id or "a new id"
    if migration.outcome is Outcome.ALREADY:
        return [f"{migration.file}: {kind}, already migrated as {name}, which is {migration.status}"]
    verb = "becomes" if migration.outcome is Outcome.MIGRATED else "would become"
    slot = "takes a slot" if migration.registered else "has ended and takes no slot"
    why = f" ({migration.reason})" if migration.reason else ""
    finished = "1 finished iteration" if migration.iteration == 1 else f"{migration.iteration} finished iterations"
    lines = [f"{migration.file}: {kind}", f"  {verb} {name}: {migration.status}{why}, {finished}, {slot}"]
    if migration.kept:
        more = len(migration.kept) - _SHOWN
        names = ", ".join(migration.kept[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        lines.append(f"  kept under `legacy` in its state: {names}")
    lines += [f"  copied: {path}" for path in migration.copied]
    lines += [f"  not brought along, because it cannot be found or copied: {path}" for path in migration.left_out]
    if migration.earlier:
        lines.append(f"  the file has changed since it was migrated as {migration.earlier}; that loop is still there")
    lines.append("  the file itself is untouched")
    return lines
