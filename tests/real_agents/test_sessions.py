"""Each agent in a session of its own with the installed plugin: it stops with a proof, at a limit, or when told."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from models.script import Bash, Step, Turn, Write
from real_agents.cases import session_of, stage
from real_agents.clients import Place
from real_agents.install import missing
from real_agents.running import environment
from real_agents.sessions import install, loops, receipt, said, serving, wait_for
from untilproven.session.plugins import known

AGENTS = ("claude", "codex", "gemini", "qwen")
CLAIM = "All is well. <promise>DONE</promise>"
HOSTILE = "$(touch pwned) `touch pwned` !`touch pwned` !{touch pwned} ; touch pwned"
LOOP = f"/ralph 'make it {HOSTILE}' --until 'grep -q agent made.txt' --max-iterations 6"
SOLVED: Sequence[Step] = (
    Turn(say=CLAIM),
    Turn(say="I have looked around."),
    Turn(calls=(Write(write="made.txt", content="by the agent\n"),)),
    Turn(say=CLAIM),
)
PLUGIN = known.directory("claude")
pytestmark = pytest.mark.timeout(400)


def each(*names: str) -> pytest.MarkDecorator:
    absent = {name: missing(name) for name in names}
    return pytest.mark.parametrize(
        "name",
        [pytest.param(one, marks=pytest.mark.skipif(bool(absent[one]), reason=absent[one])) for one in names],
    )


@each(*AGENTS)
def test_a_session_goes_on_until_the_work_is_proven(name: str, tmp_path: Path) -> None:
    with stage(name, {name: SOLVED}, tmp_path) as (place, server):
        install(name, place)
        ran = said(name, place, LOOP)
        assert ran.code == 0, ran.err
        turns = server.turns(name)
        assert len(turns) == 4, ran.out + ran.err
        assert "grep -q agent made.txt" in turns[1].prompt  # a false promise is refused with what the check said
        assert len(turns[2].prompt) > len(turns[1].prompt)  # silence is no promise either
        (loop,) = loops(place)
        assert loop["status"] == "completed"
        assert HOSTILE in json.dumps(loop, ensure_ascii=False)
        assert receipt(place)["proof"] == "red-to-green"
        assert not (place.root / "pwned").exists()
        assert server.left(name) == []
        assert ran.left == []


@each(*AGENTS)
def test_a_session_stops_at_its_limit(name: str, tmp_path: Path) -> None:
    steps = [Turn(say="I begin."), Turn(say="I go on."), *[Turn(say=CLAIM)] * 5]
    with stage(name, {name: steps}, tmp_path) as (place, server):
        install(name, place)
        ran = said(name, place, LOOP.replace("iterations 6", "iterations 4"))
        assert ran.code == 0, ran.err
        assert len(server.turns(name)) == 4, ran.out + ran.err
        (loop,) = loops(place)
        assert loop["status"] == "failed"


@each(*AGENTS)
def test_a_loop_that_was_cancelled_stays_so_and_another_session_never_had_one(name: str, tmp_path: Path) -> None:
    busy = Turn(calls=(Bash(bash="touch started; sleep 60"),))
    steps = [Turn(say="Hello."), busy, *(Turn(say=f"Answer {at}.") for at in range(5))]
    with stage(name, {name: steps}, tmp_path) as (place, server):
        install(name, place)
        session = session_of(name, said(name, place, "hello"))  # some forget a session in which nothing was finished
        said(name, place, LOOP, session, kill_after=place.root / "started")
        assert len(server.turns(name)) == 2
        other = said(name, place, "how are you?")
        assert other.code == 0, other.err
        assert len(server.turns(name)) == 3, other.out + other.err
        told = said(name, place, "/cancel-ralph", session)
        assert len(server.turns(name)) == 3, told.out + told.err  # no model was asked
        assert statuses(place) == ["aborted"], told.out + told.err
        after = said(name, place, "and now?", session)
        assert after.code == 0, after.err
        assert len(server.turns(name)) == 4, after.out + after.err


@each("claude")
def test_a_plugin_of_claude_does_the_same(name: str, tmp_path: Path) -> None:
    with stage(name, {name: [Turn(say="I begin."), *SOLVED[2:]]}, tmp_path) as (place, server):
        ran = said(name, place, LOOP.replace("/ralph", "/untilproven:ralph"), words=("--plugin-dir", str(PLUGIN)))
        assert len(server.turns(name)) == 3, ran.out + ran.err
        assert statuses(place) == ["completed"]
        valid = subprocess.run(
            [name, "plugin", "validate", str(PLUGIN)],
            env={**environment(name, place), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert valid.returncode == 0, valid.stdout + valid.stderr


@each("codex")
def test_codex_takes_a_word_without_a_slash_from_the_settings_of_a_project(name: str, tmp_path: Path) -> None:
    with stage(name, {name: [Turn(say="I begin."), *SOLVED[2:]]}, tmp_path) as (place, server):
        install(name, place, "--project")
        ran = said(name, place, LOOP.replace("/ralph", "ralph:"))
        assert len(server.turns(name)) == 3, ran.out + ran.err
        assert statuses(place) == ["completed"]


@each("opencode")
def test_opencode_serve_goes_on_until_the_work_is_proven_and_stops_when_told(name: str, tmp_path: Path) -> None:
    busy = Turn(calls=(Bash(bash="touch started; sleep 60"),))
    steps = (*SOLVED, Turn(say="Only talk."), *[Turn(say=CLAIM)] * 2, busy, Turn(say="Cancelled."), Turn(say="Plain."))
    with stage(name, {name: steps}, tmp_path) as (place, server):
        install(name, place, "--project")
        with serving(place) as opencode:
            session = opencode.session()
            opencode.command(session, "ralph", LOOP.removeprefix("/ralph "))
            wait_for(lambda: statuses(place) == ["completed"], "the proof is accepted")
            assert len(server.turns(name)) == 4
            assert "grep -q agent made.txt" in server.turns(name)[1].prompt

            opencode.say(opencode.session(), "just talk")
            assert len(server.turns(name)) == 5

            (place.root / "made.txt").unlink()
            opencode.say(opencode.session(), LOOP.replace("iterations 6", "iterations 2"))
            wait_for(lambda: statuses(place) == ["completed", "failed"], "the limit is reached")
            assert len(server.turns(name)) == 7

            last = opencode.session()
            opencode.ask(f"/session/{last}/prompt_async", {"parts": [{"type": "text", "text": LOOP}]})
            wait_for((place.root / "started").exists, "the agent works")
            opencode.ask(f"/session/{last}/abort", {})
            wait_for(lambda: statuses(place)[2:] == ["aborted"], "an abort ends the loop")
            opencode.command(last, "cancel-ralph")
            assert "No Active Loop" in server.turns(name)[-1].prompt
            opencode.say(last, "and now?")
        assert server.left(name) == []
        assert not (place.root / "pwned").exists()


@each("opencode")
def test_opencode_run_says_that_no_loop_can_go_on_in_it(name: str, tmp_path: Path) -> None:
    with stage(name, {name: [Turn(say="It cannot.")]}, tmp_path) as (place, server):
        install(name, place)
        ran = said(name, place, LOOP)
        assert "`opencode run` ends with the first answer" in ran.err
        assert "No loop was started" in server.turns(name)[0].prompt
        assert loops(place) == []


def statuses(place: Place) -> list[str]:
    return [loop["status"] for loop in loops(place)]
