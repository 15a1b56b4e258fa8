"""The experiments of the Makefile: two on a memory file system to keep the disk out of it, the last one in small."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MEMORY = "/dev/shm"


def experiment(name: str, *words: str) -> str:
    place = {"TMPDIR": MEMORY} if Path(MEMORY).is_dir() else {}
    done = subprocess.run(
        [sys.executable, str(HERE / name), *words],
        env={**os.environ, "PYTHONPATH": str(HERE.parent), **place},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(280)
def test_eight_processes_race_200_times_and_always_four_get_in() -> None:
    assert "200 rounds of 8: 4 in, 4 refused with exit 7" in experiment("race.py", "200")


@pytest.mark.timeout(280)
def test_a_writer_killed_300_times_loses_nothing_it_acknowledged() -> None:
    said = experiment("kill.py", "300")
    assert "killed 300 times" in said
    assert int(said.splitlines()[-1].split(";")[1].split()[0]) > 300


@pytest.mark.timeout(280)
def test_loops_whose_runner_is_killed_and_resumed_come_to_what_they_would_have() -> None:
    said = experiment("loops.py", "8", "4")
    assert "with --sandbox overlay" in said or "no loops in overlay: " in said
    assert "with --sandbox shadow" in said or "no loops in shadow: " in said
    assert "with --sandbox none" in said
    assert "8 loops, 8 as if undisturbed" in said
    assert "killed 0 times" not in said
