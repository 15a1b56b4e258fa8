from hypothesis import given
from hypothesis import strategies as st

from untilproven.core.text import cut, printable


@given(st.text(), st.integers(0, 500))
def test_cut_text_never_exceeds_its_size(text: str, size: int) -> None:
    assert len(cut(text, size).encode()) <= max(size, 0)


def test_short_text_is_left_alone() -> None:
    assert cut("all of it", 100) == "all of it"


def test_the_tail_survives_a_cut_because_the_verdict_stands_there() -> None:
    kept = cut("start\n" + "noise\n" * 10_000 + "3 failed, 2 passed", 4096)
    assert kept.startswith("start")
    assert kept.endswith("3 failed, 2 passed")
    assert "bytes cut" in kept


def test_lone_surrogates_do_not_break_a_cut() -> None:
    assert cut("\ud800", 100) == "?"


def test_escape_sequences_are_taken_out_and_line_breaks_stay() -> None:
    assert printable("\x1b[31mred\x1b[0m\x1b]0;title\x07\nnext\tcell\r\x00\x9b1m") == "red\nnext\tcell1m"
