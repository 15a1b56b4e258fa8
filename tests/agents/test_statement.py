"""What an agent states, and what it comes to."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from agents.stage import Stage
from untilproven.agents import statement
from untilproven.agents.command import CommandAgent
from untilproven.contract import UsageLimit, Worked
from untilproven.model.iteration import Blocked, Complete, Continue, Failed, IterationResult, Usage
from untilproven.model.program import Limits

COMPLETE = '{"status": "complete", "artifacts": ["a.py"]}'
UNIONS = [
    (COMPLETE, Complete(artifacts=("a.py",))),
    ('{"status": "complete"}', Complete()),
    ('{"status": "continue", "reason": "more to do"}', Continue(reason="more to do")),
    ('{"status": "blocked", "blocker": "no key"}', Blocked(blocker="no key")),
    ('{"status": "failed", "error": "gave up"}', Failed(error="gave up")),
    ('{"status": "continue", "reason": "x", "summary": "not ours"}', Continue(reason="x")),
]


def writing(content: str, then: str = "") -> CommandAgent:
    return CommandAgent(f"cat > \"$RALPH_RESULT_FILE\" <<'THE_END'\n{content}\nTHE_END\n{then}")


def saying(content: str, then: str = "") -> CommandAgent:
    return CommandAgent(f"cat <<'THE_END'\n{content}\nTHE_END\n{then}")


@pytest.mark.parametrize(("content", "result"), UNIONS)
def test_a_result_is_read_from_the_file_or_from_the_last_words(
    stage: Stage, content: str, result: IterationResult
) -> None:
    assert stage.play(writing(content)).result == result
    (told,) = [event for event in stage.events if event.kind == "result"]
    assert told.data == msgspec.to_builtins(result)
    assert stage.play(saying(f"Working.\n<result>{content}</result>\n\n")).result == result
    assert stage.told("error") == []


def test_the_file_counts_before_the_words(stage: Stage) -> None:
    agent = writing('{"status": "blocked", "blocker": "b"}', f"echo '<result>{COMPLETE}</result>'")
    assert stage.play(agent).result == Blocked(blocker="b")


def test_the_last_of_several_results_counts(stage: Stage) -> None:
    first, last = '<result>{"status": "complete"}</result>', '<result>{"status": "failed", "error": "e"}</result>'
    assert stage.play(saying(f"{first}\n{last}")).result == Failed(error="e")


@pytest.mark.parametrize(
    "words",
    [
        "<result>{}</result> and then I went on",
        "> <result>{}</result>",
        "```\n<result>{}</result>\n```",
        "```\n<result>{}</result>",
        "`<result>{}</result>`",
        "You can answer with this:\n\n  <result>{}</result>",
    ],
)
def test_a_result_that_is_shown_and_not_stated_is_none(stage: Stage, words: str) -> None:
    prompt = f"Fix it.\nYou can answer with this:\n<result>{COMPLETE}</result>\n"
    assert stage.play(saying(words.replace("{}", COMPLETE)), prompt=prompt).result == Continue(reason="exit 0")
    assert stage.told("error") == []
    assert stage.play(CommandAgent("cat"), prompt=prompt).result == Continue(reason="exit 0")
    assert stage.play(saying(f"Done.\n<result>{COMPLETE}</result>"), prompt=prompt).result == UNIONS[0][1]


def test_stderr_states_nothing(stage: Stage) -> None:
    assert stage.play(CommandAgent(f"echo '<result>{COMPLETE}</result>' >&2")).result == Continue(reason="exit 0")


def test_exit_code_0_is_never_complete_and_another_one_never_success(stage: Stage) -> None:
    assert stage.play(CommandAgent("true")).result == Continue(reason="exit 0")
    assert stage.play(writing(COMPLETE, "exit 3")).result == Failed(error="exited with 3, though it stated complete")
    assert stage.play(writing(COMPLETE, "kill -9 $$")).result == Failed(
        error="ended by signal 9, though it stated complete"
    )
    assert stage.play(writing('{"status": "blocked", "blocker": "b"}', "exit 3")).result == Blocked(blocker="b")
    assert stage.play(writing('{"status": "failed", "error": "e"}', "exit 3")).result == Failed(error="e")


def test_what_it_stated_before_it_was_stopped_counts(stage: Stage) -> None:
    stage.room.limits = Limits(wall=0.5)
    assert stage.play(writing(COMPLETE, "sleep 1000")).result == UNIONS[0][1]


def unreadable(stage: Stage, line: str) -> str:
    """The result is derived, and one error event says why."""
    assert stage.play(CommandAgent(line)).result == Continue(reason="exit 0")
    (error,) = stage.told("error")
    assert stage.play(CommandAgent(f"{line}\nexit 4")).result == Failed(error="exited with 4")
    return error


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('echo nonsense > "$RALPH_RESULT_FILE"', "the result file is not JSON"),
        (': > "$RALPH_RESULT_FILE"', "the result file is not JSON"),
        ("printf '\\377' > \"$RALPH_RESULT_FILE\"", "the result file is not JSON"),
        ('echo "[]" > "$RALPH_RESULT_FILE"', 'the result file has no "status"'),
        ('echo "{}" > "$RALPH_RESULT_FILE"', 'the result file has no "status"'),
        ('echo \'{"status": "done"}\' > "$RALPH_RESULT_FILE"', "the result file: result is not understood"),
        ('echo \'{"status": ["x"]}\' > "$RALPH_RESULT_FILE"', "the result file: result is not understood"),
        ('echo \'{"status": "failed"}\' > "$RALPH_RESULT_FILE"', "the result file: result is not understood"),
        ('echo \'{"status": "complete"}\' > r; ln -sf "$PWD/r" "$RALPH_RESULT_FILE"', "the result file cannot be read"),
        ('mkfifo "$RALPH_RESULT_FILE"', "the result file cannot be read"),
        ('mkdir -p "$RALPH_RESULT_FILE"', "the result file cannot be read"),
        ('head -c 1100000 /dev/zero > "$RALPH_RESULT_FILE"', "the result file cannot be read"),
        ('head -c 100000 /dev/zero | tr "\\0" "[" > "$RALPH_RESULT_FILE"', "the result file is not JSON"),
        ("echo '<result>nonsense</result>'", "the final <result> is not JSON"),
    ],
)
def test_a_statement_that_cannot_be_read_is_none_and_said_so(stage: Stage, line: str, why: str) -> None:
    assert unreadable(stage, line).startswith(why)


def test_an_earlier_result_is_not_this_one(stage: Stage) -> None:
    (stage.directory / "result.json").write_text(COMPLETE)
    assert stage.play(CommandAgent("true")).result == Continue(reason="exit 0")


def beside(stage: Stage, **more: Any) -> Worked:
    return stage.play(writing(msgspec.json.encode({"status": "continue", "reason": "r", **more}).decode()))


def test_usage_limit_and_session_may_stand_beside_it(stage: Stage) -> None:
    usage = {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.25, "model": "m", "cache": 3}
    worked = beside(stage, usage=usage, usage_limit={"resume_at": "2030-01-01T00:00:00Z"}, session="s-1")
    assert worked.result == Continue(reason="r")
    assert worked.usage == Usage(
        input_tokens=10, output_tokens=5, total_tokens=15, cost_usd=0.25, cost_source="agent", model="m"
    )
    assert worked.usage_limit == UsageLimit(datetime(2030, 1, 1, tzinfo=UTC))
    assert worked.session == "s-1"
    assert [event.kind for event in stage.events] == ["usage", "limit", "result"]
    assert beside(stage, usage_limit={}).usage_limit == UsageLimit(None)
    alone = stage.play(writing('{"usage": {"total_tokens": 7}}'))
    assert (alone.result, alone.usage) == (Continue(reason="exit 0"), Usage(total_tokens=7))
    assert stage.told("error") == []


@pytest.mark.parametrize(
    "usage",
    [{"cost_usd": -1}, {"input_tokens": -1}, {"total_tokens": 10**30}, {"input_tokens": "7"}, {"cost_usd": "1"}, [], 7],
)
def test_nonsense_about_usage_is_refused_and_stays_unknown(stage: Stage, usage: Any) -> None:
    worked = stage.play(writing(f'{{"status": "complete", "usage": {json.dumps(usage)}}}'))
    assert (worked.result, worked.usage) == (Complete(), Usage())
    (error,) = stage.told("error")
    assert error.startswith("the result file: usage is not understood")


@pytest.mark.parametrize("number", ["NaN", "1e999", "Infinity"])
def test_no_number_of_dollars_is_beyond_counting(stage: Stage, number: str) -> None:
    worked = stage.play(writing(f'{{"status": "complete", "usage": {{"cost_usd": {number}}}}}'))
    assert worked.usage.cost_usd is UNSET
    assert len(stage.told("error")) == 1


@pytest.mark.parametrize("more", [{"usage_limit": {"resume_at": "tomorrow"}}, {"usage_limit": 7}, {"session": 7}])
def test_other_nonsense_is_refused_by_name(stage: Stage, more: dict[str, Any]) -> None:
    worked = beside(stage, **more)
    assert (worked.usage_limit, worked.session) == (None, "")
    (error,) = stage.told("error")
    assert next(iter(more)) in error


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: f'{{"status": {text}'.encode()))
def test_nothing_that_is_written_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("result") / "result.json"
    path.write_bytes(data)
    stated = statement.in_file(path)
    assert stated is not None
    assert bool(stated.problems) or stated.result is not None


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(), st.lists))
def test_no_value_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path: Path = tmp_path_factory.mktemp("result") / "result.json"
    keys = ("status", "reason", "artifacts", "usage", "usage_limit", "session")
    for key in keys:
        with_it = {"status": "continue", "reason": "r", key: value}
        try:
            path.write_bytes(msgspec.json.encode(with_it))
        except (OverflowError, UnicodeEncodeError):
            continue
        assert statement.in_file(path) is not None


def test_a_long_sentence_is_cut_before_it_reaches_the_journal(stage: Stage) -> None:
    (stage.root / "r").write_text('{"status": "blocked", "blocker": "' + "x" * 900_000 + '"}')
    result = stage.play(CommandAgent('cp r "$RALPH_RESULT_FILE"')).result
    assert isinstance(result, Blocked)
    assert len(result.blocker) <= 4096
