from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from support import MOMENT
from untilproven.core.retention import KEPT_CHECKPOINTS, Stored, expired


def stored(*iterations: int, days_old: float = 0) -> list[Stored]:
    return [Stored(number, MOMENT - timedelta(days=days_old)) for number in iterations]


def gone(checkpoints: list[Stored], best: int | None = None) -> set[int]:
    return {item.iteration for item in expired(checkpoints, now=MOMENT, best=best)}


def test_all_but_the_last_five_are_given_up() -> None:
    assert gone(stored(*range(1, 9))) == {1, 2, 3}


def test_the_best_iteration_is_kept_for_ever() -> None:
    assert gone(stored(*range(1, 9)), best=2) == {1, 3}


def test_old_ones_go_but_never_the_very_last() -> None:
    assert gone(stored(1, 2, 3, days_old=31)) == {1, 2}


@given(st.sets(st.integers(1, 60)), st.integers(1, 60), st.floats(0, 100))
def test_no_rule_ever_takes_the_last_or_the_best(numbers: set[int], best: int, days: float) -> None:
    given_up = gone(stored(*numbers, days_old=days), best=best)
    assert best not in given_up
    if numbers:
        assert max(numbers) not in given_up
    assert len(numbers - given_up) <= KEPT_CHECKPOINTS + 1
