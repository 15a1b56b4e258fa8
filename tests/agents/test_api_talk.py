"""The built-in agent at work: its program talks to a scripted model in each wire format, in a plain directory."""

import secrets
import socket
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from msgspec import UNSET

from agents.api_scene import KEY, TALK, WIRES, Scene, each_wire, keys, scene
from models.script import Bash, Failure, Read, Tool, Turn, Write
from models.script import Usage as Used
from untilproven.agents.adapter import Asked
from untilproven.agents.factory import adapter_of
from untilproven.agents.known import KnownAgent
from untilproven.contract import UsageLimit
from untilproven.model.iteration import Continue, Failed
from untilproven.model.program import Limits, Stop
from untilproven.store.agent_place import agent_home

__all__ = ["keys", "scene"]
LOOP = "ralph-x-00000000"


@each_wire
def test_a_model_acts_and_is_told_what_came_of_it(scene: Scene, wire: str) -> None:
    used = Used(input=100, cached=900, output=50)
    steps = [
        Turn(say="I look.", calls=(Write(write="a.txt", content="one\n"), Bash(bash="cat a.txt; exit 3")), usage=used),
        Turn(calls=(Read(read="a.txt"), Tool(tool="eval", arguments={"code": "print(6 * 7)"}), Read(read="../b"))),
        Turn(say="All finished."),
    ]
    worked = scene.play(steps, wire)
    assert worked.result == Continue(reason="it came to its end")
    assert worked.said == "All finished."
    assert (scene.stage.root / "a.txt").read_text() == "one\n"
    assert [(one.kind, one.target, one.outcome) for one in worked.actions] == [
        ("write", "a.txt", "4 bytes"),
        ("bash", "cat a.txt; exit 3", "exit 3"),
        ("read", "a.txt", "1 lines"),
        ("eval", "python: print(6 * 7)", "exit 0"),
        ("read", "../b", "refused: ../b is outside of the project"),
    ]
    told = scene.told()
    for one, words in zip(told, ("4 bytes written", "exit 3", "one", "42", "outside of the project"), strict=True):
        assert words in one
    assert scene.stage.told("text") == ["I look.", "All finished."]
    assert scene.outcomes == ["refused: ../b is outside of the project"]
    assert (worked.usage.input_tokens, worked.usage.cached_input_tokens) == (3000, 900)
    assert (worked.usage.output_tokens, worked.usage.cost_source) == (150, "prices")
    assert worked.usage.agent == "api"


@each_wire
def test_it_is_told_who_decides_and_what_it_is_to_do(scene: Scene, wire: str) -> None:
    scene.play([Turn(say="Done.")], wire, prompt="the task")
    (request,) = scene.server.turns(TALK)
    assert request.asked
    assert request.prompt == "the task"
    assert "checks that you cannot reach decide" in request.asked.system
    assert str(scene.stage.root) in request.asked.system
    assert list(request.asked.tools) == ["read", "write", "bash", "git", "eval"]
    assert KEY in " ".join(request.headers.values())


@each_wire
def test_a_key_that_is_refused(scene: Scene, wire: str) -> None:
    worked = scene.play([Failure(fail="unauthorized")], wire)
    assert worked.unable.startswith("the provider does not let it in (401): ")
    assert isinstance(worked.result, Failed)
    assert len(scene.server.turns(TALK)) == 1


@each_wire
def test_a_limit_that_lasts_is_not_waited_for(scene: Scene, wire: str) -> None:
    now = datetime.now(UTC)
    worked = scene.play([Failure(fail="rate_limit", retry_after=3600)], wire)
    assert worked.usage_limit
    assert worked.usage_limit.resume_at
    assert timedelta(minutes=59) < worked.usage_limit.resume_at - now < timedelta(minutes=63)
    assert worked.result == Continue(reason="the usage limit is reached")
    assert len(scene.server.turns(TALK)) == 1


@each_wire
def test_a_short_limit_is_waited_for(scene: Scene, wire: str) -> None:
    worked = scene.play([Failure(fail="rate_limit", retry_after=1), Turn(say="Done.")], wire)
    assert (worked.said, worked.usage_limit, worked.usage.total_tokens) == ("Done.", None, 1050)
    assert scene.outcomes[0].startswith("the provider answered 429: it tries again (")


