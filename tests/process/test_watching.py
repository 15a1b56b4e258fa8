"""Input, output, limits and the stop in grades."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from process.scenes import PYTHON, alive, pids_in, run_program, wait_for
from untilproven.model.program import Ending, Grades, Limits, Stop, Stream
from untilproven.process import table

F_SETPIPE_SZ = 1031
QUICK = Grades(interrupt=0.3, terminate=0.3)

ANSWERS = """
trap 'echo int >> said; {on_int}' INT
trap 'echo term >> said; {on_term}' TERM
echo ready
while :; do sleep 0.02; done
"""


def test_five_megabytes_come_back_while_they_are_still_being_written(tmp_path: Path) -> None:
    data = os.urandom(5_000_000)
    ending, printed = run_program(["cat"], tmp_path, stdin=data)
    assert ending.succeeded
    assert printed["stdout"] == data


def test_a_program_that_never_reads_five_megabytes_hangs_nobody(tmp_path: Path) -> None:
    ending, printed = run_program("sleep 0.1; echo done", tmp_path, stdin=b"x" * 5_000_000)
    assert ending.succeeded
    assert printed["stdout"] == b"done\n"


def test_a_program_that_closes_its_input_hangs_nobody(tmp_path: Path) -> None:
    ending, printed = run_program("exec <&-; sleep 0.1; echo done", tmp_path, stdin=b"x" * 5_000_000)
    assert ending.succeeded
    assert printed["stdout"] == b"done\n"


def test_without_input_the_program_reads_an_end(tmp_path: Path) -> None:
    ending, printed = run_program("cat; echo end", tmp_path)
    assert (ending.exit_code, printed["stdout"]) == (0, b"end\n")


def test_both_streams_are_told_apart_and_binary_stays_binary(tmp_path: Path) -> None:
    script = r"printf '\000\377\n\r\033[2J'; printf 'no newline' >&2"
    _, printed = run_program(script, tmp_path)
    assert printed == {"stdout": b"\x00\xff\n\r\x1b[2J", "stderr": b"no newline"}


def test_output_comes_while_the_program_runs(tmp_path: Path) -> None:
    heard: list[float] = []
    began = time.monotonic()
    ending, _ = run_program(
        "echo first; sleep 0.5", tmp_path, output=lambda _stream, _chunk: heard.append(time.monotonic() - began)
    )
    assert heard[0] < 0.4 < ending.seconds


def test_the_wall_limit_stops_it(tmp_path: Path) -> None:
    ending, _ = run_program("while :; do echo; sleep 0.01; done", tmp_path, limits=Limits(wall=0.3), grades=QUICK)
    assert (ending.stopped_because, ending.succeeded) == ("wall", False)
    assert 0.3 <= ending.seconds < 2


def test_the_idle_limit_counts_from_the_last_output(tmp_path: Path) -> None:
    talks = "for i in 1 2 3 4 5; do echo; sleep 0.2; done; "
    ending, printed = run_program(talks + "sleep 1000", tmp_path, limits=Limits(idle=0.5), grades=QUICK)
    assert (ending.stopped_because, printed["stdout"]) == ("idle", b"\n" * 5)
    assert ending.seconds > 1.2


def test_the_output_limit_is_exact_and_stops_it(tmp_path: Path) -> None:
    ending, printed = run_program(["yes"], tmp_path, limits=Limits(output=100_001), grades=QUICK)
    assert (ending.stopped_because, len(printed["stdout"])) == ("output", 100_001)


def test_what_is_left_in_the_pipes_at_the_end_is_delivered_up_to_the_limit(tmp_path: Path) -> None:
    """The caller is busy until all is over; more than one read is waiting for it then."""
    script = f"""
import fcntl, os, sys, time
fcntl.fcntl(1, {F_SETPIPE_SZ}, 1 << 20)
open("program.pid", "w").write(f"{{os.getpid()}}\\n")
while not os.path.exists("go"):
    time.sleep(0.01)
