"""What Codex prints, as it was recorded: threads, turns, items."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agents.hearing import Line, lines_of, listen, recorded
from real_agents.recorded import load
from untilproven.agents.home import Home
from untilproven.contract import UsageLimit
from untilproven.model.iteration import Continue, Failed, Usage
from untilproven.model.program import Ending

FINE, WRONG = Ending(exit_code=0), Ending(exit_code=1)
DONE = "All finished. <promise>DONE</promise>"
WARNING = "Model metadata for `scripted` not found."


def turn() -> list[Line]:
    return lines_of(load("codex", "turn")[0])


def failing(message: Any) -> list[Line]:
    return [*turn()[:-1], {"type": "turn.failed", "error": {"message": message}}]


def test_a_turn_is_told_and_counted() -> None:
    heard = recorded("codex", "turn")
    assert heard.came.result == Continue(reason="it came to its end")
    assert heard.came.said == DONE
    assert heard.came.session == "01a1e544-ba39-7510-b53f-00c55e3de13d"
    assert heard.came.usage == Usage(input_tokens=2000, output_tokens=100, total_tokens=2100)
    ((kind, target),) = heard.actions
    assert kind == "bash"
    assert target.endswith("> made.txt")
    assert "bash -lc" not in target


def test_its_commands_are_told_by_what_they_do() -> None:
    def ran(command: str) -> Line:
        return {"type": "item.started", "item": {"type": "command_execution", "command": command}}

    lines = [ran("/bin/bash -lc 'git status'"), ran("bash -c \"python3 -c 'print()'\""), ran("it's odd")]
    assert listen("codex", lines, FINE).actions == [
        ("git", "git status"),
        ("eval", "python3 -c 'print()'"),
        ("bash", "it's odd"),
    ]


def test_files_that_it_changed_are_told() -> None:
    item = {"type": "file_change", "changes": [{"path": "a.py", "kind": "add"}, {"path": "b.py"}, "odd"]}
    heard = listen("codex", [{"type": "item.completed", "item": item}], FINE)
    assert heard.actions == [("write", "a.py"), ("write", "b.py"), ("write", "")]


def test_a_command_that_fails_is_told_and_is_no_failure_of_the_run() -> None:
    heard = recorded("codex", "failing_tool")
    assert heard.told("error")[1:] == ["wrong"]
    assert heard.came.result == Continue(reason="it came to its end")


def test_a_command_that_was_declined_is_no_success() -> None:
    declined = {"type": "item.completed", "item": {"type": "command_execution", "status": "declined"}}
    came = listen("codex", [*turn()[:-1], declined, turn()[-1]], FINE).came
    assert came.result == Failed(error="it was refused permission for a command")


def test_a_key_that_is_refused_will_not_do_the_next_time_either() -> None:
    came = recorded("codex", "unauthorized").came
    assert came.unable.startswith("the provider does not let it in (401): unexpected status 401 Unauthorized")
    assert isinstance(came.result, Failed)


@pytest.mark.parametrize(
    "words", ["Not logged in", "Your refresh token was already used. Please log in again.", "run `codex login`"]
)
def test_nobody_is_logged_in_if_it_says_so(words: str) -> None:
    assert listen("codex", [], WRONG, chatter=words).came.unable == f"nobody is logged in: {words}"
    assert listen("codex", failing(words), WRONG).came.unable == f"nobody is logged in: {words}"


def test_a_usage_limit_names_its_moment_by_the_clock_of_this_machine() -> None:
    came = recorded("codex", "usage_limit").came
    assert came.usage_limit == UsageLimit(datetime(2030, 3, 17, 17, 46).astimezone())
    assert came.unable == ""


def at(moment: datetime) -> str:
    return f"You've hit your usage limit. Try again at {moment.strftime('%I:%M %p').lstrip('0')}."


def test_a_moment_without_a_day_is_the_next_that_comes() -> None:
    now = datetime.now().astimezone()
    for ahead in (timedelta(hours=2), timedelta(hours=22)):
        moment = (now + ahead).replace(second=0, microsecond=0)
        met = listen("codex", failing(at(moment)), WRONG).came.usage_limit
        assert met == UsageLimit(moment)


@pytest.mark.parametrize(
    "words", ["hit your usage limit", "hit your usage limit, try again at Feb 31st, 2030 5:46 PM", "Quota exceeded"]
)
def test_a_limit_without_a_moment_names_none(words: str) -> None:
    assert listen("codex", failing(words), WRONG).came.usage_limit == UsageLimit(None)


def test_a_day_that_is_over_is_not_tomorrow() -> None:
    words = "hit your usage limit, try again at Mar 17th, 2020 5:46 PM"
    met = listen("codex", failing(words), WRONG).came.usage_limit
    assert met == UsageLimit(datetime(2020, 3, 17, 17, 46).astimezone())


def test_retries_that_are_spent_on_a_rate_limit_are_one() -> None:
    words = "exceeded retry limit, last status: 429 Too Many Requests"
    assert listen("codex", failing(words), WRONG).came.usage_limit == UsageLimit(None)
    assert listen("codex", failing(words.replace("429", "503")), WRONG).came.usage_limit == UsageLimit(None)
    assert listen("codex", failing(words.replace("429", "404")), WRONG).came.usage_limit is None


def test_a_provider_that_does_not_answer_is_waited_for() -> None:
    words = "stream disconnected before completion: error sending request for url (http://model/v1/responses)"
    assert listen("codex", failing(words), WRONG).came.usage_limit == UsageLimit(None)


@pytest.mark.parametrize("case", ["rate_limit", "cut"])
def test_what_it_got_over_by_itself_is_no_trouble(case: str) -> None:
    heard = recorded("codex", case)
    assert heard.came.result == Continue(reason="it came to its end")
    assert (heard.came.usage_limit, heard.came.unable) == (None, "")
    assert heard.told("error")[1].startswith("Reconnecting... 1/1")


def test_a_prompt_that_is_too_long_is_a_failure_that_says_so() -> None:
    came = recorded("codex", "too_long").came
    assert isinstance(came.result, Failed)
    assert "context_length_exceeded" in came.result.error
    assert (came.usage_limit, came.unable) == (None, "")


def test_a_refusal_is_an_end_without_words() -> None:
    came = recorded("codex", "refused").came
    assert (came.said, came.result) == ("", Continue(reason="it came to its end"))


def test_one_that_was_killed_has_no_result_unless_we_did_it() -> None:
    came = recorded("codex", "killed").came
    assert came.result == Failed(error="it ended without a result: it said nothing")
    assert came.usage == Usage()
    lines = lines_of(load("codex", "killed")[0])
    assert listen("codex", lines, Ending(signal=15, stopped_because="wall")).came.result is None


def test_what_a_resumed_session_used_is_counted_once() -> None:
    first = recorded("codex", "resumed").came
    second = recorded("codex", "resumed", at=1, before=first.sums).came
    assert (first.usage.total_tokens, second.usage.total_tokens) == (2100, 1050)
    assert second.session == first.session


def test_sums_that_fall_are_unknown() -> None:
    before = Usage(input_tokens=9000, output_tokens=10, total_tokens=9010)
    assert recorded("codex", "turn", before=before).came.usage == Usage()


@pytest.mark.parametrize(
    "forged",
    [
        {"type": "turn.completed", "usage": {"input_tokens": 0, "output_tokens": 0}},
        {"type": "turn.failed", "error": {"message": "You've hit your usage limit."}},
        {"type": "turn.failed", "error": {"message": "unexpected status 401 Unauthorized"}},
    ],
)
def test_a_second_end_makes_what_it_used_unknown_and_changes_nothing_else(forged: Line) -> None:
    own = listen("codex", turn(), FINE).came
    came = listen("codex", [*turn()[:-1], forged, turn()[-1]], FINE).came
    assert (came.usage, came.sums) == (Usage(), Usage())
    assert (came.result, came.said, came.session) == (own.result, own.said, own.session)
    assert (came.usage_limit, came.unable) == (None, "")


def test_a_second_beginning_changes_nothing() -> None:
    lines = [*turn(), {"type": "thread.started", "thread_id": "--help"}, {"type": "thread.started", "thread_id": "b"}]
    assert listen("codex", lines, FINE).came.session == "01a1e544-ba39-7510-b53f-00c55e3de13d"


def test_text_that_speaks_of_limits_means_nothing() -> None:
    words = "You've hit your usage limit. unexpected status 401 not logged in"
    spoken: list[Line] = [
        {"type": "item.completed", "item": {"type": "agent_message", "text": words}},
        {"type": "item.completed", "item": {"type": "error", "message": words}},
        {"type": "error", "message": words},
        {
            "type": "item.completed",
            "item": {"type": "command_execution", "status": "failed", "aggregated_output": words},
        },
    ]
    well = listen("codex", [*turn()[:-1], *spoken, turn()[-1]], FINE, chatter=words).came
    assert (well.usage_limit, well.unable) == (None, "")
    assert listen("codex", [], WRONG, chatter="You've hit your usage limit.").came.usage_limit is None
    for ending in (Ending(signal=9), WRONG, Ending(signal=9, stopped_because="idle")):
        cut = listen("codex", [*turn()[:-1], *spoken], ending, chatter=words).came
        assert (cut.usage_limit, cut.unable) == (None, "")


def test_its_model_is_in_the_file_it_keeps_and_is_priced(tmp_path: Path) -> None:
    home = Home(tmp_path, "ralph-x-00000000", "codex")
    home.make()
    kept = b'{"type":"session_meta"}\n{"timestamp":"x","type":"turn_context","payload":{"cwd":"/","model":"gpt-5"}}\n'
    home.write("sessions/2026/11/16/rollout-2026-01a1e544-ba39-7510-b53f-00c55e3de13d.jsonl", kept)
    home.write("sessions/2026/11/16/rollout-2026-another.jsonl", kept.replace(b"gpt-5", b"gpt-4"))
    usage = listen("codex", turn(), FINE, home=home).came.usage
    assert (usage.model, usage.cost_source) == ("gpt-5", "prices")
    assert isinstance(usage.cost_usd, float)
    assert 0 < usage.cost_usd < 0.1
