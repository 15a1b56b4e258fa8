"""The report over all loops of a project."""

from datetime import datetime

from msgspec import UNSET

from untilproven.core import across
from untilproven.core.analytics import analytics
from untilproven.errors import RalphError
from untilproven.model.analytics import CrossLoopSummary
from untilproven.store import reader
from untilproven.store.layout import StateDirectory
from untilproven.watch.console import words
from untilproven.watch.report.material import entries
from untilproven.watch.report.text import table


def gathered(directory: StateDirectory, at: datetime) -> tuple[CrossLoopSummary, list[str]]:
    """The summary of the loops that this user started, put away or not, and what could not be read."""
    runs, damage = [], []
    for loop in directory.all_loops(archived=True) if directory.exists() else ():
        lines: list[str] = []
        try:
            view = reader.look(directory, loop)
            if view.foreign:
                continue
            found = analytics(loop.loop_id, entries(loop, lines))
        except RalphError as error:
            damage.append(error.message)
            continue
        runs.append(across.Run(view.state.task or "", view.state.status, found))
        damage += [f"{loop.loop_id}: {line}" for line in lines]
    return across.summary(runs, at), damage


def markdown(found: CrossLoopSummary) -> str:
    unknown = found.loops_of_unknown_cost
    without = f" (without {words.plural(unknown, 'loop')} of unknown cost)" if unknown else ""
    gained, cost = found.average_quality_improvement, found.average_cost_per_loop
    lines = [
        ("loops", f"{found.total_loops_run:,}"),
        ("how they stand", ", ".join(f"{count} {status}" for status, count in found.loops_by_status.items())),
        ("iterations per loop", f"{found.average_iterations_per_loop:g}" if found.average_iterations_per_loop else ""),
        ("quality gained per loop", "" if gained is UNSET else f"{gained:+g} points"),
        ("cost per loop", "unknown" if cost is UNSET else words.money(cost) + without),
    ]
    parts = ["# All loops", table(("What", "Value"), [line for line in lines if line[1]])]
    if found.most_common_tasks:
        tasks = [(one.task, str(one.loops)) for one in found.most_common_tasks]
        parts += ["## Most common tasks", table(("Task", "Loops"), tasks)]
    return "\n\n".join(parts) + "\n"
