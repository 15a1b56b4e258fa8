import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from untilproven.core.limits import Limits, Spent, reached, unaffordable, unobservable


@pytest.mark.parametrize(
    ("limits", "spent", "name"),
    [
        (Limits(iterations=3), Spent(iterations=3), "iterations"),
        (Limits(seconds=60), Spent(seconds=60.5), "time"),
        (Limits(cost_usd=5), Spent(cost_usd=5.0), "cost"),
        (Limits(tokens=1000), Spent(tokens=1200), "tokens"),
        (Limits(iterations=9, tokens=1), Spent(iterations=1, tokens=1), "tokens"),
    ],
)
def test_a_limit_that_is_used_up_is_named_with_its_evidence(limits: Limits, spent: Spent, name: str) -> None:
    stop = reached(limits, spent)
    assert stop
    assert stop.limit == name
    assert stop.observed is not UNSET
    assert stop.allowed is not UNSET
    assert stop.observed >= stop.allowed


def test_below_every_limit_or_without_any_nothing_stops() -> None:
    spent = Spent(iterations=2, seconds=59, cost_usd=4.99, tokens=999)
    assert reached(Limits(iterations=3, seconds=60, cost_usd=5, tokens=1000), spent) is None
    assert reached(Limits(), Spent(iterations=10**9, seconds=1e9, cost_usd=1e9, tokens=10**12)) is None


def test_what_nobody_reported_is_not_zero_and_not_over_the_limit_either() -> None:
    assert reached(Limits(cost_usd=5, tokens=10), Spent()) is None


def test_a_money_limit_the_user_set_does_not_go_on_blindly() -> None:
    spent = Spent(cost_usd=1.0, cost_unknown=True)
    stop = unobservable(Limits(cost_usd=5, strict=True), spent)
    assert stop
    assert "could not be observed" in str(stop.message)
    assert unobservable(Limits(cost_usd=5), spent) is None
    assert unobservable(Limits(cost_usd=5, strict=True), Spent(cost_usd=1.0)) is None
    assert unobservable(Limits(strict=True), spent) is None


def test_a_limit_on_tokens_does_not_go_on_blindly_either() -> None:
    stop = unobservable(Limits(tokens=1000, strict=True), Spent(tokens_unknown=True))
    assert stop
    assert stop.limit == "tokens"
    assert unobservable(Limits(tokens=1000, strict=True), Spent(tokens=10)) is None


def test_an_iteration_that_would_cost_more_than_is_left_is_not_begun() -> None:
    limits = Limits(cost_usd=1.0)
    assert unaffordable(limits, Spent(cost_usd=0.5), [0.1, 0.2, 9.0]) is None
    stop = unaffordable(limits, Spent(cost_usd=0.9), [0.1, 0.2, 9.0])
    assert stop
    assert stop.message == "the next iteration would cost about $0.20 and $0.10 is left"
    assert unaffordable(limits, Spent(cost_usd=0.9), []) is None
    assert unaffordable(Limits(), Spent(cost_usd=0.9), [5.0]) is None


@given(st.floats(0, 100), st.lists(st.floats(0, 10), min_size=1, max_size=9), st.floats(0.01, 100))
def test_what_is_begun_fits_by_the_median(spent: float, costs: list[float], limit: float) -> None:
    if unaffordable(Limits(cost_usd=limit), Spent(cost_usd=spent), costs) is None:
        assert sorted(costs)[(len(costs) - 1) // 2] <= limit - spent + 1e-9
