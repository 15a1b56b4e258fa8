"""What OpenCode prints, as it was recorded: steps, tools and words."""

import json
from typing import Any

import pytest
from msgspec import UNSET

from agents.actor import Actor
from agents.hearing import Line, call_of, lines_of, listen, recorded
from agents.stage import Stage
from real_agents.recorded import load
from untilproven.agents.adapter import Asked
from untilproven.agents.factory import adapter_of
from untilproven.agents.known import KnownAgent
from untilproven.contract import UsageLimit
from untilproven.model.iteration import Continue, Failed, Usage
from untilproven.model.program import Ending, Limits

FINE, WRONG = Ending(exit_code=0), Ending(exit_code=1)
DONE = "All finished. <promise>DONE</promise>"
ENDED = Continue(reason="it came to its end (stop)")


def known(stage: Stage) -> KnownAgent:
    return KnownAgent(adapter_of("opencode"), Asked(), stage.root)


def turn() -> list[Line]:
    return lines_of(load("opencode", "turn")[0])


def error(status: Any, message: str = "no") -> Line:
    return {"type": "error", "error": {"name": "APIError", "data": {"message": message, "statusCode": status}}}


def test_a_turn_is_told_and_its_steps_are_added_up() -> None:
    heard = recorded("opencode", "turn")
    assert (heard.came.result, heard.came.said) == (ENDED, DONE)
    assert heard.came.session == "ses_e1abae698ffeuDYyni3aEn8eBF"
    assert heard.came.usage == Usage(
        input_tokens=2000, output_tokens=100, total_tokens=2100, cost_usd=0.0075, cost_source="agent"
    )
    assert heard.actions == [("write", "/project/made.txt")]


def test_its_tools_are_told_by_what_they_do() -> None:
    assert recorded("opencode", "tools").actions == [("read", "/project/README.md"), ("bash", "echo seen")]


def test_a_command_that_fails_is_told_though_it_was_completed() -> None:
    heard = recorded("opencode", "failing_tool")
    (words,) = heard.told("error")
    assert "wrong" in words
    assert heard.came.result == ENDED


def test_a_tool_that_cannot_do_it_is_told() -> None:
    part = {"tool": "edit", "state": {"status": "error", "error": "no such file", "input": {"filePath": "a"}}}
    heard = listen("opencode", [{"type": "tool_use", "part": part}], FINE)
    assert (heard.told("error"), heard.actions) == (["no such file"], [("write", "a")])


def test_each_run_of_a_session_counts_its_own_steps() -> None:
    first, second = (recorded("opencode", "resumed", at=at).came for at in (0, 1))
    assert (first.usage.total_tokens, second.usage.total_tokens) == (2100, 1050)
    assert first.session == second.session


def test_a_step_of_unknown_cost_makes_the_cost_unknown() -> None:
    lines = turn()
    lines[2]["part"]["cost"] = 0
    usage = listen("opencode", lines, FINE).came.usage
    assert (usage.cost_usd, usage.cost_source, usage.total_tokens) == (UNSET, UNSET, 2100)


def test_an_end_of_a_step_that_never_began_makes_what_it_used_unknown_and_changes_nothing_else() -> None:
    lines = turn()
    forged = {"type": "step_finish", "part": {"reason": "x", "tokens": {"input": 1}, "cost": 0.001}}
    came = listen("opencode", [*lines[:2], forged, *lines[2:]], FINE).came
    assert (came.usage, came.uncounted) == (Usage(), True)
    assert not listen("opencode", lines, FINE).came.uncounted
    assert (came.result, came.said) == (ENDED, DONE)


def test_a_key_that_is_refused_will_not_do_the_next_time_either() -> None:
    came = recorded("opencode", "unauthorized").came
    assert came.unable == "the provider does not let it in (401): Incorrect API key provided."
    assert came.result == Failed(error="Incorrect API key provided.")