@each_wire
def test_a_conversation_that_is_too_long(scene: Scene, wire: str) -> None:
    worked = scene.play([Failure(fail="too_long")], wire)
    assert isinstance(worked.result, Failed)
    assert worked.result.error.startswith("the conversation is too long for the model: ")


@each_wire
def test_an_answer_that_breaks_off_is_asked_for_again_and_its_cost_is_unknown(scene: Scene, wire: str) -> None:
    worked = scene.play([Turn(say="Half of it", fault="cut"), Turn(say="Done.")], wire)
    assert worked.said == "Done."
    assert worked.usage.total_tokens is UNSET
    assert scene.outcomes[0].startswith("there was no answer: it tries again (")


@each_wire
def test_a_model_that_refuses_has_not_done_it(scene: Scene, wire: str) -> None:
    worked = scene.play([Turn(say="I will not.", refused=True)], wire)
    assert isinstance(worked.result, Failed)
    assert worked.result.error.startswith("the model refused")


@each_wire
def test_a_prompt_of_a_megabyte_arrives_whole(scene: Scene, wire: str) -> None:
    prompt = "é\n" + "x" * 1_000_000
    assert scene.play([Turn(say="Done.")], wire, prompt=prompt).said == "Done."
    assert scene.server.turns(TALK)[0].prompt == prompt


@each_wire
def test_a_session_is_gone_on_with(scene: Scene, wire: str) -> None:
    first = scene.play([Turn(calls=(Bash(bash="echo seen"),)), Turn(say="First.")], wire, prompt="one")
    agent = scene.agent(wire)
    scene.server.extend(TALK, Turn(say="Second."))
    turn = msgspec.structs.replace(scene.stage.turn(2, "two"), session=first.session)
    second = agent.work(turn, scene.stage.room, scene.stage.events.append)
    assert second.session == first.session
    assert (second.said, second.usage.total_tokens) == ("Second.", 1050)
    last = scene.server.turns(TALK)[-1].asked
    assert last
    assert last.words() == "one\ntwo"
    assert "First." in last.words("assistant")
    assert "seen" in last.words("tool")


@each_wire
def test_the_usual_variable_says_where_the_provider_is(
    scene: Scene, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = WIRES[wire]
    monkeypatch.setenv(chosen.address, scene.server.url(TALK) + chosen.path)
    scene.server.extend(TALK, Turn(say="Done."))
    agent = KnownAgent(adapter_of("api", chosen.model), Asked(), scene.stage.root)
    assert scene.stage.play(agent).said == "Done."


@each_wire
def test_what_is_no_character_breaks_nothing(scene: Scene, wire: str) -> None:
    odd = Tool(tool="write", arguments={"path": "a", "content": "\ud800"})
    worked = scene.play([Turn(say="odd \ud800", calls=(odd,)), Turn(say="Done. \ud800")], wire)
    assert worked.said == "Done. ?"
    assert worked.actions[0].outcome
    assert worked.actions[0].outcome.startswith("refused: ")
    assert not (scene.stage.root / "a").exists()


def test_a_session_that_became_too_long_begins_anew(scene: Scene) -> None:
    first = scene.play([Turn(say="First.")], prompt="one")
    scene.server.extend(TALK, Failure(fail="too_long"), Turn(say="Third."))
    for number in (2, 3):
        turn = msgspec.structs.replace(scene.stage.turn(number, f"prompt {number}"), session=first.session)
        worked = scene.agent().work(turn, scene.stage.room, scene.stage.events.append)
    assert worked.said == "Third."
    assert scene.server.turns(TALK)[-1].prompt == "prompt 3"


@each_wire
def test_a_provider_that_does_not_answer_is_waited_for(scene: Scene, wire: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        worked = scene.stage.play(scene.agent(wire, url=f"http://127.0.0.1:{taken.getsockname()[1]}"))
    assert (worked.usage_limit, worked.unable) == (UsageLimit(), "")
    assert worked.result == Continue(reason="the usage limit is reached")
    assert len(scene.outcomes) == 3
    assert scene.outcomes[0].startswith("there was no answer: it tries again (")


@pytest.mark.parametrize("how", ["broken", "overloaded"])
@each_wire
def test_a_service_that_stays_broken_is_given_up_and_waited_for(
    scene: Scene, wire: str, how: Literal["broken", "overloaded"]
) -> None:
    worked = scene.play([Failure(fail=how)] * 4, wire)
    assert worked.usage_limit == UsageLimit()
    assert scene.server.left(TALK) == []


def test_a_quota_that_is_used_up_is_a_limit_without_an_end(scene: Scene) -> None:
    assert scene.play([Failure(fail="usage_limit")]).usage_limit == UsageLimit()


def test_it_has_so_many_turns_and_no_more(scene: Scene) -> None:
    worked = scene.play([Turn(calls=(Bash(bash="true"),))] * 3, "chat", "--max-turns", "2")
    assert worked.result == Continue(reason="its limit of turns is reached")
    assert len(scene.server.left(TALK)) == 1


def test_an_action_has_so_much_time_and_no_more(scene: Scene) -> None:
    worked = scene.play([Turn(calls=(Bash(bash="sleep 300"),)), Turn(say="Done.")], "chat", "--action-seconds", "1")
    assert worked.actions[0].outcome == "refused: it took more than 1 s and was ended"
    assert "it took more than 1 s" in scene.told()[0]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--fast",), "unrecognized arguments: --fast; it knows --base-url URL, --max-turns N and --action-seconds N"),
        (("--max-turns", "0"), "argument --max-turns: 0 is not at least 1"),
        (("--model", "nobody:gpt"), "the model nobody:gpt cannot be used: "),
    ],
)
def test_what_it_does_not_know_ends_the_loop_at_once(scene: Scene, words: tuple[str, ...], why: str) -> None:
    worked = scene.stage.play(scene.agent("chat", *words), prompt="x" * 1_000_000)
    assert worked.unable.startswith(why)
    assert scene.server.requests == []


