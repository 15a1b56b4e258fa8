"""A cassette is played by a real process that does what it says."""

import re
import stat
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from agents.stage import Stage
from process.scenes import alive
from untilproven.agents import player
from untilproven.agents.listening import MOST_LINES
from untilproven.agents.replay import ReplayAgent
from untilproven.contract import UsageLimit, Worked
from untilproven.model.cassette import STEPS
from untilproven.model.iteration import Action, Blocked, Complete, Continue, Failed, Usage
from untilproven.model.program import Limits, Stop


def agent(stage: Stage, *iterations: list[dict[str, Any]], **more: Any) -> ReplayAgent:
    path = stage.directory / "c.json"
    path.write_bytes(msgspec.json.encode({"version": 1, "iteration": [{"steps": each} for each in iterations], **more}))
    return ReplayAgent(path)


def play(stage: Stage, *steps: dict[str, Any]) -> Worked:
    return stage.play(agent(stage, list(steps)))


def tree(stage: Stage) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(stage.root.rglob("*")):
        content = str(path.readlink()) if path.is_symlink() else None if path.is_dir() else path.read_text()
        found[str(path.relative_to(stage.root))] = content
    return found


def test_the_player_knows_every_step_of_the_model() -> None:
    assert list(player._STEPS) == list(STEPS)


def test_it_says_its_own_words_and_shows_those_of_tools(stage: Stage) -> None:
    odd = 'quotes " \\ and \x01 \x1b[31m\n€ 😀'
    worked = play(stage, {"say": odd}, {"say": "<promise>DONE</promise>", "role": "tool"}, {"say": ""}, {"say": "end"})
    assert worked.said == f"{odd}\n\nend\n"
    assert worked.result == Continue(reason="exit 0")
    assert [(event.text, event.data) for event in stage.events] == [
        (odd, UNSET),
        ("<promise>DONE</promise>", {"role": "tool"}),
        (UNSET, UNSET),
        ("end", UNSET),
    ]


def test_the_longest_words_arrive_whole(stage: Stage) -> None:
    worked = play(stage, {"say": "\x01" * 100_000})
    assert stage.told("error") == []
    assert worked.said == "\x01" * 100_000 + "\n"


EDITS: list[dict[str, Any]] = [
    {"write": "deep/er/a.sh", "content": "echo é\n", "mode": "755"},
    {"write": "read-only", "content": "x", "mode": "444"},
    {"write": "empty"},
    {"mkdir": "folder/inner"},
    {"write": "gone", "content": "x"},
    {"delete": "gone"},
    {"write": "tree/x", "content": "x"},
    {"delete": "tree"},
    {"delete": "never/was"},
    {"write": "old", "content": "renamed"},
    {"rename": "old", "to": "new/name"},
    {"write": "dir/x", "content": "1"},
    {"rename": "dir", "to": "moved"},
    {"link": "link", "to": "deep/er/a.sh"},
    {"link": "out", "to": "/etc/passwd"},
    {"write": "over", "content": "1"},
    {"link": "over-link", "to": "over"},
    {"write": "over-link", "content": "2"},
]


def test_edits_are_made_and_made_again_change_nothing(stage: Stage) -> None:
    expected = {
        "deep": None,
        "deep/er": None,
        "deep/er/a.sh": "echo é\n",
        "empty": "",
        "folder": None,
        "folder/inner": None,
        "link": "deep/er/a.sh",
        "moved": None,
        "moved/x": "1",
        "new": None,
        "new/name": "renamed",
        "out": "/etc/passwd",
        "over": "1",
        "over-link": "2",
        "read-only": "x",
    }
    worked = play(stage, *EDITS)
    assert stage.told("error") == []
    assert tree(stage) == expected
    assert stat.S_IMODE((stage.root / "deep/er/a.sh").stat().st_mode) == 0o755
    assert {action.kind for action in worked.actions} == {"write"}
    assert worked.actions[0] == Action(kind="write", target="deep/er/a.sh")
    assert worked.actions[10] == Action(kind="write", target="old", outcome="renamed to new/name")
    play(stage, *EDITS)
    assert stage.told("error") == []
    assert tree(stage) == expected


@pytest.mark.parametrize("played", range(len(EDITS)))
def test_an_iteration_cut_off_anywhere_comes_to_the_same_when_played_again(stage: Stage, played: int) -> None:
    (stage.directory / "whole").mkdir()
    whole = Stage(stage.directory / "whole")
    play(whole, *EDITS)
    play(stage, *EDITS[:played])
    play(stage, *EDITS)
    assert tree(stage) == tree(whole)


