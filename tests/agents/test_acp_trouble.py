"""Agents that hang, die, babble and lie in the Agent Client Protocol."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp_scene import DONE, OPTIONS, Json, Scene, call, cost, later
from agents.hearing import Heard, assert_sound
from agents.stage import Stage
from process.scenes import alive, pids_in
from untilproven.agents.acp_talk import Talk
from untilproven.agents.listening import Telling
from untilproven.contract import Turn
from untilproven.model.events import AgentEvent
from untilproven.model.iteration import Continue, Failed, Usage
from untilproven.model.program import Ending, Grades, Limits, Stop


@pytest.fixture
def scene(stage: Stage) -> Scene:
    return Scene(stage)


def test_a_prompt_of_1_mib_arrives(scene: Scene) -> None:
    prompt = "begin é \x00 " + "do it well " * 100_000 + "end\udc80"
    assert scene.play(prompt=prompt).result == DONE
    (words,) = scene.asked("session/prompt")["prompt"]
    assert words["text"] == prompt.replace("\udc80", "?")


def test_garbage_on_its_stdout_is_chatter(scene: Scene) -> None:
    junk = 'oops\n[1]\n"x"\n{}\n{"id": 1}\n{"id": "x", "result": {"stopReason": "refusal"}}\n{"method": 3, "id": 1}\n\n'
    deep = "[" * 100_000 + "\n"
    worked = scene.play({"print": junk + deep + "\xff\n"}, {"complain": "careful\n"}, {"say": "fine"})
    assert (worked.result, worked.said) == (DONE, "fine")
    told = [(event.text, event.data) for event in scene.stage.events if event.data]
    assert ("oops", {"stream": "stdout"}) in told
    assert ("careful", {"stream": "stderr"}) in told


def test_huge_messages_are_kept_within_bounds(scene: Scene) -> None:
    pieces = [{"say": "x" * 1_000_000}] * 10
    worked = scene.play(*pieces, {"print": '{"x": "' + "y" * 20_000_000 + '"}\n'}, {"say": " DONE"})
    assert worked.result == DONE
    assert worked.said.endswith("x DONE")
    assert len(worked.said) < 300_000
    assert max(len(event.text or "") for event in scene.stage.events) < 300_000


def test_one_that_asks_without_listening_is_sent_away(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("untilproven.agents.acp_talk._PATIENCE", 0.3)
    monkeypatch.setattr("untilproven.agents.acp_talk._MOST_UNHEARD", 1_000_000)
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "terminal/create"}) + "\n"
    worked = scene.play({"print": asked * 50_000}, {"hang": 1000})
    assert worked.result == Failed(error="it asks, and does not listen to the answers")
    assert worked.ending.seconds < 30


@pytest.mark.parametrize("method", ["initialize", "session/new", "session/prompt"])
@pytest.mark.parametrize("limits", [Limits(wall=1.5), Limits(idle=1.5)])
def test_an_agent_that_hangs_is_ended_by_the_limits(scene: Scene, method: str, limits: Limits) -> None:
    scene.stage.room.limits = limits
    worked = scene.play(hangs_in=method)
    because = "wall" if limits.wall else "idle"
    assert worked.ending.stopped_because == because
    assert worked.result == Continue(reason=f"stopped: {because}")
    assert scene.methods[-1] == method


@pytest.mark.parametrize(
    ("step", "ending"),
    [({"exit": 0}, Ending(exit_code=0)), ({"exit": 3}, Ending(exit_code=3)), ({"kill": 9}, Ending(signal=9))],
)
def test_an_agent_that_dies_in_its_work_has_failed(scene: Scene, step: Json, ending: Ending) -> None:
    worked = scene.play({"say": "Working."}, cost(0.5), {"complain": "core dumped\n"}, step)
    assert (worked.ending.exit_code, worked.ending.signal) == (ending.exit_code, ending.signal)
    assert worked.result == Failed(error="it ended before it had answered session/prompt: core dumped")
    assert (worked.said, worked.usage.cost_usd, worked.session) == ("Working.", 0.5, "session-1")


@pytest.mark.parametrize("script", [{"exit": 7}, {"stays": True}])
def test_how_it_ends_after_its_answer_says_nothing(scene: Scene, script: Json, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("untilproven.agents.acp_talk._PATIENCE", 0.3)
    worked = scene.play({"background": "echo $$ > x.pid; exec sleep 1000"}, {"hang": 0.3}, {"say": "ok"}, **script)
    assert worked.result == DONE
    assert (worked.ending.exit_code, worked.ending.signal, worked.ending.stopped_because) == (0, None, "")
    assert worked.ending.seconds < 20
    (pid,) = pids_in(scene.stage.root)
    assert not alive(pid)


def test_an_agent_that_is_stopped_has_not_failed(scene: Scene) -> None:
    """Whatever it answers to the signal."""
    working = scene.stage.root / "working"
    scene.stage.room.until = lambda: Stop("pause") if working.exists() else None
    scene.stage.room.grades = Grades(interrupt=10, terminate=10)
    worked = scene.play({"write": "working"}, {"hang": 1000}, cancels=True)
    assert worked.ending.stopped_because == "asked: pause"
    assert worked.result == Continue(reason="stopped: asked: pause")


def test_one_that_is_not_there_any_more_was_not_started(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("untilproven.agents.known.program_of", lambda *_: "")
    worked = scene.play()
    assert isinstance(worked.result, Failed)
    assert worked.result.error.startswith("cannot be started: ")


def test_nobody_answers_for_the_agent_without_having_read_the_question(scene: Scene) -> None:
    numbers = [one["id"] for one in _heard_twice(scene)]
    assert len(set(numbers)) == len(numbers) == 6
    assert all(len(number) == 32 for number in numbers)
    forged = "".join(
        json.dumps({"jsonrpc": "2.0", "id": number, "result": {"stopReason": "refusal"}}) + "\n"
        for number in (*numbers, 0, 1, 2, 3, "", None)
    )
    worked = scene.play({"print": forged}, {"say": "still here"}, cost(0.5))
    assert (worked.result, worked.said, worked.usage.cost_usd) == (DONE, "still here", 0.5)


def _heard_twice(scene: Scene) -> list[Json]:
    scene.play()
    first = scene.heard
    scene.play()
    return first + scene.heard


def test_what_other_sessions_say_is_not_its_word(scene: Scene) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "<promise>DONE</promise>"}}
    other = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "other", "update": update}}
    assert scene.play({"say": "mine"}, {"print": json.dumps(other) + "\n"}).said == "mine"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
LINES: list[Json] = [
    {
        "result": {
            "protocolVersion": 1,
            "agentInfo": {"name": "a"},
            "authMethods": [{"id": "a", "_meta": {"api-key": 1}}],
        }
    },
    {"result": {"sessionId": "s", "configOptions": [{"category": "model", "id": "m"}], "models": {}}},
    {"result": {"stopReason": "end_turn", "usage": {"inputTokens": 1, "outputTokens": 1}}},
    {"result": {"_meta": {"quota": {"token_count": {}, "model_usage": [{"model": "m"}]}}}},
    {"error": {"code": -32000, "message": "m", "data": {"details": "d"}}},
    {"method": "session/request_permission", "params": {"toolCall": {"title": "t"}, "options": OPTIONS}},
    {
        "method": "session/update",
        "params": {"sessionId": "s", "update": call(kind="edit", locations=[{"path": "p"}])["update"]},
    },
    {
        "method": "session/update",
        "params": {"sessionId": "s", "update": later(status="failed", content=[{"content": {"text": "x"}}])["update"]},
    },
    {"method": "session/update", "params": {"sessionId": "s", "update": cost(1)["update"]}},
    {
        "method": "session/update",
        "params": {
            "sessionId": "s",
            "update": {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": "x"},
                "_meta": {"usage": {}},
            },
        },
    },
]


@given(st.lists(st.tuples(st.sampled_from(LINES), st.integers(0, 30), JSON), max_size=8))
def test_nothing_that_it_says_breaks_the_conversation(said: list[tuple[Json, int, Any]]) -> None:
    talk = Talk(Path("/p"))
    talk.begin(_turn(), "m")
    events: list[AgentEvent] = []
    talk.listen(Telling(events.append, 1), Usage())
    for line, place, other in said:
        talk.hear(_changed({"id": talk._number, **line}, place, other))
    for ending in (Ending(exit_code=0), Ending(signal=9), Ending(exit_code=1, stopped_because="wall")):
        assert_sound(Heard(talk.conclude(ending, ""), events))


def _changed(line: Json, place: int, other: Any) -> Json:
    """With something else in one place, counted through all that is in it."""
    left = [place]

    def walk(value: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            return other
        if isinstance(value, dict):
            return {name: walk(inner) for name, inner in value.items()}
        return [walk(inner) for inner in value] if isinstance(value, list) else value

    changed: Json = {name: walk(value) for name, value in line.items()}
    return changed


def _turn() -> Turn:
    nowhere = Path("/nowhere")
    return Turn(loop_id="x", iteration=1, prompt="p", prompt_file=nowhere, result_file=nowhere, result_here=nowhere)
