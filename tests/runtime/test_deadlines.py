"""Time passes at a gate: what is destructive is refused after an hour, what is stuck waits for ever and says so."""

import os
import pty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from runtime.cart import DELETES, HONEST, RIGHT, SWALLOWS, TESTS, cart, run
from runtime.loops import Place
from untilproven.cli import attending
from untilproven.runtime import starting
from untilproven.runtime.deciding import Opened, Undecided, is_late
from untilproven.store import clock
from untilproven.store.writer import LoopWriter

NOTIFY = r"""--notify=printf '%s\n' "$RALPH_EVENT $RALPH_MESSAGE" >> ../told"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return cart(tmp_path)


@pytest.fixture
def pass_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    def later(by: timedelta) -> None:
        real = clock.now
        monkeypatch.setattr(clock, "now", lambda: real() + by)

    return later


def resumed(place: Place) -> int:
    with starting.driving(place.project, starting.take_up(place.project, place.loop)) as driver:
        return driver.run()


def told(place: Place) -> list[str]:
    return [line.split()[0] for line in (place.beside / "told").read_text().splitlines()]


def test_what_is_destructive_is_refused_after_an_hour(place: Place, pass_time: Callable[[timedelta], None]) -> None:
    assert run(place, DELETES, HONEST) == 8
    pass_time(timedelta(minutes=59))
    with pytest.raises(Undecided):
        starting.take_up(place.project, place.loop)
    assert place.events("gate.decided") == []
    pass_time(timedelta(minutes=2))
    assert resumed(place) == 0
    (decided,) = place.events("gate.decided")
    assert (decided["by"], decided["decision"], decided["why"]) == ("timeout", "reject", "nobody answered in time")
    assert (place.root / "tests/test_cart.py").read_text() == TESTS
    assert (place.root / "cart.py").read_text() == RIGHT
    state = place.read()
    assert "human_decision" not in state["regression_events"][0]
    assert "human_decision" not in state["recovery_history"][0]["protocol_steps"]["escalate"]
    assert state["recovery_history"][0]["outcome"] == "escalated"


def test_what_is_stuck_never_times_out(place: Place, pass_time: Callable[[timedelta], None]) -> None:
    assert run(place, SWALLOWS, SWALLOWS, HONEST) == 8
    assert place.events("gate.opened")[0]["kind"] == "recovery"
    pass_time(timedelta(days=400))
    with pytest.raises(Undecided):
        starting.take_up(place.project, place.loop)
    assert place.events("gate.decided") == []
    assert place.status() == "paused"


@contextmanager
def seated(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal as stdin, and the end of it at which somebody types."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "r") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        monkeypatch.setattr(attending, "_LOOK_SECONDS", 0.01)
        try:
            yield ours
        finally:
            os.close(ours)


def attended(place: Place) -> int:
    def again(writer: LoopWriter, _again: bool) -> int:
        with starting.driving(place.project, writer) as driver:
            return driver.run()

    return attending.attended(place.project, lambda: starting.take_up(place.project, place.loop), again)


def test_a_deadline_that_passes_while_somebody_is_asked_refuses_and_goes_on(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(place, DELETES, HONEST) == 8
    clock_of(monkeypatch, timedelta(minutes=10))
    with seated(monkeypatch):
        assert attended(place) == 0
    (decided,) = place.events("gate.decided")
    assert (decided["by"], decided["decision"]) == ("timeout", "reject")


def clock_of(monkeypatch: pytest.MonkeyPatch, step: timedelta) -> list[datetime]:
    """A clock that goes on by a step whenever somebody looks at it."""
    seen = [clock.now()]

    def now() -> datetime:
        seen.append(seen[-1] + step)
        return seen[-1]

    monkeypatch.setattr(clock, "now", now)
    return seen


def test_a_gate_that_is_stuck_is_told_again_every_two_days_while_somebody_waits(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(place, SWALLOWS, SWALLOWS, HONEST, words=(NOTIFY,)) == 8
    assert told(place) == ["gate.opened"]
    opened = datetime.fromisoformat(place.events("gate.opened")[0]["ts"])
    ended = opened + timedelta(hours=100)
    with seated(monkeypatch) as keyboard:
        seen = clock_of(monkeypatch, timedelta(hours=2))

        def and_then_leave(gate: Opened) -> bool:
            if seen[-1] > ended:
                os.write(keyboard, b"wait\n")
            return is_late(gate)

        monkeypatch.setattr("untilproven.cli.attending.is_late", and_then_leave)
        assert attended(place) == 8
    assert told(place) == ["gate.opened", "gate.waiting", "gate.waiting"]
    assert "to decide: ralph gate show" in capsys.readouterr().err
    assert place.events("gate.decided") == []