def test_a_limit_that_it_reports_is_one() -> None:
    assert listen("opencode", [error(429)], WRONG).came.usage_limit == UsageLimit(None)
    assert listen("opencode", [error(402)], WRONG).came.usage_limit == UsageLimit(None)
    assert listen("opencode", [error(500)], WRONG).came.usage_limit == UsageLimit(None)
    assert listen("opencode", [error(404)], WRONG).came.usage_limit is None


def test_an_error_that_it_worked_on_after_is_none() -> None:
    came = listen("opencode", [error(429), *turn()], FINE).came
    assert (came.usage_limit, came.unable, came.result) == (None, "", ENDED)


@pytest.mark.parametrize("case", ["rate_limit", "cut"])
def test_what_it_got_over_by_itself_is_no_trouble(case: str) -> None:
    came = recorded("opencode", case).came
    assert (came.usage_limit, came.unable, came.result) == (None, "", ENDED)


def test_a_refusal_is_an_end_without_words() -> None:
    assert recorded("opencode", "refused").came.said == ""


def test_one_that_was_killed_has_no_result_unless_we_did_it() -> None:
    came = recorded("opencode", "killed").came
    assert came.result == Failed(error="it ended without a result: it said nothing")
    assert came.usage == Usage()
    lines = lines_of(load("opencode", "killed")[0])
    assert listen("opencode", lines, Ending(signal=15, stopped_because="wall")).came.result is None


def test_one_that_ends_after_a_tool_has_not_finished_whatever_it_exits_with() -> None:
    came = listen("opencode", turn()[:3], FINE).came
    assert came.result == Failed(error="it ended before it had looked at what its tools answered")


STREAM_ERROR = (
    'timestamp=2026-11-16T17:32:06.241Z level=ERROR run=78936e01 message="stream error" providerID=scripted '
    "modelID=scripted session.id=ses_e1a95a206ffe5ylBkwjS73LLx3 small=false agent=build mode=primary "
    'error.error="AI_APICallError: You exceeded your current quota, please check your plan and billing details."'
)
"""As version 1.18.33 printed it on stderr, again and again, and nothing on stdout."""


def test_one_that_asks_for_ever_is_ended_and_its_provider_has_a_limit(stage: Stage, actor: Actor) -> None:
    actor.plays("opencode", also=f"for i in 1 2 3 4; do echo '{STREAM_ERROR}' >&2; done; exec sleep 1000")
    worked = stage.play(known(stage))
    assert worked.ending.stopped_because == ""
    assert worked.usage_limit == UsageLimit(None)
    assert worked.result == Continue(reason="the usage limit is reached")
    assert "AI_APICallError: You exceeded" in stage.told("text")[0]


UNANSWERED = "Cannot connect to API: Unable to connect. Is the computer able to access the url?"


def test_a_provider_that_does_not_answer_is_waited_for(stage: Stage, actor: Actor) -> None:
    """As version 1.18.33 tried it six times, and gave up."""
    data = {"message": UNANSWERED, "isRetryable": True, "metadata": {"url": "http://model/v1/chat/completions"}}
    line: Line = {"type": "error", "sessionID": "ses_1", "error": {"name": "APIError", "data": data}}
    assert listen("opencode", [line], WRONG).came.usage_limit == UsageLimit(None)
    for odd in ({**data, "isRetryable": False}, {**data, "statusCode": 404}, {"message": UNANSWERED}):
        other: Line = {**line, "error": {"name": "APIError", "data": odd}}
        assert listen("opencode", [other], WRONG).came.usage_limit is None
    said = STREAM_ERROR.replace(
        "You exceeded your current quota, please check your plan and billing details.", UNANSWERED
    )
    actor.plays("opencode", also=f"for i in 1 2 3 4; do echo '{said}' >&2; done; exec sleep 1000")
    assert stage.play(known(stage)).usage_limit == UsageLimit(None)


def test_one_that_gets_an_answer_after_all_goes_on(stage: Stage, actor: Actor) -> None:
    out = load("opencode", "turn")[0].out
    errors = f"for i in 1 2 3; do echo '{STREAM_ERROR}' >&2; done; sleep 0.3"
    actor.plays("opencode", out, also=f"{errors}; cat $seen/opencode.out; sleep 0.3; {errors}")
    worked = stage.play(known(stage))
    assert (worked.result, worked.usage_limit) == (ENDED, None)


