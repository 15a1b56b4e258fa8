import tomllib
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.config import values
from untilproven.model.settings import BY_KEY

WRONG: dict[str, tuple[Any, ...]] = {
    "max_iterations": (0, -1, True, 1.0, "5", float("nan"), 2**63, 1 << 100_000, [], {}),
    "max_cost": (0, -1, 0.0, True, "5", float("nan"), float("inf"), 10**400),
    "timeout": (30, 0, 1.5, True, float("inf"), "", "30", ["8h"]),
    "model": ("", "  ", 5, True, [], {}, date(2026, 1, 1), "a\0b", "\ud800"),
    "until": ("pytest", [""], [5], {}, [["a"]]),
    "sandbox": ("off", "", None, 1),
    "commit": (1, 0, "true", None),
}


@pytest.mark.parametrize("key", WRONG)
def test_a_value_of_the_wrong_type_or_range_is_refused(key: str) -> None:
    for raw in WRONG[key]:
        with pytest.raises(ValueError, match=r" (is|has) "):
            values.from_toml(BY_KEY[key], raw)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("max_iterations", "5", 5),
        ("max_cost", "2.5", 2.5),
        ("max_cost", "3", 3.0),
        ("timeout", "1h", timedelta(hours=1)),
        ("commit", "yes", True),
        ("commit", "0", False),
        ("until", "pytest -q\nruff check .", ("pytest -q", "ruff check .")),
        ("sandbox", "none", "none"),
        ("session.continuation_delay_ms", "0", 0),
    ],
)
def test_a_value_is_read_from_plain_text(key: str, text: str, value: Any) -> None:
    assert values.from_text(BY_KEY[key], text) == value


@pytest.mark.parametrize(
    ("key", "text"),
    [
        *[("max_iterations", text) for text in ("x", "9" * 5000, "\u0665", "1.0")],
        *[("max_cost", text) for text in ("nan", "inf", "$5")],
        ("commit", "maybe"),
        ("timeout", "90"),
    ],
)
def test_plain_text_that_means_nothing_is_refused(key: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        values.from_text(BY_KEY[key], text)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])).filter(str.strip)))
def test_text_written_as_toml_reads_back_and_stays_on_one_line(items: list[str]) -> None:
    written = values.to_toml(tuple(items))
    assert tomllib.loads(f"key = {written}")["key"] == items
    assert written.isprintable()


@given(st.floats(min_value=1e-9, max_value=1e15))
def test_an_amount_written_as_toml_reads_back(amount: float) -> None:
    assert tomllib.loads(f"key = {values.to_toml(amount)}")["key"] == amount


def test_characters_that_would_hide_part_of_a_command_are_shown_as_escapes() -> None:
    assert values.to_toml("ls\u202e; \x1b[8mrm\r") == '"ls\\u202e; \\u001b[8mrm\\u000d"'
