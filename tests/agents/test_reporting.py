"""Reading numbers, moments and refusals as agents report them."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import UNSET

from untilproven.agents.prices import priced
from untilproven.agents.reporting import count, moment, money, name, tail, tokens, trouble
from untilproven.contract import UsageLimit
from untilproven.model.iteration import Usage


@pytest.mark.parametrize("value", [None, True, -1, 1.5, "5", [], {}, 10**13, 2**70])
def test_what_is_no_number_of_tokens_is_unknown(value: Any) -> None:
    assert count(value) is None


@pytest.mark.parametrize("value", [None, False, -0.1, "0.5", [], 1e300, 10**400])
def test_what_is_no_money_is_unknown(value: Any) -> None:
    assert money(value) is None


def test_numbers_are_taken_as_they_are() -> None:
    assert (count(0), count(7), money(0), money(0.25)) == (0, 7, 0.0, 0.25)


def test_tokens_are_known_if_both_kinds_are() -> None:
    names = (("in", "more"), ("out",), "cached")
    assert tokens({"in": 1, "more": 2, "out": 4, "cached": 1}, *names) == Usage(
        input_tokens=3, cached_input_tokens=1, output_tokens=4, total_tokens=7
    )
    odd: list[Any] = [{"in": 1}, {"out": 1}, {"in": "1", "out": 1}, [], None]
    for told in odd:
        assert tokens(told, *names) == Usage()


@pytest.mark.parametrize("value", [None, "soon", [], {}, 1e30, -(10**20), 1.9e12])
def test_what_is_no_moment_is_unknown(value: Any) -> None:
    assert moment(value) is None


def test_a_moment_is_in_seconds() -> None:
    assert moment(1900000000) == moment("1900000000") == datetime(2030, 3, 17, 17, 46, 40, tzinfo=UTC)


def test_a_status_says_what_is_wrong() -> None:
    assert trouble(401, " no ").unable == "the provider does not let it in (401): no"
    assert trouble(403, "").unable == "the provider does not let it in (403): it said nothing"
    assert trouble(429, "").limit == UsageLimit(None)
    assert trouble(402, "").limit == UsageLimit(None)
    for status in (500, 502, 503, 504, 529):
        assert trouble(status, "").limit == UsageLimit(None)
    for other in (None, 200, 400, 501, "429", [429], {"a": 1}):
        assert trouble(other, "429") == ("", None)


def test_a_name_is_a_short_word_that_can_be_shown() -> None:
    assert name("claude-sonnet-5-5[1m]") == "claude-sonnet-5-5[1m]"
    for odd in (None, 7, ["m"], "x" * 201, "a\nb", "\x1b[31m", "\0"):
        assert name(odd) == ""


def test_only_the_end_of_a_long_text_is_shown() -> None:
    assert tail("a" * 1000 + "end\n").endswith("aend")
    assert len(tail("a" * 1000)) == 300


def test_a_known_model_is_priced_and_an_unknown_one_is_not() -> None:
    used = Usage(input_tokens=1_000_000, output_tokens=0, total_tokens=1_000_000, model="gpt-4o")
    assert priced(used).cost_usd == 2.5
    assert priced(used).cost_source == "prices"
    for unknown in (Usage(), Usage(input_tokens=5, output_tokens=5), Usage(model="gpt-4o")):
        assert priced(unknown) == unknown
    nobody = Usage(input_tokens=5, output_tokens=5, model="nobody-knows-it")
    assert priced(nobody).cost_usd is UNSET


def test_more_from_a_cache_than_there_was_has_no_price() -> None:
    used = Usage(input_tokens=5, cached_input_tokens=10**9, output_tokens=5, model="gpt-4o")
    assert priced(used).cost_usd is UNSET
