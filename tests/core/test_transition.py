import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.core.transition import move
from untilproven.errors import IllegalTransition
from untilproven.model.status import CONTINUABLE, HAS_PROCESS, MOVES, REGISTERED, TERMINAL, Status

LAW = {
    "running": {"paused", "completing", "aborted", "crashed", "failed"},
    "paused": {"running", "aborted"},
    "completing": {"completed", "failed", "crashed"},
}


@pytest.mark.parametrize("current", Status)
@pytest.mark.parametrize("to", Status)
def test_a_move_is_allowed_exactly_when_the_document_lists_it(current: Status, to: Status) -> None:
    if to.value in LAW.get(current.value, set()):
        assert move(current, to) is to
    else:
        with pytest.raises(IllegalTransition) as refused:
            move(current, to)
        assert f"is {current}" in refused.value.message
        assert f"become {to}" in refused.value.message
        assert refused.value.hint


@given(st.lists(st.sampled_from(Status), max_size=30))
def test_no_walk_leaves_a_terminal_state(wishes: list[Status]) -> None:
    current = Status.RUNNING
    for wish in wishes:
        if current in TERMINAL:
            with pytest.raises(IllegalTransition):
                move(current, wish)
        elif wish in MOVES[current]:
            current = move(current, wish)


def test_the_named_sets_fit_the_table() -> None:
    assert {"completed", "failed", "aborted", "crashed"} == TERMINAL
    assert {"running", "paused", "completing", "crashed"} == REGISTERED
    assert HAS_PROCESS < REGISTERED - TERMINAL
    assert TERMINAL - {Status.COMPLETED} == CONTINUABLE
