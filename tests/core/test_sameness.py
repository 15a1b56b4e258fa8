"""What counts as the same prompt in another run."""

import pytest

from untilproven.core.sameness import comparable, difference


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1 failed in 0.03s", "1 failed in 1.25s"),
        ("took 3 ms", "took 12 ms"),
        ("took 1m12s", "took 2m5s"),
        ("at 2026-11-16T10:00:00Z it broke", "at 2027-01-01T00:00:01Z it broke"),
        ("<object at 0x7f96dd8c410>", "<object at 0x7aaadd8c410>"),
    ],
)
def test_times_and_addresses_do_not_count(one: str, other: str) -> None:
    assert comparable(one, "/p", "ralph-x-00000000") == comparable(other, "/p", "ralph-x-00000000")


def test_the_place_and_the_loop_do_not_count() -> None:
    one = comparable("see /home/a/p/x.py of ralph-x-00000000", "/home/a/p", "ralph-x-00000000")
    assert one == comparable("see /srv/q/x.py of ralph-x-11111111", "/srv/q", "ralph-x-11111111")


@pytest.mark.parametrize(("one", "other"), [("3 failed", "4 failed"), ("a", "b"), ("assert 5 == 6", "assert 5 == 7")])
def test_everything_else_counts(one: str, other: str) -> None:
    assert comparable(one, "/p", "x") != comparable(other, "/p", "x")


def test_the_first_line_that_differs_is_shown() -> None:
    assert difference("a\nb\nc", "a\nB\nC") == "line 2 of its prompt is 'B', and was 'b'"
    assert difference("a", "a\nb") == "line 2 of its prompt is 'b', and was not there"
    assert difference("a", "a") == ""
    assert len(difference("x" * 9000, "y" * 9000)) < 400
