"""What an ended loop left behind: what it came to, and whether everything about it is as it has to be."""

import contextlib
import time
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET

from chaos.picture import without_diary
from chaos.place import Place
from untilproven.model import events, wire
from untilproven.model.receipt import Receipt
from untilproven.model.state import LoopMetrics, LoopState
from untilproven.model.status import Status
from untilproven.process.leftovers import leftovers
from untilproven.store.journal import scan
from untilproven.store.layout import LoopDirectory
from untilproven.store.rebuild import rebuild
from untilproven.store.registry import read_registry
from untilproven.store.replay import replay_journal
from untilproven.store.survey import check_stale_loops
from untilproven.store.vouch import user_state

_PATIENCE = 10.0


class Outcome(NamedTuple):
    """What a loop came to; all of it must be the same however often the runner was killed."""

    tree: dict[str, tuple[int, bytes]]
    iterations: int
    status: Status
    exit_code: int
    proof: str
    pauses: tuple[str, ...]
    checks: dict[str, str]
    """The last word of each check before and after the work."""


class Spent(NamedTuple):
    """What it took; a kill may add to it and never take away."""

    cost_usd: float
    tokens: int


def inspect(place: Place, code: int | None) -> tuple[Outcome, Spent]:
    """Look at everything; raises AssertionError at the first thing that is wrong.

    `code` is what the last process left with, None if it was killed after the end: then a few things that the end
    clears away may still be there, and a look at the loops clears them.
    """
    loop = place.loop
    assert loop
    found = list(scan(loop.journal, loop.loop_id))
    happened = [entry.event for entry in found if isinstance(entry, events.Entry) and entry.event]
    assert len(happened) == len(found), [entry for entry in found if not isinstance(entry, events.Entry)]
    (ended,) = (event for event in happened if isinstance(event, events.LoopFinished))
    assert code in {None, ended.exit_code}, f"it left with {code}, and recorded {ended.exit_code}"
    state = _state(place, loop, whole=code is not None)
    receipt = wire.decode(Receipt, loop.receipt.read_bytes())
    assert (receipt.proof or "", receipt.status, receipt.iterations) == (
        ended.proof or "",
        state.status,
        state.iteration,
    )
    _numbers(happened, state)
    _nobody_left(place, loop.loop_id)
    _nothing_left(place, whole=code is not None)
    place.nothing_lost()
    outcome = Outcome(
        tree={path: seen.thing for path, seen in without_diary(place.tree()).items()},
        iterations=state.iteration,
        status=state.status,
        exit_code=ended.exit_code,
        proof=ended.proof or "",
        pauses=tuple(
            str(event.pause_reason)
            for event in happened
            if isinstance(event, events.StatusChanged) and event.to is Status.PAUSED
        ),
        checks={
            f"{Path(event.check).name} {'after' if event.iteration else 'before'}": "green" if event.passed else "red"
            for event in happened
            if isinstance(event, events.CheckFinished)
        },
    )
    metrics = state.metrics or LoopMetrics()
    return outcome, Spent(metrics.total_cost_usd or 0.0, metrics.total_tokens or 0)


def _state(place: Place, loop: LoopDirectory, *, whole: bool) -> LoopState:
    """The state, which is what the journal says, and is so again when it is made again."""
    replay = replay_journal(loop)
    assert (replay.damage, replay.torn) == ((), None)
    assert replay.state is not None
    written = wire.encode(replay.state) + b"\n"
    if whole:
        assert loop.state.read_bytes() == written, "state.json is not what the journal says"
    done = rebuild(place.project.state, loop.loop_id)
    assert not whole or done.changed == (), done
    assert loop.state.read_bytes() == written, "rebuilt, it is not what the journal says"
    return replay.state


def _numbers(happened: list[events.Event], state: LoopState) -> None:
    """Every counted iteration has its number, once; every other is said to be discarded."""
    finished = [event for event in happened if isinstance(event, events.IterationFinished)]
    numbers = [event.iteration for event in finished if event.counted]
    assert numbers == list(range(1, state.iteration + 1)), numbers
    started = sum(isinstance(event, events.IterationStarted) for event in happened)
    discarded = sum(
        isinstance(event, events.LoopAdopted) and event.discarded_iteration is not UNSET for event in happened
    )
    assert started == len(finished) + discarded, "an iteration is neither finished nor said to be discarded"


def _nobody_left(place: Place, loop_id: str) -> None:
    """No process of the loop lives; a keeper whose runner was just killed may need a moment."""
    deadline = time.monotonic() + _PATIENCE
    while alive := [*leftovers(loop_id), *_with_argument(place.sentinel)]:
        assert time.monotonic() < deadline, f"still alive: {alive}"
        time.sleep(0.005)


def _with_argument(sentinel: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if sentinel.encode() in path.read_bytes():
                found.append(str(path))
    return found


def _nothing_left(place: Place, *, whole: bool) -> None:
    """The registry is empty, no bell hangs, no request waits."""
    if not whole:
        check_stale_loops(place.project.state)
    assert read_registry(place.project.state).registry.active_loops == (), "the registry is not empty"
    control = user_state() / "control"
    assert not control.exists() or not list(control.iterdir()), "a request is left"
    bells = list(place.home.glob("untilproven-*/*"))
    assert not whole or not bells, f"bells are left: {bells}"
