"""The active loops as a table or as JSON; no click here, so that looking is quick."""

from typing import TYPE_CHECKING, Any

from untilproven.cli import output
from untilproven.model.registry import MAX_CONCURRENT_LOOPS, communication_paths
from untilproven.store.layout import StateDirectory
from untilproven.watch import loops

if TYPE_CHECKING:
    from untilproven.store.survey import StaleLoop

_WELCOME = """\
Nothing is running here. To begin:
  ralph demo      see it at work; no key, no network
  ralph run       work on a task: ralph run "TASK" --until "CHECK" --agent-cmd "AGENT"
  ralph doctor    what this machine can do
  ralph --help    everyday verbs"""


def show(
    state: StateDirectory,
    *,
    every: bool = False,
    stale: "list[StaleLoop] | None" = None,
    welcome: bool = False,
    as_json: bool = False,
) -> int:
    """Show the loops; `stale` is what a check for crashed ones found, if there was one. 1 means damage."""
    found = loops.overview(state, every=every)
    if as_json:
        output.emit_json(_document(found, stale))
    else:
        last = _newest(state) if welcome and not found.rows else ""
        _print(found, stale, every=every, welcome=welcome, last=last)
        for text in found.damage:
            output.warn(text)
    return 1 if found.damage else 0


def _newest(state: StateDirectory) -> str:
    if not state.exists():
        return ""
    from untilproven.errors import NoSuchLoop  # noqa: PLC0415  seldom needed, and looking must be quick
    from untilproven.watch.follow import newest_loop  # noqa: PLC0415

    try:
        return newest_loop(state)
    except NoSuchLoop:
        return ""


def _document(found: loops.Overview, stale: "list[StaleLoop] | None") -> dict[str, Any]:
    used = found.slots_used
    document: dict[str, Any] = {
        "loops": [row.as_json() for row in found.rows],
        "max_concurrent_loops": MAX_CONCURRENT_LOOPS,
        "slots_used": used,
        "free_slots": MAX_CONCURRENT_LOOPS - used,
        "communication_paths": communication_paths(used),
        "damage": list(found.damage),
    }
    if stale is not None:
        document["stale"] = [{"loop_id": loop.loop_id, "removed": loop.removed} for loop in stale]
    return document


def _print(
    found: loops.Overview, stale: "list[StaleLoop] | None", *, every: bool, welcome: bool, last: str = ""
) -> None:
    for loop in stale or ():
        freed = "its slot is free" if loop.removed else "free its slot with --cleanup"
        output.note(f"{loop.loop_id} has crashed; {freed}")
    if stale == []:
        output.note("no loop has crashed")
    used = found.slots_used
    if found.rows:
        output.table(loops.HEAD, [row.cells() for row in found.rows])
        output.note(
            f"{used} of {MAX_CONCURRENT_LOOPS} slots used, {MAX_CONCURRENT_LOOPS - used} free; "
            f"communication paths between them: {communication_paths(used)}"
        )
    elif welcome:
        output.line(_WELCOME)
        if last:
            output.note(f"\nThe last loop here: ralph show {last}")
    else:
        output.note("there are no loops here" if every else "no loop is active here")
