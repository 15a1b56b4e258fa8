"""`ralph show LOOP [ITERATION]`."""

import sys
from pathlib import Path

import click

from untilproven.cli import here, output
from untilproven.cli.completion import complete_loop
from untilproven.core.receipt_text import receipt_text
from untilproven.errors import UsageError
from untilproven.model import wire
from untilproven.store import files
from untilproven.store.layout import LoopDirectory
from untilproven.watch import incidents, loops, past
from untilproven.watch.chronicle import Chapter
from untilproven.watch.console import retold
from untilproven.watch.follow import newest_loop

_LISTED = 50
_CHAPTERS = 40
_CHUNK = 64 * 1024


@click.command("show", short_help="what a loop did, and what it can prove")
@click.argument("loop", required=False, shell_complete=complete_loop)
@click.argument("iteration", required=False, type=click.IntRange(min=1))
@click.option("--prompt", is_flag=True, help="print what the agent was told in this iteration")
@click.option("--output", "printed", is_flag=True, help="print what the agent printed in this iteration")
@click.option("--json", "as_json", is_flag=True, help="print it as JSON")
def command(loop: str | None, iteration: int | None, *, prompt: bool, printed: bool, as_json: bool) -> int:
    """Show what was asked, claimed and proven in LOOP, or all about one ITERATION of it."""
    state = here.project().state
    found = loops.one(state, loop or newest_loop(state), exact=True)
    directory = found.row.view.directory
    if not prompt and not printed:
        return _loop(found, as_json=as_json) if iteration is None else _iteration(directory, iteration, as_json=as_json)
    if iteration is None or (prompt and printed):
        raise UsageError("say of which iteration, and one of --prompt and --output", hint="ralph show LOOP 3 --prompt")
    if prompt:
        _print(directory.prompt(iteration), iteration)
    else:
        _print(directory.output(iteration) if as_json else directory.raw(iteration, "stdout"), iteration)
    return 0


def _loop(found: loops.Detail, *, as_json: bool) -> int:
    view = found.row.view
    damage = list(found.damage)
    receipt = past.receipt(view.directory, damage)
    records, earlier = past.iterations(view.directory, damage, newest=_LISTED)
    story = past.story(view.directory)
    if as_json:
        document = {**found.as_json(), "iterations": [wire.to_builtins(record) for record in records]}
        document["story"] = [chapter._asdict() for chapter in story]
        document["damage"] = damage
        output.emit_json(document | ({"receipt": wire.to_builtins(receipt)} if receipt else {}))
        return 1 if damage else 0
    if receipt:
        told = [("loop", view.state.loop_id), ("status", loops.describe_status(view)), *receipt_text(receipt)]
        if view.state.best_iteration:
            told.append(("best", incidents.best(view.state.best_iteration)))
        told.append(("receipt", str(view.directory.receipt)))
    else:
        told = [*found.lines(), *retold.checks(view.state)]
    _lines([*told, *_told(story)])
    if records:
        output.line("")
        output.table(retold.HEAD, [retold.row(record) for record in records])
    if earlier:
        output.note(f"{earlier} earlier iterations are not listed")
    for text in damage:
        output.warn(text)
    output.note(f"one iteration: ralph show {view.state.loop_id} N; what happened: ralph log {view.state.loop_id}")
    return 1 if damage else 0


def _told(story: list[Chapter]) -> list[tuple[str, str]]:
    """Each iteration's number stands where it begins."""
    lines = [f"({len(story) - _CHAPTERS} earlier lines; ralph log has all of it)"] if len(story) > _CHAPTERS else []
    before = None
    for chapter in story[-_CHAPTERS:]:
        number = "" if chapter.iteration == before else str(chapter.iteration)
        lines.append(f"{number:<4}{chapter.text}")
        before = chapter.iteration
    return [("story", "\n".join(lines))] if lines else []


def _iteration(loop: LoopDirectory, number: int, *, as_json: bool) -> int:
    record = past.iteration(loop, number)
    paths = {"prompt": loop.prompt(number), "output": loop.raw(number, "stdout"), "events": loop.output(number)}
    there = {name: str(path) for name, path in paths.items() if past.kept(path)}
    if as_json:
        output.emit_json({**wire.to_builtins(record), "files": there})
    else:
        _lines([*retold.iteration(record), *there.items()])
    return 0


def _lines(told: list[tuple[str, str]]) -> None:
    for label, text in told:
        first, *more = output.printable(text).splitlines() or [""]
        output.line(f"{label:<12}{first}".rstrip())
        for line in more:
            output.line(f"{'':<12}{line}".rstrip())


def _print(path: Path, number: int) -> None:
    """A file as it is; on a terminal without what a terminal would obey."""
    if past.kept(path) is None:
        raise UsageError(f"nothing was kept of that in iteration {number}", hint=f"{path} is not there")
    to_terminal = sys.stdout.isatty()
    sys.stdout.flush()
    with files.open_regular(path) as file:
        while part := file.readline(_CHUNK):
            if to_terminal:
                sys.stdout.write(output.printable(part.decode("utf-8", "replace")))
            else:
                sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()
