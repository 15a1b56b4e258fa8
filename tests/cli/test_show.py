import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from support import MOMENT
from untilproven.cli.main import run
from untilproven.model import events, wire
from untilproven.model.iteration import Failed, Fate
from untilproven.model.receipt import Claim, Proof, Receipt
from untilproven.model.status import Status
from untilproven.store.layout import Project
from watch.scenes import HOSTILE, LOOP, Stage, begin, finished


@pytest.fixture
def stage(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.chdir(project.root)
    with begin(project) as writer:
        stage = Stage(writer)
        stage.control()
        stage.iteration(1, claim="<promise>DONE</promise>")
        yield stage


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["show", *words]) == 0
    return capsys.readouterr().out


def test_a_loop_that_runs_is_shown_with_its_checks_and_iterations(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.record(events.IterationStarted(iteration=2))
    stage.record(finished(2, fate=Fate.DISCARDED, result=Failed(error="boom")))
    lines = shown(capsys).splitlines()
    assert f"loop        {LOOP}" in lines
    assert "status      running" in lines
    assert lines[lines.index("before      red pytest -q") + 1] == "            green make test"
    assert "now         red pytest -q" in lines
    head = next(place for place, line in enumerate(lines) if line.startswith("ITERATION"))
    assert [line.split() for line in lines[head + 1 :]] == [
        ["1", "continue", "kept", "1m13s", "red", "pytest", "-q", "src/module.py"],
        ["2", "failed", "discarded", "1m13s", "-", "nothing"],
    ]


def test_a_loop_that_ended_is_shown_by_its_receipt(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.finish()
    receipt = Receipt(
        version="1.0.0",
        loop_id=LOOP,
        status=Status.COMPLETED,
        task="Fix it\x1b[2J",
        iterations=1,
        finished_at=MOMENT,
        proof=Proof.RED_TO_GREEN,
        claims=(Claim(iteration=1, text="DONE"),),
    )
    stage.writer.loop.receipt.write_bytes(wire.encode_pretty(receipt))
    text = shown(capsys, LOOP)
    assert "asked       Fix it\n" in text
    assert "proof       proven: red-to-green\n" in text
    assert f"receipt     {stage.writer.loop.receipt}\n" in text
    document = msgspec.json.decode(shown(capsys, LOOP, "--json"))
    assert document["receipt"]["proof"] == "red-to-green"
    assert document["state"]["status"] == document["status"] == "completed"
    assert [record["number"] for record in document["iterations"]] == [1]
    assert document["damage"] == []


def test_only_the_newest_iterations_are_listed(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(2, 61):
        stage.record(events.IterationStarted(iteration=number), finished(number))
    assert run(["show"]) == 0
    out = capsys.readouterr()
    assert "10 earlier iterations are not listed" in out.err
    assert "\n11  " in out.out
    assert "\n10  " not in out.out


def test_one_iteration_is_shown_with_all_that_is_known_of_it(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.writer.loop.prompt(1).write_text("do it")
    text = shown(capsys, LOOP, "1")
    for line in (
        f"iteration   1 of {LOOP}",
        "fate        kept",
        "time        1m13s",
        "spent       $0.25, 1,200 tokens",
        "changed     modified src/module.py",
        "actions     read  src/module.py\n            write src/module.py",
        "check       red pytest -q\n              F.\n              2 failed",
        f"prompt      {stage.writer.loop.prompt(1)}",
        f"events      {stage.writer.loop.output(1)}",
    ):
        assert line + "\n" in text
    document = msgspec.json.decode(shown(capsys, LOOP, "1", "--json"))
    assert document["fate"] == "kept"
    assert document["files"]["prompt"] == str(stage.writer.loop.prompt(1))
    assert "output" not in document["files"]


def test_an_iteration_that_still_runs_is_shown_from_the_journal(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.record(events.IterationStarted(iteration=2))
    text = shown(capsys, LOOP, "2")
    assert "result      not finished\n" in text
    assert "fate        not decided yet\n" in text


def test_what_was_told_and_printed_comes_as_it_is_where_no_terminal_reads_it(project: Project, stage: Stage) -> None:
    odd = b"\x1b[31mred\x1b[0m \xff no newline"
    stage.writer.loop.prompt(1).write_bytes(b"prompt\n")
    stage.writer.loop.raw(1, "stdout").write_bytes(odd)
    for words, expected in (
        (["--prompt"], b"prompt\n"),
        (["--output"], odd),
        (["--output", "--json"], stage.writer.loop.output(1).read_bytes()),
    ):
        command = [sys.executable, "-P", "-m", "untilproven", "show", LOOP, "1", *words]
        done = subprocess.run(command, cwd=project.root, capture_output=True, check=True)
        assert done.stdout == expected


def test_a_terminal_gets_no_escape_sequences_from_a_file(project: Project, stage: Stage) -> None:
    stage.writer.loop.raw(1, "stdout").write_text(f"\x1b[31mred\x1b[0m\n{HOSTILE}\n")
    master, slave = pty.openpty()
    command = [sys.executable, "-P", "-m", "untilproven", "show", LOOP, "1", "--output"]
    with subprocess.Popen(command, cwd=project.root, stdout=slave) as process:
        os.close(slave)
        got = b""
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            got += data
        assert process.wait(30) == 0
    os.close(master)
    assert got.startswith(b"red\r\n")
    assert b"\x1b" not in got
    assert b"owned" not in got


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([LOOP, "9"], "has no iteration 9"),
        ([LOOP, "0"], "0 is not in the range"),
        ([LOOP, "--prompt"], "say of which iteration"),
        ([LOOP, "1", "--prompt", "--output"], "say of which iteration"),
        ([LOOP, "1", "--output"], "nothing was kept"),
        (["ralph-none-00000000"], "there is no loop"),
    ],
)
def test_a_mistake_is_explained_and_exits_with_2(
    stage: Stage, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert run(["show", *words]) == 2
    assert said in capsys.readouterr().err


def test_damaged_files_are_named_and_the_rest_is_shown(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.writer.loop.iteration(1).write_text("junk")
    stage.writer.loop.receipt.write_text("{}")
    assert run(["show", LOOP]) == 1
    out = capsys.readouterr()
    assert "status      running" in out.out
    assert "iteration-001.json is not valid" in out.err
    assert "receipt.json cannot be read" in out.err
    assert run(["show", LOOP, "1"]) == 1
    assert "state rebuild" in capsys.readouterr().err


def test_no_link_is_followed(stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = stage.writer.loop
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "iteration-001.md").write_text("secret")
    (secret / "iteration-001.json").write_text("secret")
    (secret / "receipt.json").write_text("secret")
    loop.prompts.rmdir()
    loop.prompts.symlink_to(secret)
    loop.iteration(1).unlink()
    loop.iterations.rmdir()
    loop.iterations.symlink_to(secret)
    loop.receipt.symlink_to(secret / "receipt.json")
    for words in (["show", LOOP], ["show", LOOP, "1"], ["show", LOOP, "1", "--prompt"]):
        assert run(words) == 1
        out = capsys.readouterr()
        assert "secret" not in out.out
        assert "symbolic link" in out.err
