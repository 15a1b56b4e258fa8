"""Whatever an agent prints, its adapter hears it to the end, and what it makes of it can be recorded."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.hearing import WITH_LINES, Line, all_recorded, assert_sound, lines_of, listen
from untilproven.model.iteration import Usage
from untilproven.model.program import Ending

RUNS = {name: all_recorded(name) for name in WITH_LINES}
ENDINGS = (
    Ending(exit_code=0),
    Ending(exit_code=1),
    Ending(exit_code=41),
    Ending(exit_code=145),
    Ending(exit_code=173),
    Ending(signal=9),
    Ending(exit_code=143, stopped_because="wall"),
)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(2**63), max_value=2**64 - 1),
    st.sampled_from(
        [0, -1, 401, 429, 10**12 + 1, 2**63, 2**70, 10**400, 1e300, -0.5, 1900000000, "429", "1900000000", "--help"]
    ),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.just([[]]),
    st.just([{"type": "text", "text": 7}, 5, None, {"tool_name": []}]),
    st.just({"status": {"type": []}, "message": {"content": 3}, "content": "x"}),
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to everything in it."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, item in inner for place in places(item, (*at, key)))]


def changed(value: Any, place: tuple[Any, ...], odd: Any) -> Any:
    if not place:
        return odd
    key, *rest = place
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = changed(value[key], tuple(rest), odd)
    return copy


@st.composite
def mutated(draw: st.DrawFn, name: str) -> list[Line]:
    """A recorded run with something else in some of its places, lines twice, missing, or in another order."""
    lines = lines_of(draw(st.sampled_from(RUNS[name])))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        place = draw(st.sampled_from(places(lines[at])))
        line = changed(lines[at], place, draw(ODD))
        lines[at] = line if isinstance(line, dict) else {"type": line}
    return draw(st.lists(st.sampled_from(lines), max_size=len(lines) + 2)) if draw(st.booleans()) else lines


@pytest.mark.parametrize("name", WITH_LINES)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_nothing_that_is_json_is_too_much_for_an_adapter(name: str, data: st.DataObject) -> None:
    lines = data.draw(mutated(name))
    ending = data.draw(st.sampled_from(ENDINGS))
    before = data.draw(st.sampled_from([Usage(), Usage(total_tokens=5, cost_usd=0.1), Usage(input_tokens=10**9)]))
    heard = listen(name, lines, ending, before=before, chatter=data.draw(st.text(max_size=20)))
    assert_sound(heard)


@pytest.mark.parametrize("name", WITH_LINES)
def test_every_recorded_line_alone_is_heard(name: str) -> None:
    for run in RUNS[name]:
        for line in lines_of(run):
            for ending in ENDINGS:
                assert_sound(listen(name, [line], ending))
