"""A conversation with a running program: it is told things as it goes, and watched like any other."""

import time
from pathlib import Path

import pytest

from process.scenes import PYTHON, alive, pids_in, run_program
from untilproven.model.program import Grades, Limits, Speech, Stop, Stream

QUICK = Grades(interrupt=0.3, terminate=0.3)
ECHO = [PYTHON, "-c", "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.flush()"]
DEAF = "trap 'echo int >> said' INT; trap 'echo term >> said' TERM; echo up; while :; do sleep 0.02; done"


def test_each_answer_decides_what_is_said_next(tmp_path: Path) -> None:
    speech = Speech()
    speech.say(b"1\n")
    heard: list[bytes] = []

    def output(_stream: Stream, chunk: bytes) -> None:
        heard.append(chunk)
        if len(heard) < 5:
            speech.say(b"%d\n" % (len(heard) + 1))
        else:
            speech.end()

    ending, _ = run_program(ECHO, tmp_path, stdin=speech, output=output)
    assert ending.succeeded
    assert heard == [b"1\n", b"2\n", b"3\n", b"4\n", b"5\n"]


def test_as_long_as_it_is_not_over_the_program_waits_for_more(tmp_path: Path) -> None:
    speech = Speech()
    began = time.monotonic()

    def until() -> None:
        if time.monotonic() - began > 1.0 and not speech.is_over:
            speech.say(b"late\n")
            speech.end()

    ending, printed = run_program(ECHO, tmp_path, stdin=speech, until=until)
    assert ending.succeeded
    assert 1.0 < ending.seconds < 10
    assert printed["stdout"] == b"late\n"


def test_five_megabytes_are_said_in_pieces_while_others_come_back(tmp_path: Path) -> None:
    speech = Speech()
    speech.say(b"x" * 2_500_000 + b"\n")
    printed = bytearray()

    def output(_stream: Stream, chunk: bytes) -> None:
        printed.extend(chunk)
        if len(printed) == 2_500_001:
            speech.say(b"y" * 2_500_000)
            speech.end()

    ending, _ = run_program(ECHO, tmp_path, stdin=speech, output=output)
    assert ending.succeeded
    assert printed == b"x" * 2_500_000 + b"\n" + b"y" * 2_500_000
    assert speech.unheard == b""


def test_what_is_said_to_a_program_that_has_closed_its_ears_is_dropped(tmp_path: Path) -> None:
    speech = Speech()
    most: list[int] = []

    def output(_stream: Stream, _chunk: bytes) -> None:
        speech.say(b"x" * 100_000)
        most.append(len(speech.unheard))

    line = "exec <&-; for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.05; done"
    ending, _ = run_program(line, tmp_path, stdin=speech, output=output)
    assert ending.succeeded
    assert len(most) == 9
    assert max(most) <= 200_000


def test_a_program_that_hears_nothing_hangs_nobody(tmp_path: Path) -> None:
    speech = Speech()
    speech.say(b"x" * 5_000_000)
    ending, printed = run_program("sleep 0.2; echo done", tmp_path, stdin=speech)
    assert (ending.exit_code, printed["stdout"]) == (0, b"done\n")


def test_a_program_that_stays_when_all_is_said_is_stopped_by_grades(tmp_path: Path) -> None:
    speech = Speech(patience=0.5)
    speech.end()
    line = f"setsid sleep 1000 & echo $! > child.pid; {DEAF}"
    ending, _ = run_program(line, tmp_path, stdin=speech, grades=QUICK)
    assert (ending.stopped_because, ending.signal, ending.succeeded) == ("over", 9, False)
    assert (tmp_path / "said").read_text() == "int\nterm\n"
    assert 1.1 <= ending.seconds < 10
    (child,) = pids_in(tmp_path)
    assert not alive(child)


def test_patience_begins_with_the_end_even_if_the_last_words_are_not_heard(tmp_path: Path) -> None:
    speech = Speech(patience=0.3)
    speech.say(b"x" * 5_000_000)
    speech.end()
    ending, _ = run_program("exec sleep 1000", tmp_path, stdin=speech, grades=QUICK)
    assert (ending.stopped_because, ending.signal) == ("over", 2)
    assert ending.seconds < 10


@pytest.mark.parametrize("patience", [None, 5.0])
def test_a_program_that_goes_by_itself_was_not_stopped(tmp_path: Path, patience: float | None) -> None:
    speech = Speech(patience)
    speech.say(b"bye\n")
    speech.end()
    ending, printed = run_program("cat; sleep 0.5; exit 3", tmp_path, stdin=speech)
    assert (ending.exit_code, ending.stopped_because, printed["stdout"]) == (3, "", b"bye\n")


@pytest.mark.parametrize(
    ("limits", "because"), [(Limits(wall=0.4), "wall"), (Limits(idle=0.4), "idle"), (Limits(output=2), "output")]
)
def test_the_limits_hold_while_nothing_is_said(tmp_path: Path, limits: Limits, because: str) -> None:
    ending, _ = run_program("echo hello; cat", tmp_path, stdin=Speech(), limits=limits, grades=QUICK)
    assert ending.stopped_because == because


def test_who_wants_it_to_stop_is_heard(tmp_path: Path) -> None:
    ending, _ = run_program(["cat"], tmp_path, stdin=Speech(), until=lambda: Stop("pause", now=True))
    assert (ending.stopped_because, ending.signal) == ("asked: pause", 9)


def test_if_the_listener_fails_all_is_ended(tmp_path: Path) -> None:
    def output(_stream: Stream, _chunk: bytes) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_program("echo $$ > x.pid; echo hello; cat", tmp_path, stdin=Speech(), output=output)
    (pid,) = pids_in(tmp_path)
    assert not alive(pid)