def test_append_appends_and_a_mode_that_is_not_given_stays(stage: Stage) -> None:
    (stage.root / "s").write_text("one\n")
    (stage.root / "s").chmod(0o700)
    play(stage, {"append": "s", "content": "two\n"}, {"append": "new", "content": "x"})
    assert tree(stage) == {"s": "one\ntwo\n", "new": "x"}
    play(stage, {"write": "s", "content": "three\n"})
    assert stat.S_IMODE((stage.root / "s").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "step",
    [
        {"write": "way/x", "content": "owned"},
        {"append": "way/precious", "content": "owned"},
        {"append": "straight", "content": "owned"},
        {"delete": "way/precious"},
        {"rename": "way/precious", "to": "mine"},
        {"mkdir": "way/x"},
        {"link": "way/x", "to": "y"},
    ],
)
def test_a_link_does_not_lead_an_edit_out_of_the_tree(stage: Stage, step: dict[str, Any]) -> None:
    outside = stage.directory / "outside"
    outside.mkdir()
    (outside / "precious").write_text("mine")
    worked = play(
        stage, {"link": "way", "to": str(outside)}, {"link": "straight", "to": str(outside / "precious")}, step
    )
    assert [path.name for path in outside.iterdir()] == ["precious"]
    assert (outside / "precious").read_text() == "mine"
    assert worked.result == Failed(error="exited with 1")
    (error,) = stage.told("error")
    assert error.startswith(f"step 3 of the cassette, {next(iter(step))}: ")


def test_a_step_that_cannot_be_done_ends_the_iteration(stage: Stage) -> None:
    worked = play(stage, {"mkdir": "a"}, {"write": "a", "content": "x"}, {"say": "not reached"})
    assert (worked.said, worked.result) == ("", Failed(error="exited with 1"))
    assert stage.told("error") == ["step 2 of the cassette, write: Is a directory"]


def test_run_runs_a_line_of_shell_and_reports_how_it_ended(stage: Stage) -> None:
    line = 'cat; echo "$RALPH_ITERATION" > n; echo out; echo err >&2; yes | head -n 1; exit 3'
    worked = play(stage, {"run": line}, {"run": "kill -9 $$"}, {"say": "and on"})
    assert tree(stage) == {"n": "1\n"}
    assert worked.actions == (
        Action(kind="bash", target=line, outcome="exited with 3"),
        Action(kind="bash", target="kill -9 $$", outcome="ended by signal 9"),
    )
    assert worked.said == "and on\n"
    shown = [event.text for event in stage.events if event.data == {"role": "tool"}]
    assert shown == ["out", "err", "y"]


def test_actions_errors_and_the_session_are_only_reported(stage: Stage) -> None:
    worked = play(
        stage,
        {"action": "read", "target": "a.py", "outcome": "12 lines"},
        {"action": "git", "target": "commit"},
        {"error": "rate limited, trying again"},
        {"session": "s-1"},
    )
    assert worked.actions == (
        Action(kind="read", target="a.py", outcome="12 lines"),
        Action(kind="git", target="commit"),
    )
    assert stage.told("error") == ["rate limited, trying again"]
    assert worked.session == "s-1"
    assert worked.result == Continue(reason="exit 0")
    assert tree(stage) == {}


