"""What an iteration has used so far, and whether that is too much."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from untilproven.contract import Worked
from untilproven.core.beginning import new_state
from untilproven.model.events import AgentEvent
from untilproven.model.iteration import Usage
from untilproven.model.plan import Allowance
from untilproven.model.program import Ending
from untilproven.model.state import LoopMetrics, LoopState, ProcessIdentity
from untilproven.runtime.meter import Meter, usage_in


def state(metrics: LoopMetrics | None = None, **allowed: Any) -> LoopState:
    begun = new_state(
        "ralph-meter-0123abcd",
        task="x",
        allowance=Allowance(iterations=5, **allowed),
        owner="me",
        working_directory="/",
        process=ProcessIdentity(pid=1, start="1", boot_id="b"),
        at=datetime(2026, 2, 2, tzinfo=UTC),
    )
    return replace(begun, metrics=metrics or UNSET)


def used(**data: Any) -> AgentEvent:
    return AgentEvent(iteration=1, kind="usage", data=data)


def ended(usage: Usage, *, uncounted: bool = False) -> Worked:
    return Worked(ending=Ending(exit_code=0), usage=usage, uncounted=uncounted)


def test_what_was_used_before_counts() -> None:
    meter = Meter(state(LoopMetrics(total_cost_usd=0.9, total_tokens=90), cost_usd=1.0, tokens=100))
    assert meter.over == ""
    meter.add(used(cost_usd=0.05, total_tokens=9))
    assert meter.over == ""
    meter.add(used(cost_usd=0.05))
    assert meter.over == "cost"


@pytest.mark.parametrize(
    "data", [{"total_tokens": 100}, {"input_tokens": 60, "output_tokens": 40}, {"total_tokens": 100, "input_tokens": 1}]
)
def test_tokens_are_the_total_or_the_sum_of_the_parts(data: dict[str, int]) -> None:
    meter = Meter(state(tokens=100))
    meter.add(used(**data))
    assert meter.over == "tokens"
    assert meter.total(ended(Usage())).total_tokens == 100


def test_what_is_not_limited_is_never_too_much() -> None:
    meter = Meter(state())
    meter.add(used(cost_usd=1e9, total_tokens=10**12))
    assert meter.over == ""


def test_other_events_and_other_words_cost_nothing() -> None:
    meter = Meter(state(cost_usd=1.0, tokens=10))
    meter.add(AgentEvent(iteration=1, kind="text", text="cost_usd: 5", data={"cost_usd": 5}))
    meter.add(used(cost_usd="5", total_tokens="many"))
    meter.add(AgentEvent(iteration=1, kind="usage"))
    assert meter.over == ""
    assert meter.total(ended(Usage(agent="a"))) == Usage(agent="a")


def test_what_the_agent_says_at_its_end_is_its_last_word() -> None:
    meter = Meter(state())
    meter.add(used(cost_usd=1.0, total_tokens=10))
    assert meter.total(ended(Usage(cost_usd=3.0))) == Usage(cost_usd=3.0)
    before_its_end = meter.total(ended(Usage(agent="a", model="m")))
    assert before_its_end == Usage(total_tokens=10, cost_usd=1.0, cost_source="agent", agent="a", model="m")


def test_unknown_stays_unknown() -> None:
    meter = Meter(state())
    meter.add(used(total_tokens=10))
    assert meter.total(ended(Usage())).cost_usd is UNSET
    assert meter.total(ended(Usage())).cost_source is UNSET


def test_what_was_told_along_the_way_is_not_taken_for_all_where_it_is_not() -> None:
    meter = Meter(state())
    meter.add(used(cost_usd=1.0, total_tokens=10))
    assert meter.total(ended(Usage(agent="a"), uncounted=True)) == Usage(agent="a")


@pytest.mark.parametrize(
    ("allowed", "spent", "wall", "limit"),
    [
        ({}, 0.0, None, "wall"),
        ({"iteration_seconds": 10.0}, 0.0, 10.0, "wall"),
        ({"seconds": 100.0}, 70.0, 30.0, "time"),
        ({"seconds": 100.0, "iteration_seconds": 10.0}, 70.0, 10.0, "wall"),
        ({"seconds": 100.0, "iteration_seconds": 50.0}, 70.0, 30.0, "time"),
        ({"seconds": 100.0}, 170.0, 0.001, "time"),
    ],
)
def test_the_shorter_time_counts_and_it_is_known_whose_it_is(
    allowed: dict[str, float], spent: float, wall: float | None, limit: str
) -> None:
    meter = Meter(state(LoopMetrics(active_seconds=spent), **allowed))
    assert meter.wall == wall
    assert meter.wall_limit == limit


def line(**event: Any) -> str:
    header = {"v": 1, "ts": "2026-02-02T21:00:00Z", "loop_id": "ralph-meter-0123abcd", "seq": 1}
    return json.dumps({**header, "type": "agent.event", "iteration": 1, **event}) + "\n"


def test_what_a_killed_agent_had_reported_is_read_from_what_was_kept(tmp_path: Path) -> None:
    output = tmp_path / "iteration-001.jsonl"
    output.write_text(
        line(kind="usage", data={"cost_usd": 0.5, "total_tokens": 5})
        + "no JSON\n"
        + line(kind="text", text="usage")
        + line(kind="usage", data={"cost_usd": 0.25})
        + '{"v": 1, "ts"'
    )
    assert usage_in(output) == Usage(cost_usd=0.75, total_tokens=5, cost_source="agent")


def test_what_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    assert usage_in(tmp_path / "nothing") is UNSET
    (tmp_path / "empty").touch()
    assert usage_in(tmp_path / "empty") is UNSET
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    assert usage_in(tmp_path / "link") is UNSET
