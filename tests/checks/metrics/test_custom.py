import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.conftest import Place
from untilproven.checks.metrics.custom import number_in, take
from untilproven.checks.metrics.unmeasured import Unmeasured
from untilproven.contract import Room


def ask(room: Room, line: str, *, timeout: float = 60) -> float | Unmeasured:
    with room.scratch() as scratch:
        return take(line, room, scratch, timeout=timeout)


@pytest.mark.parametrize(
    ("printed", "number"),
    [
        ("5", 5),
        ("12.5%\n\n", 12.5),
        ("1 of 3\ntook 250ms", 250),
        ("size: -3", -3),
        ("score=.75", 0.75),
        ("1e3", 1000),
        ("all 42 good.", 42),
        ("14K\ttotal", 14),
        ("\u001b[32m7\u001b[0m", 7),
    ],
)
def test_the_last_number_of_the_last_line_is_read(printed: str, number: float) -> None:
    assert number_in(printed) == number


@pytest.mark.parametrize(
    "printed", ["", "\n\n", "none", "5\nnone", "1,234", "version 1.2.3", "2026-11-16", "12:30", "3/4", "nan", "1e999"]
)
def test_anything_else_is_no_number(printed: str) -> None:
    assert isinstance(number_in(printed), Unmeasured)


@given(st.text(max_size=100))
def test_text_never_raises(printed: str) -> None:
    assert isinstance(number_in(printed), float | Unmeasured)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_is_read_as_it_was_printed(number: float) -> None:
    assert number_in(f"so much: {number}\n") == number


def test_a_line_of_shell_is_run_in_the_room(place: Place) -> None:
    place.user({"a.txt": "1\n2\n"})
    place.agent({"b.txt": "1\n"})
    assert ask(place.room(), "cat *.txt | wc -l  # lines") == 3


def test_what_goes_to_stderr_does_not_count(room: Room) -> None:
    assert ask(room, "echo 4; sleep 0.1; echo 'done in 9' >&2") == 4


def test_a_line_that_fails_hangs_or_says_nothing_is_unmeasured(room: Room) -> None:
    assert ask(room, "echo 4; echo 'no disk' >&2; exit 3") == Unmeasured("it exited with 3: no disk")
    assert ask(room, "echo 4; sleep 100", timeout=0.5) == Unmeasured("it stopped after 0.5 s without an end:")
    assert ask(room, "true") == Unmeasured("it printed nothing")
    assert isinstance(ask(room, "no-such-program"), Unmeasured)
