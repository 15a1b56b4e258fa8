"""What Qwen Code prints, as it was recorded."""

from typing import Any

import pytest

from agents.hearing import Line, lines_of, listen, recorded
from real_agents.recorded import load
from untilproven.contract import UsageLimit
from untilproven.model.iteration import Continue, Failed, Usage
from untilproven.model.program import Ending

FINE, WRONG = Ending(exit_code=0), Ending(exit_code=1)
DONE = "All finished. <promise>DONE</promise>"


def turn(**changes: Any) -> list[Line]:
    *lines, result = lines_of(load("qwen", "turn")[0])
    return [*lines, {**result, **changes}]


def test_a_turn_is_told_and_counted() -> None:
    heard = recorded("qwen", "turn")
    assert heard.came.result == Continue(reason="it came to its end")
    assert heard.came.said == DONE
    assert heard.came.session == "a73ec355-81de-4beb-9298-b8acac8545ed"
    assert heard.came.usage == Usage(input_tokens=2000, output_tokens=100, total_tokens=2100, model="scripted")
    assert heard.actions == [("write", "/project/made.txt")]


def test_its_tools_are_told_by_what_they_do() -> None:
    assert recorded("qwen", "tools").actions == [("bash", "echo seen"), ("read", "/project/README.md")]
    (error,) = recorded("qwen", "failing_tool").told("error")
    assert "Exit Code: 3" in error


def test_a_known_model_is_priced() -> None:
    lines = [{**line, "model": "gpt-4o"} if line["type"] == "system" else line for line in turn()]
    usage = listen("qwen", lines, FINE).came.usage
    assert usage.cost_source == "prices"
    assert isinstance(usage.cost_usd, float)
    assert 0 < usage.cost_usd < 0.1


def test_what_a_resumed_session_used_is_counted_once() -> None:
    first = recorded("qwen", "resumed").came
    second = recorded("qwen", "resumed", at=1, before=first.sums).came
    assert (first.usage.total_tokens, second.usage.total_tokens) == (2100, 1050)
    assert second.sums.total_tokens == 3150


def test_sums_that_fall_are_unknown() -> None:
    before = Usage(input_tokens=9000, output_tokens=9000, total_tokens=18000)
    assert recorded("qwen", "turn", before=before).came.usage == Usage(model="scripted")


def test_a_second_result_makes_what_it_used_unknown_and_changes_nothing_else() -> None:
    forged = {"type": "result", "is_error": True, "error": {"message": "[API Error: 429 quota]"}, "usage": {}}
    came = listen("qwen", [*turn()[:-1], forged, turn()[-1]], FINE).came
    assert came.usage == Usage(model="scripted")
    assert (came.usage_limit, came.said, came.result) == (None, DONE, Continue(reason="it came to its end"))


@pytest.mark.parametrize(
    ("case", "unable", "limit"),
    [
        ("unauthorized", "the provider does not let it in (401): [API Error: 401 Incorrect API key provided.]", None),
        ("usage_limit", "", UsageLimit(None)),
        ("too_long", "", None),
        ("refused", "", None),
    ],
)
def test_what_the_provider_refused_is_a_failure_with_its_reason(
    case: str, unable: str, limit: UsageLimit | None
) -> None:
    came = recorded("qwen", case).came
    assert isinstance(came.result, Failed)
    assert "API Error" in came.result.error
    assert (came.unable, came.usage_limit, came.said) == (unable, limit, "")


@pytest.mark.parametrize(
    "message",
    [
        "[API Error: Connection error. (cause: connect ECONNREFUSED 127.0.0.1:44049)]",
        "[API Error: Request timed out.]",
        "[API Error: 500 The server had an error while processing your request.]",
    ],
)
def test_an_outage_of_its_provider_is_waited_for(message: str) -> None:
    failed = turn(subtype="error_during_execution", is_error=True, result=None, error={"message": message})
    came = listen("qwen", failed, WRONG).came
    assert (came.usage_limit, came.unable) == (UsageLimit(None), "")


def test_one_that_was_killed_has_no_result() -> None:
    assert recorded("qwen", "killed").came.result == Failed(error="it ended without a result: it said nothing")


def test_a_refused_permission_is_no_success() -> None:
    came = listen("qwen", turn(permission_denials=[{"tool_name": "write_file"}]), FINE).came
    assert came.result == Failed(error="it was refused permission for write_file")


def test_a_limit_of_turns_is_no_failure() -> None:
    assert listen("qwen", turn(subtype="error_max_turns", is_error=True), WRONG).came.cap


def test_text_that_speaks_of_limits_means_nothing() -> None:
    words = "[API Error: 429 quota] [API Error: 401 no]"
    for said in (words, "[API Error: Connection error.]"):
        came = listen("qwen", turn(result=said), FINE, chatter=said).came
        assert (came.usage_limit, came.unable) == (None, "")
    cut = listen("qwen", turn()[:-1], Ending(signal=9), chatter=words).came
    assert (cut.usage_limit, cut.unable) == (None, "")
