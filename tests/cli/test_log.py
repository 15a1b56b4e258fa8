import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from support import ralph
from untilproven.cli.main import run
from untilproven.model import events
from untilproven.model.status import Status
from untilproven.store.layout import Project
from watch.scenes import HOSTILE, LOOP, Stage, action, begin, text


@pytest.fixture
def stage(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.chdir(project.root)
    with begin(project) as writer:
        yield Stage(writer)


def test_the_history_is_told_with_dates_and_the_agents_words_on_request(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.control()
    stage.iteration(1, claim="<promise>DONE</promise>")
    stage.iteration(2, failed=0)
    stage.finish()
    assert run(["log", LOOP]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(" started: Fix the failing tests and more")
    assert lines[0].startswith("2026-02-0")
    assert any(line.endswith("before the work: red   pytest -q: 2 of 14 tests fail") for line in lines)
    assert any(line.endswith("agent said DONE; 2 of 14 tests fail: refused, continuing") for line in lines)
    assert lines[-1].endswith(f"ralph show {LOOP}")
    assert not any("I look at the module" in line for line in lines)
    assert run(["log", "--verbose"]) == 0
    wordy = capsys.readouterr().out.splitlines()
    assert [line for line in wordy if "| I look at the module." in line]
    assert len(wordy) == len(lines) + 2 * 4


def test_the_last_lines_only(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.control()
    stage.iteration(1)
    assert run(["log", "-n", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[-1].endswith("red   pytest -q: 2 of 14 tests fail")


def test_as_json_the_entries_come_as_they_were_written(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.iteration(1)
    with stage.writer.loop.journal.open("ab") as file:  # a later version may say more
        line = b'{"v":1,"ts":"2026-02-02T21:00:00Z","loop_id":"%s","seq":6,"type":"moon.landed","who":"me"}\n'
        file.write(line % LOOP.encode())
    assert run(["log", "--json"]) == 0
    assert capsys.readouterr().out.encode() == stage.writer.loop.journal.read_bytes()
    assert run(["log", "--json", "--verbose"]) == 0
    kinds = [msgspec.json.decode(line)["type"] for line in capsys.readouterr().out.splitlines()]
    assert kinds.count("agent.event") == 3
    assert run(["log", "--json", "-n", "1"]) == 0
    assert msgspec.json.decode(capsys.readouterr().out)["who"] == "me"


def test_an_ending_that_nobody_summed_up_is_told(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.move(Status.ABORTED, reason="aborted_by_user")
    assert run(["log"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("aborted: aborted_by_user")


def test_damage_is_said_and_the_rest_is_told(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    with stage.writer.loop.journal.open("ab") as file:
        file.write(b"junk\n")
    assert run(["log", LOOP]) == 1
    shown = capsys.readouterr()
    assert "started:" in shown.out
    assert "1 lines" in shown.err


def test_a_loop_without_a_journal_has_nothing_to_tell(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.writer.close()
    stage.writer.loop.journal.unlink()
    assert run(["log", LOOP]) == 1
    assert "events.jsonl is missing" in capsys.readouterr().err
    assert run(["attach", LOOP]) == 1
    assert run(["show", LOOP, "1"]) == 2


def test_hostile_words_reach_no_terminal(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.record(events.IterationStarted(iteration=1))
    stage.agent(action(1, HOSTILE, HOSTILE))
    stage.agent(text(1, HOSTILE))
    for words in (["log", "-v"], ["log", "-v", "--json"]):
        assert run(words) == 0
        assert all(line.isprintable() for line in capsys.readouterr().out.splitlines())


def test_without_a_loop_there_is_nothing_to_tell(project: Project) -> None:
    done = ralph("log", cwd=project.root)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there are no loops here" in done.stderr


@pytest.mark.parametrize("words", [["log", "-n", "0"], ["log", "-n", "x"], ["log", "../../etc"]])
def test_a_mistake_exits_with_2(project: Project, words: list[str]) -> None:
    assert ralph(*words, cwd=project.root).returncode == 2


def follow(project: Project, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "untilproven", "log", "--follow", *words],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_following_goes_on_until_the_loop_ends(project: Project, stage: Stage) -> None:
    stage.control()
    with follow(project, "-n", "1") as process:
        assert process.stdout
        assert process.stdout.readline().rstrip().endswith("before the work: green make test")
        stage.iteration(1, failed=0)
        assert process.stdout.readline().rstrip().endswith("iteration 1 of 5")
        stage.finish()
        rest = process.stdout.read()
        assert rest.rstrip().endswith(f"ralph show {LOOP}")
        assert process.wait(30) == 0


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_ctrl_c_ends_following_without_complaint(project: Project, stage: Stage, words: tuple[str, ...]) -> None:
    with follow(project, *words) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stderr.read() == ""
