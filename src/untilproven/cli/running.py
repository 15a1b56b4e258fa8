"""What `run`, `resume` and `demo` share: a loop that runs in front of the user, or behind."""

import gc
import sys
from collections.abc import Callable

import msgspec

from untilproven.cli import output
from untilproven.errors import NoSlot, RalphError
from untilproven.model.events import Entry, LoopAdopted, LoopStarted
from untilproven.model.plan import Allowance
from untilproven.runtime import starting
from untilproven.store.journal import scan
from untilproven.store.layout import Project
from untilproven.store.writer import LoopWriter
from untilproven.watch import console


class View(msgspec.Struct, frozen=True, kw_only=True):
    """How the user wants to look on."""

    as_json: bool = False
    verbose: bool = False
    quiet: bool = False
    interactive: bool = False
    """Whether they are asked at gates."""


def start(project: Project, begin: Callable[[], LoopWriter], view: View, *, detach: bool = False) -> int:
    """Run a loop to its end here, or leave it to a process of its own; a person may make room for it first."""
    while True:
        try:
            return _start(project, begin, view, detach=detach)
        except RalphError as error:
            if error.kind != NoSlot.kind or view.as_json:
                raise
            from untilproven.cli import person  # noqa: PLC0415  there is room, as a rule

            if not person.is_there() or not person.frees_a_slot(project.state, error):
                raise


def _start(project: Project, begin: Callable[[], LoopWriter], view: View, *, detach: bool) -> int:
    if view.interactive:
        from untilproven.cli.attending import attended  # noqa: PLC0415  most loops are not attended

        return attended(project, begin, lambda writer, again: _run(project, writer, view, banner=not again))
    if not detach:
        return _run(project, begin(), view)

    from untilproven.runtime.detach import Ready, detached  # noqa: PLC0415  most loops run in front of the user

    def work(ready: Ready) -> int:
        writer = begin()
        ready(writer.state.loop_id, writer.loop.path / "run.log")
        return _run(project, writer, view)

    started = detached(work)
    if view.as_json:
        output.emit_json({"loop_id": started.loop_id, "pid": started.pid, "log": str(started.log)})
    else:
        output.line(started.loop_id)
        output.note(f"it goes on in the background; look on with `ralph attach {started.loop_id}`")
    return 0


def _run(project: Project, writer: LoopWriter, view: View, *, banner: bool = True) -> int:
    watcher = console.for_terminal(
        sys.stdout, as_json=view.as_json, verbose=view.verbose, quiet=view.quiet, banner=banner
    )
    gc.freeze()  # all of the program is loaded by now, and none of it is garbage
    gc.enable()
    with starting.driving(project, writer, watchers=(watcher,)) as driver:
        for entry in _opening(writer):
            watcher.happened(entry, writer.state)
        return driver.run()


def _opening(writer: LoopWriter) -> list[Entry]:
    """What was recorded before anybody looked on: how the loop began, or how this process took it over."""
    opening: list[Entry] = []
    for found in scan(writer.loop.journal, writer.loop.loop_id):
        if isinstance(found, Entry):
            if isinstance(found.event, LoopStarted | LoopAdopted):
                opening.clear()
            opening.append(found)
    return opening


def show_plan(wanted: starting.Wanted, *, as_json: bool) -> int:
    """What would be run, without running it."""
    plan, allowance = wanted.plan, wanted.allowance
    if as_json:
        output.emit_json({"task": wanted.task, "plan": plan, "allowance": allowance})
        return 0
    rows = [("task", wanted.task.strip().partition("\n")[0]), ("agent", str(plan.agent_cmd or plan.agent))]
    labels = {"until": "check", "auto_test": "tests"}
    rows += [(labels[check.role], _check(check.line, check.why or "")) for check in plan.checks]
    rows += [("room", plan.sandbox), ("limits", _limits(allowance))]
    for label, words in rows:
        output.line(f"{label:<8}{output.printable(words)}")
    output.note("nothing was run")
    return 0


def _check(line: str, why: str) -> str:
    return f"{line}   ({why})" if why else line


def _limits(allowance: Allowance) -> str:
    parts = [f"{allowance.iterations} iterations"]
    if allowance.seconds:
        parts.append(f"{allowance.seconds:g} s")
    parts.append("no money limit" if allowance.cost_usd is msgspec.UNSET else f"${allowance.cost_usd:g}")
    if allowance.tokens:
        parts.append(f"{allowance.tokens} tokens")
    return ", ".join(parts)
