from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.config import durations


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("45s", 45), ("90m", 5400), ("8h", 28800), ("1h30m", 5400), ("1h0m5s", 3605), ("8760h", 31536000)],
)
def test_durations_are_read_as_people_write_them(text: str, seconds: int) -> None:
    assert durations.parse(text) == timedelta(seconds=seconds)


@given(st.integers(1, 365 * 24 * 3600))
def test_a_duration_reads_back_as_it_was_shown(seconds: int) -> None:
    duration = timedelta(seconds=seconds)
    assert durations.parse(durations.show(duration)) == duration


@pytest.mark.parametrize(
    "text",
    [
        *[
            "",
            " ",
            "0s",
            "0h0m",
            "-5m",
            "+5m",
            "nan",
            "inf",
            "infinite",
            "1.5h",
            "5d",
            "30m1h",
            "5m5m",
            "1h 30m",
            "5M",
            "\u0665m",
        ],
        *["5m\n", "8761h", "99999999999999999999h", "9" * 5000 + "h"],
    ],
)
def test_what_is_not_a_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"45s|90m|8760h"):
        durations.parse(text)


def test_a_bare_number_is_told_which_units_there_are() -> None:
    with pytest.raises(ValueError, match='30 has no unit; write "30h", "30m" or "30s"'):
        durations.parse("30")


@given(st.text(max_size=40))
def test_any_text_is_either_a_positive_duration_or_refused(text: str) -> None:
    try:
        assert timedelta() < durations.parse(text) <= durations.LONGEST
    except ValueError as error:
        assert str(error)  # noqa: PT017  which of the two happens is not the point
