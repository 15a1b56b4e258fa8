"""What Gemini CLI prints, as it was recorded, and the exit codes it has for what its provider answers."""

from typing import Any

import pytest

from agents.hearing import Line, lines_of, listen, recorded
from real_agents.recorded import load
from untilproven.contract import UsageLimit
from untilproven.model.iteration import Continue, Failed, Usage
from untilproven.model.program import Ending

FINE = Ending(exit_code=0)
DONE = "All finished. <promise>DONE</promise>"
ENDED = Continue(reason="it came to its end")


def turn(**changes: Any) -> list[Line]:
    *lines, result = lines_of(load("gemini", "turn")[0])
    return [*lines, {**result, **changes}]


def test_a_turn_is_told_counted_and_priced() -> None:
    heard = recorded("gemini", "turn")
    assert (heard.came.result, heard.came.said) == (ENDED, DONE)
    assert heard.came.session
    usage = heard.came.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (2000, 100, 2100)
    assert (usage.model, usage.cost_source) == ("gemini-2.5-flash", "prices")
    assert isinstance(usage.cost_usd, float)
    assert 0 < usage.cost_usd < 0.01
    assert heard.actions == [("write", "made.txt")]


def test_what_it_says_in_pieces_is_told_when_it_is_said() -> None:
    heard = recorded("gemini", "tools")
    assert heard.told("text") == ["I look.", DONE]
    assert heard.actions == [("bash", "echo seen"), ("read", "README.md")]
    kinds = [event.kind for event in heard.events]
    assert kinds.index("text") < kinds.index("action")


def test_each_run_of_a_session_counts_its_own() -> None:
    first, second = (recorded("gemini", "resumed", at=at).came for at in (0, 1))
    assert (first.usage.total_tokens, second.usage.total_tokens) == (2100, 1050)
    assert first.session == second.session


def test_a_tool_that_fails_is_told() -> None:
    line = {"type": "tool_result", "status": "error", "error": {"message": "no such file"}}
    assert listen("gemini", [line, *turn()], FINE).told("error") == ["no such file"]


@pytest.mark.parametrize(
    ("case", "refused", "limit"),
    [("unauthorized", True, None), ("usage_limit", False, UsageLimit(None)), ("too_long", False, None)],
)
def test_its_exit_code_says_what_the_provider_answered(case: str, refused: bool, limit: UsageLimit | None) -> None:
    came = recorded("gemini", case).came
    assert isinstance(came.result, Failed)
    assert came.result.error.startswith("[API Error: ")
    assert bool(came.unable) is refused
    assert came.usage_limit == limit


def ended_by(message: str) -> list[Line]:
    error = {"type": "unknown", "message": message}
    return [turn()[0], {"type": "result", "status": "error", "error": error, "stats": {}}]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (1, "[API Error: exception TypeError: fetch failed sending request]"),
        (244, '[API Error: {"error":{"code":500,"message":"An internal error has occurred.","status":"INTERNAL"}}]'),
        (247, "[API Error: The model is overloaded. Please try again later.]"),
    ],
)
def test_an_outage_of_its_provider_is_waited_for(code: int, message: str) -> None:
    """As version 0.61.0 reported a port that nobody listens at, a 500 and a 503."""
    came = listen("gemini", ended_by(message), Ending(exit_code=code)).came
    assert (came.usage_limit, came.unable) == (UsageLimit(None), "")


def test_nobody_is_logged_in_by_its_exit_code() -> None:
    came = listen("gemini", [], Ending(exit_code=41), chatter="Please set an Auth method").came
    assert came.unable == "nobody is logged in: Please set an Auth method"


def test_a_stream_that_breaks_is_a_failure() -> None:
    came = recorded("gemini", "cut").came
    assert came.result == Failed(error="[API Error: terminated]")
    assert (came.usage_limit, came.unable) == (None, "")


def test_one_that_was_killed_exits_with_0_and_has_no_result() -> None:
    came = recorded("gemini", "killed").came
    assert came.result == Failed(error="it ended without a result: it said nothing")
    assert came.usage == Usage(model="gemini-2.5-flash")
    lines = lines_of(load("gemini", "killed")[0])
    assert listen("gemini", lines, Ending(exit_code=0, stopped_because="wall")).came.result is None


def test_a_second_result_makes_what_it_used_unknown_and_changes_nothing_else() -> None:
    forged = {"type": "result", "status": "error", "error": {"message": "quota"}, "stats": {}}
    came = listen("gemini", [*turn()[:-1], forged, turn()[-1]], FINE).came
    assert came.usage == Usage(model="gemini-2.5-flash")
    assert (came.result, came.said, came.usage_limit, came.unable) == (ENDED, DONE, None, "")


def test_a_second_beginning_changes_nothing() -> None:
    first, *rest = turn()
    forged = {"type": "init", "session_id": "other", "model": "cheap"}
    assert listen("gemini", [first, forged, *rest], FINE).came == listen("gemini", turn(), FINE).came


@pytest.mark.parametrize("code", [0, 1, 145, 173])
def test_text_that_speaks_of_limits_means_nothing(code: int) -> None:
    words = "[API Error: exception TypeError: fetch failed] 429 quota exceeded, 401 UNAUTHENTICATED"
    begin, *rest = turn()
    spoken = {"type": "message", "role": "assistant", "content": words}
    failed = {"type": "tool_result", "status": "error", "error": {"message": words}}
    for lines in ([begin, spoken, failed, *rest], [begin, spoken, failed]):
        came = listen("gemini", lines, Ending(exit_code=code), chatter=words).came
        assert (came.usage_limit, came.unable) == (None, "")


def test_a_session_that_talks_in_a_million_pieces_is_heard_in_time() -> None:
    pieces = [{"type": "message", "role": "assistant", "content": "xy"}] * 300_000
    assert len(listen("gemini", [*pieces, turn()[-1]], FINE).came.said) == 600_000


def test_a_report_that_is_cut_off_by_its_own_end_is_no_failure() -> None:
    """It exits without waiting until all is printed; killed, it exits with 0, too, and has cut off nothing."""
    begun = '{"type":"tool_result","timestamp":"2026-11-16T17:57:00.000Z","tool_id":"x","output":"1\\n2\\n3'
    cut = listen("gemini", turn()[:-1], FINE, chatter=f"Some remark.\n{begun}\n").came
    assert isinstance(cut.result, Continue)
    assert cut.usage == Usage(model="gemini-2.5-flash")
    killed = listen("gemini", turn()[:-1], FINE, chatter="Some remark.\n").came
    assert isinstance(killed.result, Failed)
