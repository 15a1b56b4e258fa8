"""Sums over a session become what one run used."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from untilproven.agents.totals import Totals, since
from untilproven.model.iteration import Usage

COUNT = st.integers(0, 10**9)


def of(tokens: int, cost: float | None = None) -> Usage:
    return Usage(total_tokens=tokens, cost_usd=UNSET if cost is None else cost)


def test_what_was_used_is_what_came_to_the_sum() -> None:
    assert since(of(100, 0.5), of(150, 0.75)) == of(50, 0.25)
    assert since(Usage(), of(150)) == of(150)
    assert since(of(100), Usage()) == Usage()


def test_a_sum_that_falls_makes_all_of_it_unknown() -> None:
    assert since(of(100, 0.5), of(99, 0.75)) == Usage()
    assert since(of(100, 0.5), of(150, 0.4)) == Usage()
    assert since(of(100, 0.3), of(100, 0.1 + 0.2)).cost_usd == 0


@given(sums=st.lists(COUNT, min_size=1))
def test_the_parts_of_a_rising_sum_add_up_to_it(sums: list[int]) -> None:
    rising = sorted(sums)
    parts = [since(of(before), of(now)).total_tokens for before, now in zip([0, *rising], rising, strict=False)]
    assert sum(part or 0 for part in parts) == rising[-1]


def test_the_last_session_is_kept(tmp_path: Path) -> None:
    totals = Totals(tmp_path)
    assert totals.of("a") == Usage()
    assert not totals.knows("a")
    totals.keep("a", of(5))
    assert (Totals(tmp_path).of("a"), Totals(tmp_path).knows("a")) == (of(5), True)
    totals.keep("b", of(7))
    assert (totals.of("a"), totals.of("b"), totals.of("")) == (Usage(), of(7), Usage())
    totals.keep("", of(9))
    assert not totals.knows("b")
    assert not totals.knows("")


@pytest.mark.parametrize("later", [Usage(), Usage(model="m"), of(4), of(0, 0.0)])
def test_sums_that_are_missing_or_fall_leave_those_before(later: Usage, tmp_path: Path) -> None:
    totals = Totals(tmp_path)
    totals.keep("a", of(5, 0.5))
    totals.keep("a", later)
    assert totals.of("a") == of(5, 0.5)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"a": 1}', b'{"a": {"total_tokens": -1}}'])
def test_a_file_of_nonsense_knows_nothing(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "totals.json").write_bytes(content)
    assert Totals(tmp_path).of("a") == Usage()
    Totals(tmp_path).keep("a", of(5))
    assert Totals(tmp_path).of("a") == of(5)
