"""`--interactive`, at a real terminal: whoever sits there is asked, and what they say is what happens."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runtime.cart import DELETES, HONEST, RIGHT, TESTS, UNTIL, WITHOUT, cart, run
from runtime.loops import Place

QUESTION = "approve, reject, abort, or wait"
OWNS_THE_TERMINAL = """\
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-P", "-m", "untilproven", *sys.argv[1:]])
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return cart(tmp_path)


class Seat:
    """In front of a terminal in which `ralph` runs."""

    def __init__(self, place: Place, *words: str) -> None:
        self._ours, theirs = pty.openpty()
        self.shown = ""
        self._process = subprocess.Popen(
            [sys.executable, "-c", OWNS_THE_TERMINAL, *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=place.root,
            env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"},
            start_new_session=True,
        )
        os.close(theirs)

    def wait_for(self, words: str, seconds: float = 60) -> None:
        """Until they are shown, after all that was waited for before."""
        deadline = time.monotonic() + seconds
        seen = len(self.shown)
        while words not in self.shown[seen:]:
            assert select.select([self._ours], [], [], max(deadline - time.monotonic(), 0))[0], self.shown
            try:
                self.shown += os.read(self._ours, 65536).decode("utf-8", "replace")
            except OSError:
                raise AssertionError(f"it ended without {words!r}: {self.shown}") from None

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def ended(self, seconds: float = 60) -> int:
        deadline = time.monotonic() + seconds
        while select.select([self._ours], [], [], max(deadline - time.monotonic(), 0))[0]:
            try:
                self.shown += os.read(self._ours, 65536).decode("utf-8", "replace")
            except OSError:  # the last program has let go of the terminal
                break
        return self._process.wait(seconds)

    def leave(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._ours)


@contextmanager
def at(place: Place, *words: str) -> Iterator[Seat]:
    seat = Seat(place, *words)
    try:
        yield seat
    finally:
        seat.leave()


def asked(place: Place, *words: str) -> list[str]:
    return [
        *("run", "fix total", place.cassette(DELETES, HONEST), UNTIL, "-n6", "--sandbox=overlay", "--interactive"),
        *words,
    ]


def test_what_is_rejected_at_the_terminal_is_dropped_and_the_loop_goes_on(place: Place) -> None:
    with at(place, *asked(place)) as seat:
        seat.wait_for(QUESTION)
        assert "test_sums was deleted" in seat.shown
        assert f"ralph diff {place.loop} 1" in seat.shown
        seat.type("reject\n")
        seat.wait_for("why, for the record")
        seat.type("they are right\n")
        assert seat.ended() == 0, seat.shown
    assert (place.root / "cart.py").read_text() == RIGHT
    assert (place.root / "tests/test_cart.py").read_text() == TESTS
    (decided,) = place.events("gate.decided")
    assert (decided["by"], decided["decision"], decided["why"]) == ("human", "reject", "they are right")
    (event,) = place.read()["regression_events"]
    assert event["human_decision"] == "reject"
    assert place.read()["configuration"]["interactive"] is True
    assert len(place.events("loop.adopted")) == 1
    assert seat.shown.count("limits     6 iterations") == 1


def test_what_is_approved_at_the_terminal_becomes_part_of_the_tree(place: Place) -> None:
    with at(place, *asked(place)) as seat:
        seat.wait_for(QUESTION)
        seat.type("a\n")  # approve or abort: nobody can tell
        seat.wait_for(QUESTION)
        assert place.events("gate.decided") == []
        seat.type("approve\n")
        seat.wait_for("why, for the record")
        seat.type("\n")
        assert seat.ended() == 0, seat.shown
    assert (place.root / "tests/test_cart.py").read_text() == WITHOUT
    (decided,) = place.events("gate.decided")
    assert (decided["by"], decided["decision"]) == ("human", "approve")
    assert "why" not in decided


def test_aborting_at_the_terminal_ends_the_loop(place: Place) -> None:
    with at(place, *asked(place)) as seat:
        seat.wait_for(QUESTION)
        seat.type("abort\n")
        seat.wait_for("why, for the record")
        seat.type("not worth it\n")
        assert seat.ended() == 1, seat.shown
    assert place.status() == "aborted"
    assert not place.slots()
    (event,) = place.read()["regression_events"]
    assert event["human_decision"] == "abort"
    (recovery,) = place.read()["recovery_history"]
    assert recovery["outcome"] == "aborted"
    assert recovery["protocol_steps"]["escalate"]["human_decision"] == "abort - not worth it"


@pytest.mark.parametrize("keys", ["wait\n", "\x04", "\x03", "reject\n\x03", "approve\n\x04"])
def test_who_says_nothing_leaves_it_waiting(place: Place, keys: str) -> None:
    assert run(place, DELETES, HONEST) == 8
    with at(place, "resume", place.loop, "--interactive") as seat:
        for number, line in enumerate(keys.splitlines(keepends=True)):
            seat.wait_for(QUESTION if number == 0 else "why, for the record")
            seat.type(line)
        assert seat.ended() == 8, seat.shown
        assert "Traceback" not in seat.shown
    assert place.status() == "paused"
    assert place.events("gate.decided") == []
    assert place.events("loop.adopted") == []


def test_what_was_typed_before_anybody_asked_is_no_answer(place: Place) -> None:
    with at(place, *asked(place)) as seat:
        seat.wait_for("iteration 1")
        seat.type("approve\n\n")
        seat.wait_for(QUESTION)
        seat.type("wait\n")
        assert seat.ended() == 8, seat.shown
    assert place.events("gate.decided") == []


def test_a_loop_that_waits_is_asked_about_when_it_is_resumed(place: Place) -> None:
    assert run(place, DELETES, HONEST) == 8
    with at(place, "resume", place.loop, "--interactive", "--max-iterations=9") as seat:
        seat.wait_for(QUESTION)
        seat.type("reject\n")
        seat.wait_for("why, for the record")
        seat.type("\n")
        assert seat.ended() == 0, seat.shown
    assert place.read()["allowance"]["iterations"] == 9
    assert place.read()["configuration"]["interactive"] is True


def test_what_is_allowed_at_a_gate_is_kept_beside_what_is_given_with_resume(place: Place) -> None:
    assert run(place, DELETES, HONEST) == 8
    with at(place, "resume", place.loop, "--interactive", "--max-iterations=9") as seat:
        seat.wait_for(QUESTION)
        seat.type("approve\n")
        seat.wait_for("why, for the record")
        seat.type("\n")
        assert seat.ended() == 0, seat.shown
    allowance = place.read()["allowance"]
    assert (allowance["iterations"], allowance["test_edits"]) == (9, ["tests/test_cart.py"])


def test_a_decision_from_elsewhere_is_obeyed(place: Place) -> None:
    with at(place, *asked(place)) as seat:
        seat.wait_for(QUESTION)
        assert place.ralph("gate", "reject", place.loop, "--why", "from elsewhere").returncode == 0
        assert seat.ended() == 0, seat.shown
    (decided,) = place.events("gate.decided")
    assert decided["why"] == "from elsewhere"


@pytest.mark.parametrize("words", [["--detach"], ["--json"], []])
def test_where_nobody_can_be_asked_it_is_a_usage_error(place: Place, words: list[str]) -> None:
    done = place.ralph(*asked(place, *words))
    assert done.returncode == 2
    said = done.stdout if "--json" in words else done.stderr
    assert "nobody can be asked at gates" in said
    assert (words[0] if words else "stdin is no terminal") in said
    assert "flag --interactive" in said
    assert not place.loops()


def test_a_setting_that_asks_names_its_file_where_nobody_can_be_asked(place: Place) -> None:
    place.write("ralph.toml", "interactive = true\n")
    assert run(place, DELETES, HONEST, words=("--no-interactive",)) == 8
    done = place.ralph("resume", place.loop)
    assert done.returncode == 2
    assert "ralph.toml:1" in done.stderr