os.write(1, b"x" * 300_000)
"""
    ours, theirs = os.pipe()
    os.write(theirs, b"x")

    def until() -> None:
        if not (tmp_path / "go").exists():
            wait_for(lambda: pids_in(tmp_path), "the program runs")
            (program,) = pids_in(tmp_path)
            os.read(ours, 1)
            (tmp_path / "go").touch()
            wait_for(lambda: not alive(program), "all is over")

    try:
        more: dict[str, Any] = {"until": until, "wake": [ours], "limits": Limits(output=250_000)}
        ending, printed = run_program([PYTHON, "-c", script], tmp_path, **more)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (ending.exit_code, ending.stopped_because, ending.succeeded) == (0, "output", False)
    assert len(printed["stdout"]) == 250_000


@pytest.mark.parametrize(
    ("on_int", "on_term", "said", "expected"),
    [
        ("exit 0", "exit 4", ["int"], (0, None)),
        ("", "exit 4", ["int", "term"], (4, None)),
        ("", "", ["int", "term"], (None, 9)),
    ],
    ids=["interrupt", "terminate", "kill"],
)
def test_each_grade_of_the_stop_is_given_its_time(
    tmp_path: Path, on_int: str, on_term: str, said: list[str], expected: tuple[int | None, int | None]
) -> None:
    ready: list[Stream] = []
    ending, _ = run_program(
        ANSWERS.format(on_int=on_int, on_term=on_term),
        tmp_path,
        output=lambda stream, _: ready.append(stream),
        until=lambda: Stop("enough") if ready else None,
        grades=QUICK,
    )
    assert (tmp_path / "said").read_text().split() == said
    assert (ending.exit_code, ending.signal) == expected
    assert (ending.stopped_because, ending.succeeded) == ("asked: enough", False)
    assert ending.seconds >= 0.3 * (len(said) - 1)


def test_a_stop_now_leaves_out_the_gentle_grades_also_later(tmp_path: Path) -> None:
    ready: list[Stream] = []
    said = tmp_path / "said"

    def until() -> Stop | None:
        if not ready:
            return None
        return Stop("again", now=True) if said.exists() else Stop("first")

    ending, _ = run_program(
        ANSWERS.format(on_int="", on_term=""),
        tmp_path,
        output=lambda stream, _: ready.append(stream),
        until=until,
        grades=Grades(interrupt=60, terminate=60),
    )
    assert said.read_text().split() == ["int"]
    assert (ending.signal, ending.stopped_because) == (9, "asked: first")
    assert ending.seconds < 10


def test_the_whole_tree_hears_the_signal(tmp_path: Path) -> None:
    (tmp_path / "child.sh").write_text(ANSWERS.format(on_int="exit", on_term="exit"))
    heard = b""

    def output(_: Stream, chunk: bytes) -> None:
        nonlocal heard
        heard += chunk

    ending, _ = run_program(
        f'{PYTHON} -c \'import os; os.setsid(); os.execvp("sh", ["sh", "child.sh"])\'; exit 8',
        tmp_path,
        output=output,
        until=lambda: Stop("enough") if heard else None,
        grades=Grades(interrupt=20),
    )
    assert (tmp_path / "said").read_text().split() == ["int"]
    assert ending.seconds < 10


def test_until_is_called_twice_a_second_and_at_once_when_woken(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    calls: list[float] = []
    woken: list[float] = []

    def until() -> Stop | None:
        calls.append(time.monotonic())
        if len(calls) == 2:
            os.write(theirs, b"x")
        elif len(calls) > 2:
            os.read(ours, 1)
            woken.append(time.monotonic() - calls[1])
            return Stop("woken")
        return None

    try:
        began = time.monotonic()
        ending, _ = run_program("sleep 1000", tmp_path, until=until, wake=[ours], grades=QUICK)
    finally:
        os.close(ours)
        os.close(theirs)
    assert calls[0] - began < 0.8
    assert calls[1] - calls[0] < 0.8
    assert woken[0] < 0.3
    assert ending.stopped_because == "asked: woken"


def test_a_keeper_that_was_stopped_cannot_keep_the_program_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("launch", "stopping"):
        monkeypatch.setattr(f"untilproven.process.{module}.KEEPER_PATIENCE", 0.5)
    limits = Limits(wall=0.4)
    stopped = "sleep 0.1; setsid sleep 1000 & kill -STOP $PPID; exit 0"
    endings: list[Ending] = [
        run_program(stopped, tmp_path)[0],
        run_program("sleep 0.1; kill -STOP $PPID; sleep 1000", tmp_path, limits=limits, grades=QUICK)[0],
        run_program("kill -STOP $PPID; sleep 1000", tmp_path, limits=limits, grades=QUICK)[0],
    ]
    assert not any(ending.succeeded for ending in endings)
    assert [ending.stopped_because for ending in endings[:2]] == ["keeper", "wall"]
    assert table.descendants(os.getpid()) == []
    assert all(ending.seconds < 10 for ending in endings)


def test_what_is_done_beside_a_program_is_done_once_while_it_starts(tmp_path: Path) -> None:
    done: list[bool] = []

    def beside() -> None:
        wait_for((tmp_path / "begun").exists, "the program runs meanwhile")
        done.append(True)

    ending, printed = run_program("touch begun; echo said", tmp_path, beside=beside)
    assert (ending.exit_code, printed["stdout"], done) == (0, b"said\n", [True])
    refused, _ = run_program(["/no/such/program"], tmp_path, beside=lambda: done.append(True))
    assert refused.not_started


def test_what_is_found_out_beside_a_program_can_end_it(tmp_path: Path) -> None:
    ending, _ = run_program("trap '' TERM INT; sleep 1000", tmp_path, beside=lambda: Stop("no good", now=True))
    assert ending.stopped_because == "asked: no good"
    assert ending.seconds < 10


def test_a_failure_beside_a_program_ends_it(tmp_path: Path) -> None:
    def beside() -> None:
        wait_for((tmp_path / "one.pid").exists, "the program runs")
        raise ValueError("no good")

    with pytest.raises(ValueError, match="no good"):
        run_program("echo $$ > one.pid; exec sleep 1000", tmp_path, beside=beside)
    assert not any(map(alive, pids_in(tmp_path)))


def test_the_time_in_which_nobody_reads_what_a_program_prints_is_not_taken_from_its_own(tmp_path: Path) -> None:
    """It fills the pipe, and has to wait for whoever is busy beside it."""
    ending, printed = run_program(
        "head -c 300000 /dev/zero", tmp_path, limits=Limits(wall=2.0), beside=lambda: time.sleep(2.1)
    )
    assert (ending.stopped_because, ending.exit_code, len(printed["stdout"])) == ("", 0, 300_000)
    assert ending.seconds > 2.1
