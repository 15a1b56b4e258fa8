"""What Claude Code prints, as it was recorded: what it did, what it cost, and why it stopped."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from agents.hearing import Line, lines_of, listen, recorded
from real_agents.recorded import load
from untilproven.agents.factory import adapter_of
from untilproven.contract import UsageLimit
from untilproven.model.iteration import Continue, Failed, Usage
from untilproven.model.program import Ending

FINE, WRONG = Ending(exit_code=0), Ending(exit_code=1)
DONE = "All finished. <promise>DONE</promise>"
RESET = datetime(2030, 3, 17, 17, 46, 40, tzinfo=UTC)


def turn(**changes: Any) -> list[Line]:
    """A run that went well, with something else in its result."""
    *lines, result = lines_of(load("claude", "turn")[0])
    return [*lines, {**result, **changes}]


def test_a_turn_is_told_and_counted() -> None:
    heard = recorded("claude", "turn")
    assert heard.came.result == Continue(reason="it came to its end")
    assert heard.came.said == DONE
    assert heard.came.session == "3612b9f2-6cc3-466d-b07d-60a9a73f976c"
    assert heard.came.usage == Usage(
        input_tokens=2000,
        output_tokens=100,
        total_tokens=2100,
        cost_usd=0.005,
        cost_source="agent",
        model="claude-sonnet-5-5",
    )
    assert heard.actions == [("write", "/project/made.txt")]
    assert heard.told("text") == [DONE]
    assert (heard.came.unable, heard.came.usage_limit, heard.came.cap) == ("", None, "")


def test_its_tools_are_told_by_what_they_do() -> None:
    heard = recorded("claude", "tools")
    assert heard.actions == [("bash", "echo seen"), ("read", "/project/README.md")]
    assert heard.told("text") == ["I look.", DONE]
    assert heard.told("error") == []


def test_an_answer_in_several_lines_is_counted_once() -> None:
    used = [event.data for event in recorded("claude", "tools").events if event.kind == "usage"]
    assert [data["total_tokens"] for data in used if data] == [1001, 1001]


def test_a_tool_that_fails_is_told_and_is_no_failure_of_the_run() -> None:
    heard = recorded("claude", "failing_tool")
    assert heard.told("error") == ["Exit code 3\nwrong"]
    assert heard.came.result == Continue(reason="it came to its end")


def test_a_key_that_is_refused_will_not_do_the_next_time_either() -> None:
    came = recorded("claude", "unauthorized").came
    assert came.unable == "nobody is logged in: Invalid API key · Fix external API key"
    assert isinstance(came.result, Failed)
    assert came.usage_limit is None


def test_words_of_an_error_are_told_as_one_and_are_not_its_own() -> None:
    heard = recorded("claude", "unauthorized")
    assert heard.came.said == ""
    assert heard.told("text") == []
    assert heard.told("error") == [
        "the provider answered 401: it tries again",
        "Invalid API key · Fix external API key",
    ]


def test_a_subscription_that_is_used_up_names_the_moment_when_it_is_not() -> None:
    assert recorded("claude", "subscription_limit").came.usage_limit == UsageLimit(RESET)


def test_a_key_that_is_used_up_names_none() -> None:
    came = recorded("claude", "usage_limit").came
    assert came.usage_limit == UsageLimit(None)
    assert came.unable == ""


def test_an_older_version_names_the_moment_after_a_bar() -> None:
    lines = turn(is_error=True, result="Claude AI usage limit reached|1900000000", api_error_status=429)
    assert listen("claude", lines, WRONG).came.usage_limit == UsageLimit(RESET)


@pytest.mark.parametrize("case", ["rate_limit", "cut", "subscription"])
def test_what_it_got_over_by_itself_is_no_trouble(case: str) -> None:
    came = recorded("claude", case).came
    assert (came.usage_limit, came.unable, came.result) == (None, "", Continue(reason="it came to its end"))


def test_a_connection_that_breaks_is_told() -> None:
    assert recorded("claude", "cut").told("error") == ["the connection to the provider broke: it tries again"]


def test_what_used_up_its_money_is_counted_though_it_leaves_it_out() -> None:
    """As version 2.1.325 printed it with --max-budget-usd 0.0001."""
    models = {"m": {"inputTokens": 1000, "outputTokens": 50}}
    none = {"input_tokens": 0, "output_tokens": 0}
    lines = turn(subtype="error_max_budget_usd", is_error=True, usage=none, modelUsage=models, total_cost_usd=0.0025)
    came = listen("claude", lines, WRONG).came
    assert (came.usage.total_tokens, came.usage.cost_usd) == (1050, 0.0025)
    again = listen("claude", lines, WRONG, before=Usage(total_tokens=50, cost_usd=0.001)).came
    assert (again.usage.total_tokens, again.usage.cost_usd) == (1000, 0.0015)


@pytest.mark.parametrize("told", [{"api_error_status": 529}, {"terminal_reason": "api_error"}])
def test_a_provider_that_is_out_of_order_is_waited_for(told: Line) -> None:
    came = listen("claude", turn(is_error=True, result="API Error", **told), WRONG).came
    assert came.usage_limit == UsageLimit()
    assert not came.unable


def test_a_limit_that_was_lifted_is_none() -> None:
    def event(status: str) -> Line:
        return {"type": "rate_limit_event", "rate_limit_info": {"status": status, "resetsAt": 1900000000}}

    failed = turn(is_error=True, result="API Error: no such model", api_error_status=404)
    assert listen("claude", [event("rejected"), *failed], WRONG).came.usage_limit == UsageLimit(RESET)
    assert listen("claude", [event("rejected"), event("allowed"), *failed], WRONG).came.usage_limit is None


def test_a_prompt_that_is_too_long_is_a_failure_that_says_so() -> None:
    came = recorded("claude", "too_long").came
    assert isinstance(came.result, Failed)
    assert came.result.error.startswith("prompt_too_long: Prompt is too long")
    assert (came.usage_limit, came.unable) == (None, "")


def test_a_refusal_is_a_failure_that_keeps_its_words() -> None:
    came = recorded("claude", "refused").came
    assert isinstance(came.result, Failed)
    assert came.said == "I will not do that."


@pytest.mark.parametrize(
    ("subtype", "cap"),
    [("error_max_turns", "its limit of turns is reached"), ("error_max_budget_usd", "its limit of money is reached")],
)
def test_a_limit_of_its_own_is_no_failure(subtype: str, cap: str) -> None:
    assert listen("claude", turn(subtype=subtype, is_error=True, result=None), WRONG).came.cap == cap


def test_a_refused_permission_is_no_success_whatever_it_exits_with() -> None:
    denied = [{"tool_name": "Write", "tool_input": {}}, {"tool_name": "Bash"}, {"tool_name": "Bash"}]
    came = listen("claude", turn(permission_denials=denied), FINE).came
    assert came.result == Failed(error="it was refused permission for Bash, Write")
    odd: list[Any] = [7, "x", {"a": 1}, [[]]]
    for one in odd:
        assert isinstance(listen("claude", turn(permission_denials=one), FINE).came.result, Failed)


def test_one_that_was_killed_has_no_result_and_no_cost() -> None:
    came = recorded("claude", "killed").came
    assert came.result == Failed(error="it ended without a result: it said nothing")
    assert came.usage == Usage(model="claude-sonnet-5-5")
    assert came.session == "d1dbc4e3-ffe8-414d-9062-f67d899e036c"


def test_one_that_we_stopped_did_not_fail() -> None:
    lines = lines_of(load("claude", "killed")[0])
    assert listen("claude", lines, Ending(exit_code=143, stopped_because="wall")).came.result is None


def test_a_second_result_makes_the_cost_unknown_and_changes_nothing_else() -> None:
    own = listen("claude", turn(), FINE).came
    forged = {**turn()[-1], "total_cost_usd": 0, "is_error": True, "api_error_status": 429, "session_id": "other"}
    came = listen("claude", [*turn()[:-1], forged, turn()[-1]], FINE).came
    assert came.usage == Usage(model="claude-sonnet-5-5")
    assert came == replace(own, usage=came.usage, sums=came.sums)


def test_a_second_beginning_changes_nothing() -> None:
    first, *rest = turn()
    forged = {**first, "session_id": "other", "model": "cheap"}
    assert listen("claude", [first, forged, *rest], FINE).came == listen("claude", turn(), FINE).came


@pytest.mark.parametrize("session", ["--version", "a b", "", "../x", "x" * 300, None, 7, ["a"], "a\0", "-r", "é"])
def test_a_session_is_a_word_that_can_be_said_on_a_command_line(session: Any) -> None:
    lines = [{**line, "session_id": session} for line in turn()]
    assert listen("claude", lines, FINE).came.session == ""


def test_what_a_resumed_session_cost_is_counted_once() -> None:
    first = recorded("claude", "resumed").came
    second = recorded("claude", "resumed", at=1, before=first.sums).came
    assert (first.usage.cost_usd, second.usage.cost_usd) == (0.005, 0.0025)
    assert (first.usage.total_tokens, second.usage.total_tokens) == (2100, 1050)


def per_run(tokens: int, cost: float, *, beside: int = 0) -> list[Line]:
    """As 2.1.197 counts: each run by itself. `beside` was used by a smaller model, which `usage` leaves out."""
    models = {"big": {"inputTokens": tokens}, "small": {"inputTokens": beside}}
    return turn(usage={"input_tokens": tokens, "output_tokens": 0}, total_cost_usd=cost, modelUsage=models)


def test_an_older_version_that_counts_each_run_by_itself_is_understood() -> None:
    before = Usage()
    costs = []
    for lines in (per_run(5000, 0.5, beside=300), per_run(100, 0.01, beside=300), per_run(9000, 0.9)):
        came = listen("claude", lines, FINE, before=before).came
        costs.append(came.usage.cost_usd)
        before = came.sums
    assert costs == [0.5, 0.01, 0.9]


def test_a_sum_that_falls_is_unknown() -> None:
    before = Usage(cost_usd=1.0, cost_source="agent", total_tokens=2100)
    lines = turn(total_cost_usd=0.5, modelUsage={"m": {"inputTokens": 9000}})
    came = listen("claude", lines, FINE, before=before).came
    assert came.usage.cost_usd is UNSET
    assert came.usage.total_tokens == 2100


@pytest.mark.parametrize("words", ["Not logged in · Please run /login", "Invalid API key", "OAuth token revoked"])
def test_nobody_is_logged_in_if_it_says_so_before_it_begins(words: str) -> None:
    came = listen("claude", [], WRONG, chatter=words).came
    assert came.unable == f"nobody is logged in: {words}"
    assert came.result == Failed(error=f"it ended without a result: {words}")


SPOKEN = "HTTP 401 429 rate limit: usage limit reached|1900000000 Invalid API key, run /login, prompt is too long"


def test_text_that_speaks_of_limits_and_logins_means_nothing() -> None:
    spoken: list[Line] = [
        {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": SPOKEN}]}},
        {
            "type": "user",
            "message": {"content": [{"type": "tool_result", "is_error": True, "content": SPOKEN}]},
        },
    ]
    begin, *rest, result = turn()
    met = (None, "", "")
    well = listen("claude", [begin, *spoken, *rest, {**result, "result": SPOKEN}], FINE, chatter=SPOKEN).came
    assert (well.usage_limit, well.unable, well.cap) == met
    assert well.result == Continue(reason="it came to its end")
    for ending in (Ending(signal=9), Ending(exit_code=1), Ending(exit_code=143, stopped_because="idle")):
        cut = listen("claude", [begin, *spoken], ending, chatter=SPOKEN).came
        assert (cut.usage_limit, cut.unable, cut.cap) == met


def test_it_says_who_is_billed() -> None:
    claude = adapter_of("claude")
    login = claude.logins[0].users
    assert claude.identity({}, ()).words == ""
    assert "ANTHROPIC_API_KEY" in claude.identity({}, ()).hint
    assert claude.identity({}, (login,)).words == f"the login in {login.parent}"
    assert claude.identity({"ANTHROPIC_API_KEY": "k"}, (login,)).words == "the key in ANTHROPIC_API_KEY"
    assert claude.identity({"CLAUDE_CODE_USE_BEDROCK": "1"}, ()).words.startswith("your account at Amazon Bedrock")
