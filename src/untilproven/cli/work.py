"""`ralph work`."""

import gc
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

import click
import msgspec

from untilproven.cli import flags, here, output
from untilproven.config import layers
from untilproven.model.settings import BY_KEY

if TYPE_CHECKING:
    from untilproven.config.settings import Settings
    from untilproven.contract import Watcher
    from untilproven.model.task import Task
    from untilproven.store.layout import Project

KEYS = (
    *("queue.max_tasks", "queue.timeout", "queue.max_cost", "queue.on_failure", "queue.parallelism"),
    "queue.tracker",
    *("task.max_iterations", "task.timeout", "task.max_cost"),
    *("until", "agent", "agent_cmd", "agent_home", "model", "promise", "require_proof", "auto_test"),
    *("iteration_timeout", "idle_timeout", "allow_unknown_cost", "check_timeout", "context", "mode"),
    *("sandbox", "network", "check_network", "share", "env", "allow_test_edits", "allow_dependency_changes"),
    *("commit", "notify", "notify_on", "reinforcement", "measure", "metric", "sensitive"),
)
"""What `work` obeys."""
_COMMITS = msgspec.structs.replace(BY_KEY["commit"], default=True)
"""Unlike a single loop, a queue commits what is proven, unless it is told not to."""


@click.command("work", short_help="work on the tasks of the queue, one after the other")
@click.option("--task", "only", metavar="ID", default="", help="work on this task alone")
@flags.settings_flags(_COMMITS if key == "commit" else BY_KEY[key] for key in KEYS)
@click.option("--dry-run", is_flag=True, help="show the order and the checks, and run nothing")
@click.option("--json", "as_json", is_flag=True, help="print events as JSON lines")
@click.option("-v", "--verbose", is_flag=True, help="also show what the agent says")
@click.option("-q", "--quiet", is_flag=True, help="show only how each task ends")
def command(*, only: str, dry_run: bool, as_json: bool, verbose: bool, quiet: bool) -> int:
    """Pick a task, let an agent work on it until it is proven done, commit it, and go on with the next.

    A task that needs a human is set aside as blocked, and the others go on. `ralph task add` adds a task.
    """
    from untilproven.queue.work import Work  # noqa: PLC0415  --help needs none of it

    project = here.project()
    settings = layers.load(project.root, flags.given())
    here.warn(settings)
    if dry_run:
        return _show(project, settings, only, as_json=as_json)
    view = View(as_json=as_json, verbose=verbose, quiet=quiet)
    gc.freeze()  # all of the program is loaded by now, and none of it is garbage
    gc.enable()
    stopped = Work(project, settings, view, only=only).run()
    view.over(stopped.exit_code, stopped.why)
    return stopped.exit_code


class View:
    """A run of the queue, as a person or a program sees it."""

    def __init__(self, *, as_json: bool, verbose: bool, quiet: bool) -> None:
        self._json, self._verbose, self._quiet = as_json, verbose, quiet

    def begins(self, task: "Task", loop_id: str) -> None:
        self._say({"type": "task.started", "task": task.id, "loop_id": loop_id}, f"{task.id}  {task.title}")

    def ended(self, task: "Task", loop_id: str) -> None:
        why = f": {task.blocker}" if task.blocker else ""
        said = {"type": "task.ended", "task": task.id, "loop_id": loop_id, "status": task.status.value}
        self._say(said | ({"reason": task.blocker} if task.blocker else {}), f"{task.id}  is {task.status}{why}")

    def passed_over(self, task: "Task", why: str) -> None:
        self._say({"type": "task.passed_over", "task": task.id, "reason": why}, f"{task.id}  is not begun: {why}")

    def note(self, words: str) -> None:
        output.note(output.printable(words))

    def watchers(self, log: TextIO | None = None) -> "tuple[Watcher, ...]":
        if self._quiet and not log:
            return ()
        from untilproven.watch import console  # noqa: PLC0415  --quiet needs none of it

        if log:
            return (console.for_terminal(log),)
        return (console.for_terminal(sys.stdout, as_json=self._json, verbose=self._verbose),)

    def over(self, exit_code: int, why: str) -> None:
        self._say({"type": "work.finished", "exit_code": exit_code, "reason": why}, why)

    def _say(self, event: Mapping[str, object], words: str) -> None:
        if self._json:
            output.emit_json(event)
        else:
            output.line(output.printable(words))


def _show(project: "Project", settings: "Settings", only: str, *, as_json: bool) -> int:
    """The order in which the tasks would be worked on, as far as it can be known, and what would be checked."""
    from untilproven.queue.rehearsing import rehearse  # noqa: PLC0415  --help needs none of it

    rows = rehearse(project, settings, only)
    if as_json:
        output.emit_json({"tasks": rows})
        return 0
    for row in rows:
        output.line(output.printable(f"{row.id}  {row.title}"))
        for check in row.checks:
            output.line(output.printable(f"    {check}"))
        if row.why_not:
            output.line(output.printable(f"    not now: {row.why_not}"))
    output.note("nothing was run")
    return 0
