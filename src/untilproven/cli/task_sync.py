"""`ralph task sync`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from untilproven.cli import flags, here, output
from untilproven.config import trust
from untilproven.errors import UsageError
from untilproven.model.settings import BY_KEY

if TYPE_CHECKING:
    from untilproven.queue.trackers.telling import Done, Outcome


@click.command("sync", short_help="make the tasks and the issues of a tracker agree")
@flags.settings_flags(BY_KEY[key] for key in ("queue.tracker", "queue.tracker_label"))
@click.option("--pull", is_flag=True, help="only take over what changed at the tracker")
@click.option("--push", is_flag=True, help="only tell the tracker what changed here")
@click.option("--accept-done", is_flag=True, help="take the tracker's word for what is done")
@click.option("--dry-run", is_flag=True, help="show what would be done, and do nothing")
@click.option("--json", "as_json", is_flag=True, help="print what was done as JSON")
def sync(*, pull: bool, push: bool, accept_done: bool, dry_run: bool, as_json: bool) -> int:
    """Make the tasks of this project and the issues of a tracker agree.

    On status the tracker wins; on the words of a task the side that it came from. Nothing is done by the tracker's
    word: an issue that was closed there, and whose task is not proven here, is set aside for you to decide.
    """
    from untilproven.config import layers  # noqa: PLC0415  the other verbs of `task` need none of it
    from untilproven.config.settings import Layer  # noqa: PLC0415
    from untilproven.queue.trackers.choosing import tracker_of  # noqa: PLC0415
    from untilproven.queue.trackers.deciding import Way  # noqa: PLC0415
    from untilproven.queue.trackers.syncing import Sync  # noqa: PLC0415

    if pull and push:
        raise UsageError("--pull and --push are the two halves of a sync", hint="leave both away")
    project = here.project()
    settings = layers.load(project.root, flags.given())
    here.warn(settings)
    typed = settings.value("queue.tracker")
    if not typed:
        raise UsageError("no tracker was named", hint="--tracker github:OWNER/REPO, or set queue.tracker")
    base = Path.cwd() if settings.origin("queue.tracker").layer is Layer.FLAG else project.root
    tracker = tracker_of(project, typed, settings.value("queue.tracker_label"), base=base)
    both = pull == push
    run = Sync(project, tracker, Way(pull=pull or both, push=push or both, accept_done=accept_done))
    outcome = run.rehearse() if dry_run else run.run()
    if as_json:
        output.emit_json(outcome)
    else:
        _tell(outcome)
    if outcome.commands and trust.untrusted_commands(project.root, outcome.commands):
        output.note("what came in names commands, which are not run before you have looked at them: ralph trust")
    return 1 if outcome.failed else 0


def _tell(outcome: "Outcome") -> None:
    for one in outcome.done:
        output.line(_line(one))
    for one in outcome.failed:
        output.warn(_line(one))
    for warning in outcome.warnings:
        output.warn(warning)
    if not outcome.done and not outcome.failed:
        output.note(f"nothing to do: the tasks and {outcome.tracker} agree")
    elif outcome.dry_run:
        output.note("nothing was done")


def _line(one: "Done") -> str:
    return output.printable("  ".join(part for part in (one.task, one.text) if part)).replace("\n", " ")