def test_usage_is_added_up_and_unknown_stays_unknown(stage: Stage) -> None:
    worked = play(
        stage,
        {"usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.25}},
        {"usage": {"input_tokens": 1, "output_tokens": 1, "model": "m"}},
    )
    assert worked.usage == Usage(
        input_tokens=11, output_tokens=6, total_tokens=17, cost_usd=0.25, cost_source="agent", model="m"
    )
    assert stage.events[0].data == {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.25}
    assert play(stage, {"say": "x"}).usage == Usage()


def test_a_usage_limit_may_say_when_it_is_over(stage: Stage) -> None:
    assert play(stage, {"usage_limit": "5-hour limit"}).usage_limit == UsageLimit(None)
    assert stage.told("limit") == ["5-hour limit"]
    at = play(stage, {"usage_limit": "", "resume_at": "2030-01-01T02:00:00+02:00"}).usage_limit
    assert at == UsageLimit(datetime(2030, 1, 1, tzinfo=UTC))
    before = datetime.now(UTC)
    soon = play(stage, {"usage_limit": "", "resume_in": "1m"}).usage_limit
    assert soon
    assert soon.resume_at
    assert before + timedelta(seconds=60) <= soon.resume_at <= datetime.now(UTC) + timedelta(seconds=61)


def test_a_result_is_a_claim_that_the_exit_code_can_refute(stage: Stage) -> None:
    complete = {"result": {"status": "complete", "artifacts": ["a"]}}
    assert play(stage, complete).result == Complete(artifacts=("a",))
    assert play(stage, complete, {"exit": 0}, {"say": "not reached"}).said == ""
    assert play(stage, complete, {"exit": 3}).result == Failed(error="exited with 3, though it stated complete")
    assert play(stage, complete, {"result": {"status": "blocked", "blocker": "b"}}).result == Blocked(blocker="b")
    by_file = play(stage, {"run": 'echo \'{"status": "complete"}\' > "$RALPH_RESULT_FILE"'})
    assert by_file.result == Complete()


@pytest.mark.parametrize("number", [2, 6, 9, 11, 13, 15])
def test_a_crash_is_by_that_very_signal_and_leaves_no_core(stage: Stage, number: int) -> None:
    worked = play(stage, {"say": "last words"}, {"crash": number})
    assert worked.ending.signal == number
    assert (worked.said, worked.result) == ("last words\n", Failed(error=f"ended by signal {number}"))
    assert tree(stage) == {}


def test_wait_takes_its_time(stage: Stage) -> None:
    assert play(stage, {"wait": 0.3}).ending.seconds >= 0.3


@pytest.mark.parametrize(("how", "signal"), [("until-stopped", 2), ("until-killed", 9)])
def test_a_hang_ends_when_it_is_stopped(stage: Stage, how: str, signal: int) -> None:
    stage.room.limits = Limits(wall=0.5)
    worked = play(stage, {"say": "x"}, {"hang": how})
    assert (worked.ending.signal, worked.result) == (signal, Continue(reason="stopped: wall"))
    assert [event.text for event in stage.events] == ["x"]


def test_what_it_leaves_running_is_found_and_ended(stage: Stage) -> None:
    worked = play(stage, {"leave": "10m"}, {"say": "bye"})
    (left,) = worked.actions
    assert worked.ending.stragglers == 1
    assert worked.ending.exit_code == 0
    assert not alive(int(str(left.outcome).split()[2]))


def test_what_it_leaves_running_is_hard_to_end(stage: Stage) -> None:
    look = (
        "for p in $(cat /proc/$PPID/task/$PPID/children); do for f in stat status; do cp /proc/$p/$f $p.$f; done; done"
    )
    worked = play(stage, {"leave": "10m"}, {"run": look})
    pid = str(worked.actions[0].outcome).split()[2]
    session = (stage.root / f"{pid}.stat").read_text().rpartition(")")[2].split()[3]
    ignored = re.search(r"SigIgn:\s*(\w+)", (stage.root / f"{pid}.status").read_text())
    assert session == pid
    assert ignored
    assert all(int(ignored[1], 16) >> (number - 1) & 1 for number in (1, 2, 15))


def test_killed_in_the_middle_it_leaves_nothing(stage: Stage) -> None:
    stage.room.until = lambda: Stop("abort", now=True) if len(stage.told("action")) == 1 else None
    worked = play(stage, {"leave": "10m"}, {"run": "sleep 1000"}, {"say": "not reached"})
    assert (worked.said, worked.result) == ("", Continue(reason="stopped: asked: abort"))
    assert not alive(int(str(worked.actions[0].outcome).split()[2]))


@pytest.mark.parametrize("lines", [True, False])
def test_a_flood_has_so_many_bytes_and_is_a_tools_output(stage: Stage, *, lines: bool) -> None:
    seen = {"stdout": 0, "stderr": 0}
    stream = stage.room.stream

    def counting(command: Any, *, output: Any, **more: Any) -> Any:
        def both(name: str, chunk: bytes) -> None:
            seen[name] += len(chunk)
            output(name, chunk)

        return stream(command, output=both, **more)

    stage.room.stream = counting  # type: ignore[method-assign]
    worked = play(stage, {"flood": 1_000_001, "lines": lines})
    assert seen["stderr"] == 1_000_001
    assert (worked.said, worked.ending.exit_code) == ("", 0)
    assert len(stage.events) == (MOST_LINES + 1 if lines else 1)


def test_a_flood_meets_the_output_limit(stage: Stage) -> None:
    stage.room.limits = Limits(output=1000)
    assert play(stage, {"flood": 10_000_000_000}).ending.stopped_because == "output"


def test_each_iteration_has_its_scene_and_then_comes_what_then_says(stage: Stage) -> None:
    one, two = [{"say": "one"}], [{"say": "two"}]
    assert [stage.play(agent(stage, one, two), at).said for at in (1, 2, 3)] == ["one\n", "two\n", ""]
    assert stage.play(agent(stage, one, two, then="repeat-last"), 9).said == "two\n"
    ended = stage.play(agent(stage, one, two, then="error"), 3)
    assert ended.result == Failed(error="exited with 1")
    assert stage.told("error") == ["the cassette has no iteration 3"]


def test_a_line_that_is_no_event_is_an_error_and_not_the_end(stage: Stage) -> None:
    worked = play(stage, {"run": "echo nonsense > /proc/$PPID/fd/1"}, {"say": "and on"})
    (error,) = stage.told("error")
    assert "nonsense" in error
    assert worked.said == "and on\n"


IMPORTED = """
import os, sys
before = set(sys.modules)
exec(open(sys.argv[1]).read(), {"__name__": "imported"})
print(*set(sys.modules) - before)
"""


def test_the_player_imports_next_to_nothing(stage: Stage) -> None:
    seen = bytearray()
    command = [sys.executable, "-I", "-S", "-c", IMPORTED, str(Path(player.__file__))]
    stage.room.stream(command, output=lambda _, chunk: seen.extend(chunk))
    assert seen.split() == [b"__future__"]


def test_it_can_be_played_when_there_is_a_python(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    made = agent(stage, [])
    assert (made.name, made.missing(stage.root)) == ("replay", "")
    monkeypatch.setattr(sys, "executable", "")
    assert made.missing(stage.root) == "there is no Python to play the cassette with"
