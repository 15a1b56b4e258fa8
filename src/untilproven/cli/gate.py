"""`ralph gate list|show|approve|reject|abort`."""

from typing import Any

import click
from msgspec import UNSET

from untilproven.cli import abort as aborting
from untilproven.cli import here, output
from untilproven.cli.completion import complete_loop
from untilproven.errors import UsageError
from untilproven.model.events import Entry, GuardFinding
from untilproven.model.fields import Decision, PauseReason
from untilproven.model.iteration import Finding
from untilproven.model.status import Status
from untilproven.runtime import queued
from untilproven.runtime.deciding import Opened, decide, open_gates
from untilproven.store import reader
from untilproven.store.journal import scan
from untilproven.store.reader import LoopView


@click.group("gate", short_help="decide on work that is held back")
def command() -> None:
    """Decide on work that is held back: a loop that waits at a gate goes on only when a human has decided."""


@command.command("list", short_help="what waits for a decision")
@click.option("--json", "as_json", is_flag=True, help="print them as JSON")
def list_gates(*, as_json: bool) -> None:
    """List the gates of this project's loops that are open."""
    directory = here.project().state
    waiting = [view for view in reader.all_views(directory) if _may_wait(view)]
    found = [(view, opened) for view in waiting for opened in open_gates(view.directory)]
    if as_json:
        output.emit_json([_as_json(view, opened) for view, opened in found])
        return
    if not found:
        output.note("nothing waits for you")
        return
    rows = [
        [view.state.loop_id, opened.gate.gate_id, f"{opened.at:%Y-%m-%d %H:%M}", _until(opened), opened.gate.message]
        for view, opened in found
    ]
    output.table(["LOOP", "GATE", "SINCE", "UNTIL", "WHY"], rows)


@command.command("show", short_help="why a loop waits")
@click.argument("loop", shell_complete=complete_loop)
@click.option("--json", "as_json", is_flag=True, help="print it as JSON")
def show(loop: str, *, as_json: bool) -> None:
    """Show why LOOP waits, and what was found in the work that is held back."""
    view = reader.resolve(here.project().state, loop)
    gates = open_gates(view.directory)
    if not gates:
        raise UsageError(f"no gate of {view.state.loop_id} is open", hint="`ralph gate list` shows what waits for you")
    if as_json:
        output.emit_json([_as_json(view, opened) for opened in gates])
        return
    loop_id = view.state.loop_id
    for opened in gates:
        tell(view, opened)
        output.note(f"decide:   ralph gate approve {loop_id} --why ..., or ralph gate reject {loop_id} --why ...")
        of_queue = view.state.status is Status.FAILED
        output.note("go on:    ralph work" if of_queue else f"go on:    ralph resume {loop_id}")


def tell(view: LoopView, opened: Opened) -> None:
    """Why it waits, what was found, and how to see it."""
    loop_id, gate = view.state.loop_id, opened.gate
    told = [("gate", gate.gate_id), ("since", f"{opened.at:%Y-%m-%d %H:%M:%S}"), ("until", _until(opened))]
    told.append(("why", gate.message.replace("LOOP", loop_id)))
    for label, words in told:
        if words:
            output.line(f"{label:<10}{output.printable(words)}")
    for finding in _findings(view, gate.iteration):
        output.line(f"{'found':<10}{finding.severity.value}: {output.printable(finding.message or '')}")
    output.note(f"look:     ralph diff {loop_id} {gate.iteration}")


@command.command("approve", short_help="let it through")
@click.argument("loop", shell_complete=complete_loop)
@click.option("--why", default="", metavar="TEXT", help="for the record")
def approve(loop: str, *, why: str) -> None:
    """Let what LOOP holds back through: it becomes part of the tree, and is checked there, when the loop goes on."""
    _decided(loop, Decision.APPROVE, why, "accepted")


@command.command("reject", short_help="refuse it")
@click.argument("loop", shell_complete=complete_loop)
@click.option("--why", default="", metavar="TEXT", help="for the record")
def reject(loop: str, *, why: str) -> None:
    """Refuse what LOOP holds back: it is dropped, its snapshot is kept, and the agent is told when the loop goes on."""
    _decided(loop, Decision.REJECT, why, "refused")


def _decided(loop: str, decision: Decision, why: str, word: str) -> None:
    project = here.project()
    view = reader.resolve(project.state, loop)
    loop_id = view.state.loop_id
    for opened in decide(project.state, loop_id, decision, why):
        output.note(f"{opened.gate.gate_id} of {loop_id} is {word}")
    task_id = view.state.plan.task_id if view.state.plan else UNSET
    if not task_id or view.state.status is not Status.FAILED:
        output.note(f"go on: ralph resume {loop_id}")
    elif decision is Decision.APPROVE and queued.let_go_on(project, task_id, loop_id):
        output.note(f"{task_id} is pending again; go on: ralph work")
    else:
        output.note(f"{task_id} stays as it is; to try it again: ralph task unblock {task_id}")


def _may_wait(view: LoopView) -> bool:
    """It waits at a gate, or it ended there: a loop of the queue waits for nobody."""
    state = view.state
    ended = state.status is Status.FAILED and state.plan and state.plan.task_id and not state.resumed_as
    return bool(state.pause_reason is PauseReason.GATE or ended)


@command.command("abort", short_help="end the loop")
@click.argument("loop", shell_complete=complete_loop)
@click.option("--why", default="", metavar="TEXT", help="for the record")
def abort(loop: str, *, why: str) -> int:
    """End LOOP, and free its slot. What it holds back is not part of the tree; its snapshot is kept."""
    project = here.project()
    view = reader.resolve(project.state, loop)
    if open_gates(view.directory):
        decide(project.state, view.state.loop_id, Decision.ABORT, why)
    return aborting.end(project, view)


def _until(opened: Opened) -> str:
    return f"{opened.deadline:%Y-%m-%d %H:%M}, then it is refused" if opened.deadline else ""


def _findings(view: LoopView, iteration: int) -> list[Finding]:
    return [
        found.event.finding
        for found in scan(view.directory.journal, view.state.loop_id)
        if isinstance(found, Entry)
        and isinstance(found.event, GuardFinding)
        and found.event.iteration == iteration
        and found.event.finding.blocking
    ]


def _as_json(view: LoopView, opened: Opened) -> dict[str, Any]:
    gate = opened.gate
    told: dict[str, Any] = {
        "loop_id": view.state.loop_id,
        "gate_id": gate.gate_id,
        "kind": gate.kind,
        "iteration": gate.iteration,
        "opened_at": opened.at,
        "message": gate.message,
        "findings": [
            {
                "pattern": one.pattern_id,
                "severity": one.severity.value,
                "message": one.message or "",
                "path": one.path or "",
            }
            for one in _findings(view, gate.iteration)
        ],
    }
    return told | ({"deadline": opened.deadline} if opened.deadline else {})
