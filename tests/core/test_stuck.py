import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.core.stuck import Step, Verdict, verdict


def walked(trees: str, errors: str = "") -> Verdict | None:
    """Each letter is a tree after an iteration; the loop began at `a`."""
    steps = [Step(tree, errors[place].strip() if place < len(errors) else "") for place, tree in enumerate(trees)]
    return verdict("a", steps)


@pytest.mark.parametrize(
    ("trees", "found"),
    [
        ("bcd", None),
        ("aa", None),
        ("aaa", Verdict.NO_PROGRESS),
        ("bbbb", Verdict.NO_PROGRESS),
        ("bbbc", None),
        ("bac", None),
        ("baba", Verdict.OSCILLATING),
        ("bcbcb", Verdict.OSCILLATING),
        ("bacd", None),
    ],
)
def test_trees_tell_standing_still_from_going_in_circles(trees: str, found: Verdict | None) -> None:
    assert walked(trees) == found


def test_the_same_error_three_times_in_a_row_is_one_verdict_whatever_the_trees() -> None:
    assert walked("bcd", "xxx") is Verdict.SAME_ERROR
    assert walked("bcd", "xx ") is None
    assert walked("bcde", "xyxx") is None


@given(st.lists(st.integers(1, 10**6), unique=True, max_size=30))
def test_a_loop_that_always_finds_a_new_tree_is_never_stuck(trees: list[int]) -> None:
    assert verdict("start", [Step(str(tree)) for tree in trees]) is None