def test_programs_do_not_find_the_key_unless_the_user_lets_them(scene: Scene) -> None:
    steps = [Turn(calls=(Bash(bash="env | grep -c planted-key"),)), Turn(say="Done.")]
    scene.play(steps)
    assert scene.told() == ["exit 1\n0\n"]
    scene.server.extend(TALK, *steps)
    scene.stage.play(scene.agent(asked=Asked(passed=("OPENAI_API_KEY",))))
    assert scene.told() == ["exit 0\n1\n"]


def test_what_it_keeps_has_no_key_in_it(scene: Scene) -> None:
    worked = scene.play([Turn(say="Done.")])
    kept = agent_home(scene.stage.root, LOOP) / "api" / "sessions" / f"{worked.session}.json"
    assert "fix it" in kept.read_text()
    assert KEY not in kept.read_text()
    assert KEY not in str(scene.stage.events)


def test_chance_is_kept_out_where_that_is_asked_for(scene: Scene) -> None:
    scene.server.extend(TALK, Turn(say="Done."), Turn(say="Done."))
    for model, asked in (("openai-chat:gpt-4.1", Asked(seeded=True)), ("openai-chat:gpt-4.1", Asked())):
        scene.stage.play(scene.agent("chat", "--model", model, asked=asked))
    seeded, free = (one.body for one in scene.server.turns(TALK))
    assert (seeded["temperature"], seeded["seed"]) == (0.0, 0)
    assert "seed" not in free


@pytest.mark.parametrize("fault", ["silent", "hung"])
def test_a_model_that_hangs_is_ended_by_the_limit(scene: Scene, fault: str) -> None:
    scene.stage.room.limits = Limits(idle=4)
    begun = time.monotonic()
    worked = scene.play([Turn(say="Wait for it", fault=fault)])  # type: ignore[arg-type]
    assert worked.ending.stopped_because == "idle"
    assert worked.usage.total_tokens is UNSET
    assert worked.session
    assert time.monotonic() - begun < 60


def test_a_kill_in_the_middle_of_an_action_leaves_nothing_running(scene: Scene) -> None:
    seconds = f"1000.{secrets.randbelow(10**9)}"
    up = scene.stage.root / "up"
    scene.stage.room.until = lambda: Stop("enough") if up.exists() else None
    daemon = f"setsid sleep {seconds} & touch up; sleep {seconds}; touch late"
    worked = scene.play([Turn(calls=(Bash(bash=daemon),)), Turn(say="Done.")])
    assert worked.ending.stopped_because == "asked: enough"
    assert [one.outcome for one in worked.actions] == [UNSET]
    assert not [one for one in Path("/proc").glob("[0-9]*/cmdline") if seconds.encode() in content(one)]
    assert not (scene.stage.root / "late").exists()


def content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