def test_one_that_waits_for_its_provider_when_it_is_stopped_has_met_a_limit(stage: Stage, actor: Actor) -> None:
    actor.plays("opencode", also=f"echo '{STREAM_ERROR}' >&2; exec sleep 1000")
    stage.room.limits = Limits(idle=1.0)
    worked = stage.play(known(stage))
    assert (worked.ending.stopped_because, worked.usage_limit) == ("idle", UsageLimit(None))


def test_errors_beside_its_work_are_none(stage: Stage, actor: Actor) -> None:
    title = STREAM_ERROR.replace("small=false", "small=true")
    other = STREAM_ERROR.replace("stream error", "process")
    out = load("opencode", "turn")[0].out
    actor.plays("opencode", out, also=f"for i in 1 2 3 4; do echo '{title}' >&2; echo '{other}' >&2; done")
    assert stage.play(known(stage)).usage_limit is None


def overflow() -> list[Line]:
    """As it goes on when its prompt is too long: it makes it shorter and asks again, without end."""
    error = {"type": "error", "error": {"name": "ContextOverflowError", "data": {"message": "too long"}}}
    step = turn()[3:]
    own = {"type": "text", "part": {"synthetic": True, "text": "The conversation was compacted."}}
    return [error, *step, own]


def test_one_that_shortens_its_prompt_for_ever_is_ended(stage: Stage, actor: Actor) -> None:
    lines = "\n".join(json.dumps(line) for _ in range(4) for line in overflow())
    actor.plays("opencode", lines, also="cat $seen/opencode.out; exec sleep 1000")
    worked = stage.play(known(stage))
    assert worked.result == Failed(error="what it asks is too long for its model, however much it leaves out")
    assert (worked.usage_limit, worked.unable) == (None, "")
    assert "The conversation was compacted." not in stage.told("text")


def test_one_that_works_on_after_it_has_shortened_its_prompt_is_not(stage: Stage, actor: Actor) -> None:
    lines = [line for _ in range(5) for line in (*overflow(), *turn())]
    actor.plays("opencode", "\n".join(map(json.dumps, lines)))
    assert stage.play(known(stage)).result == ENDED


def test_text_that_speaks_of_limits_means_nothing() -> None:
    words = '{"type":"error","error":{"data":{"statusCode":429}}} rate limit 401'
    spoken: list[Line] = [
        {"type": "text", "part": {"text": words}},
        {"type": "tool_use", "part": {"tool": "bash", "state": {"status": "error", "error": words}}},
    ]
    for lines, ending in (([*spoken, *turn()], FINE), (spoken, WRONG), (spoken, Ending(signal=9))):
        came = listen("opencode", lines, ending, chatter=words).came
        assert (came.usage_limit, came.unable) == (None, "")


def test_a_second_session_changes_nothing() -> None:
    assert listen("opencode", [*turn(), {"sessionID": "ses_other"}], FINE).came.session == (
        "ses_e1abae698ffeuDYyni3aEn8eBF"
    )


def test_the_users_providers_are_kept_and_its_behaviour_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", '{"provider": {"x": {}}, "share": "auto"}')
    settings = call_of("opencode").env["OPENCODE_CONFIG_CONTENT"]
    assert '"provider":{"x":{}}' in settings
    assert '"share":"disabled"' in settings
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", "[not json")
    assert '"share":"disabled"' in call_of("opencode").env["OPENCODE_CONFIG_CONTENT"]


def test_it_finds_the_users_instructions_for_other_agents_only_if_it_is_to() -> None:
    assert call_of("opencode").env["OPENCODE_TEST_HOME"] in call_of("opencode").env["XDG_DATA_HOME"]
    assert "OPENCODE_TEST_HOME" not in call_of("opencode", asked=Asked(users_settings=True)).env
