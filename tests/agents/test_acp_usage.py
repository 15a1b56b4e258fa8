"""What an agent that speaks the Agent Client Protocol used: counted once, and unknown where it is not told."""

from typing import Any

import pytest
from msgspec import UNSET

from agents.acp_scene import Json, Scene, cost
from agents.stage import Stage
from untilproven.model.iteration import Usage


@pytest.fixture
def scene(stage: Stage) -> Scene:
    return Scene(stage)


def test_tokens_are_those_of_the_prompt_however_they_are_told(scene: Scene) -> None:
    apart = {"inputTokens": 100, "outputTokens": 20, "cachedReadTokens": 30, "cachedWriteTokens": 5, "totalTokens": 155}
    assert scene.play(answer={"usage": apart}).usage == Usage(
        input_tokens=135, cached_input_tokens=30, output_tokens=20, total_tokens=155, agent=scene.agent
    )
    within = {"inputTokens": 100, "outputTokens": 20, "cachedReadTokens": 30, "thoughtTokens": 7, "totalTokens": 120}
    assert scene.play(answer={"usage": within}).usage == Usage(
        input_tokens=100, cached_input_tokens=30, output_tokens=20, total_tokens=120, agent=scene.agent
    )
    thoughts = {"inputTokens": 100, "outputTokens": 20, "thoughtTokens": 7, "totalTokens": 127}
    assert scene.play(answer={"usage": thoughts}).usage == Usage(
        input_tokens=100, output_tokens=27, total_tokens=127, agent=scene.agent
    )
    step = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": ""}}
    steps = [{"update": {**step, "_meta": {"usage": {"inputTokens": 10, "outputTokens": 1}}}}] * 3
    assert scene.play(*steps).usage == Usage(input_tokens=30, output_tokens=3, total_tokens=33, agent=scene.agent)
    assert [event.data for event in scene.stage.events if event.kind == "usage"] == [
        {"input_tokens": 10, "output_tokens": 1, "total_tokens": 11}
    ] * 3


def test_where_money_is_not_told_a_known_model_has_its_price(scene: Scene) -> None:
    counted = {"input_tokens": 2000, "output_tokens": 100}
    quota = {"token_count": counted, "model_usage": [{"model": "gemini-2.5-flash", "token_count": counted}]}
    used = scene.play(answer={"_meta": {"quota": quota}}).usage
    assert (used.input_tokens, used.output_tokens, used.model) == (2000, 100, "gemini-2.5-flash")
    assert used.cost_usd == pytest.approx(0.00085)
    assert used.cost_source == "prices"


def test_money_of_the_session_is_counted_once(scene: Scene) -> None:
    first = scene.play(cost(0.01), cost(0.03))
    assert (first.usage.cost_usd, first.usage.cost_source) == (0.03, "agent")
    assert [event.data for event in scene.stage.events if event.kind == "usage"] == [
        {"cost_usd": 0.01},
        {"cost_usd": 0.02},
    ]
    assert scene.play(cost(0.05), session=first.session).usage.cost_usd == 0.02
    assert scene.play(cost(0.04), session=first.session).usage.cost_usd is UNSET
    assert scene.play(cost(0.04)).usage.cost_usd == 0.04


def test_a_session_that_is_begun_anew_has_cost_nothing(scene: Scene) -> None:
    first = scene.play(cost(0.03))
    lost = {"session/load": {"code": -32603, "message": "gone"}}
    assert scene.play(cost(0.05), session=first.session, errors=lost).usage.cost_usd == 0.05


def test_an_agent_that_may_count_from_nothing_again_is_priced_by_its_tokens(scene: Scene) -> None:
    claude = {"agentInfo": {"name": "@agentclientprotocol/claude-agent-acp"}}
    first = scene.play(cost(0.03), initialize=claude)
    assert first.usage.cost_usd == 0.03
    goes_on: dict[str, Any] = {"session": first.session, "initialize": claude}
    assert scene.play(cost(0.05), **goes_on).usage.cost_usd is UNSET
    counted = {"inputTokens": 1000, "outputTokens": 100, "totalTokens": 1100}
    told = {"usage": counted, "_meta": {"quota": {"model_usage": [{"model": "claude-sonnet-4-5"}]}}}
    used = scene.play(cost(0.05), answer=told, **goes_on).usage
    assert used.cost_usd == pytest.approx(0.0045)
    assert used.cost_source == "prices"


def test_an_agent_known_to_tell_the_last_step_only_leaves_the_tokens_unknown(scene: Scene) -> None:
    opencode = {"agentInfo": {"name": "OpenCode"}}
    usage = {"inputTokens": 1000, "outputTokens": 50, "totalTokens": 1050}
    worked = scene.play(cost(0.0075), answer={"usage": usage}, initialize=opencode)
    assert worked.usage == Usage(cost_usd=0.0075, cost_source="agent", agent=scene.agent)


@pytest.mark.parametrize("steps", [[cost(0.03), cost(0.01)], [cost(0.0)], [cost(-1)], [cost("3")], [cost(3, "EUR")]])
def test_money_that_falls_or_is_none_is_unknown(scene: Scene, steps: list[Json]) -> None:
    worked = scene.play(*steps)
    assert (worked.usage.cost_usd, worked.uncounted) == (UNSET, len(steps) > 1)
