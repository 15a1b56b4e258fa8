"""A check's program: run to its end, both streams in order, nothing left."""

import os
from pathlib import Path

from process.scenes import alive
from untilproven.model.program import Stop
from untilproven.process.room import run_in


def test_both_streams_come_in_the_order_they_were_written(tmp_path: Path) -> None:
    ran = run_in(tmp_path, "echo 1; echo 2 >&2; echo 3; echo 4 >&2; exit 9", timeout=20, env=None)
    assert (ran.exit_code, ran.output) == (9, "1\n2\n3\n4\n")


def test_it_runs_in_the_root_with_the_given_environment(tmp_path: Path) -> None:
    ran = run_in(tmp_path, ["/bin/sh", "-c", "pwd; echo $HOME$X"], timeout=20, env={"X": "x"})
    assert ran.output == f"{tmp_path}\nx\n"


def test_too_much_output_keeps_head_and_tail(tmp_path: Path) -> None:
    ran = run_in(tmp_path, "echo head; yes | head -c 3000000; echo tail", timeout=20, env=None)
    assert ran.output.startswith("head\ny\n")
    assert ran.output.endswith("y\ntail\n")
    assert "bytes cut ...]" in ran.output
    assert len(ran.output) < 257 * 1024


def test_a_timeout_is_neither_exit_nor_signal_and_leaves_nothing(tmp_path: Path) -> None:
    line = "setsid sleep 1000 & echo $!; trap 'exit 0' TERM; while :; do sleep 0.02; done"
    ran = run_in(tmp_path, line, timeout=0.3, env=None)
    assert (ran.timed_out, ran.exit_code, ran.signal) == (True, None, None)
    assert not alive(int(ran.output.split()[0]))


def test_what_cannot_start_says_why(tmp_path: Path) -> None:
    ran = run_in(tmp_path, ["no-such-check"], timeout=20, env=None)
    assert ran.not_started.startswith("no-such-check: not found")
    assert (ran.exit_code, ran.signal, ran.timed_out) == (None, None, False)


def test_a_check_that_was_asked_to_stop_or_lost_its_keeper_has_no_exit_code(tmp_path: Path) -> None:
    line = "trap 'exit 0' TERM; while :; do sleep 0.02; done"
    asked = run_in(tmp_path, line, timeout=20, env=None, until=lambda: Stop("abort"))
    lost = run_in(tmp_path, "kill -KILL $PPID; exit 0", timeout=20, env=None)
    assert [(ran.exit_code, ran.signal) for ran in (asked, lost)] == [(None, 9), (None, 9)]


def test_a_program_that_printed_no_text_is_shown_as_far_as_possible(tmp_path: Path) -> None:
    ran = run_in(tmp_path, r"printf 'a\377b'", timeout=20, env=dict(os.environ))
    assert ran.output == "a\ufffdb"
