"""Whatever a program starts, and however that hides, is gone when the program is over."""

from pathlib import Path

import pytest

from process.scenes import PYTHON, alive, pids_in, run_program, wait_for
from untilproven.model.program import Grades, Limits

WAIT_FOR_PID = "while ! [ -s {0} ]; do sleep 0.01; done"

DOUBLE_FORK = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("daemon.pid", "w").write(f"{os.getpid()}\\n")
        time.sleep(1000)
    os._exit(0)
os.wait()
"""

IN_HIDING = """
import ctypes, os, time
if os.fork() == 0:
    os.setsid()
    pid = f"{os.getpid()}\\n"
    ctypes.CDLL(None).prctl(15, b"kworker/0:1", 0, 0, 0)
    os.closerange(0, 1024)
    open("hidden.pid", "w").write(pid)
    time.sleep(1000)
"""

DEAF = """
import os, signal, sys, time
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
open(sys.argv[1], "w").write(f"{os.getpid()}\\n")
time.sleep(1000)
"""

BOMB = """
import os, time
for generation in range(8):
    os.fork()
open(f"{os.getpid()}.pid", "w").write(f"{os.getpid()}\\n")
time.sleep(1000)
"""

RUNAWAY = """
import os
if os.fork() == 0:
    open("begun.pid", "w").write("1\\n")
    for hop in range(200_000):
        if os.fork() > 0:
            os._exit(0)
        if hop % 2:
            os.setsid()
    open("away", "w")
"""


def python_until(script: str, file: str) -> str:
    """A line of shell that starts a script and ends by itself when the script has written a file."""
    return f"{PYTHON} -c '{script}' & {WAIT_FOR_PID.format(file)}"


def ended(directory: Path) -> list[int]:
    """The processes that reported themselves; none of them may be alive."""
    pids = pids_in(directory)
    assert pids
    assert [pid for pid in pids if alive(pid)] == []
    return pids


def test_a_daemon_in_another_session_ends_with_its_program(tmp_path: Path) -> None:
    line = f"setsid sh -c 'echo $$ > daemon.pid; exec sleep 1000' & {WAIT_FOR_PID.format('daemon.pid')}; exit 3"
    ending, _ = run_program(line, tmp_path)
    ended(tmp_path)
    assert (ending.exit_code, ending.stragglers, ending.survivors) == (3, 1, 0)


@pytest.mark.parametrize(("script", "file"), [(DOUBLE_FORK, "daemon.pid"), (IN_HIDING, "hidden.pid")])
def test_neither_a_double_fork_nor_another_name_hides(tmp_path: Path, script: str, file: str) -> None:
    (tmp_path / "script.py").write_text(script)
    ending, _ = run_program(f"{PYTHON} script.py; {WAIT_FOR_PID.format(file)}", tmp_path)
    ended(tmp_path)
    assert ending.succeeded
    assert ending.stragglers == 1


def test_a_program_and_its_child_that_ignore_every_signal_are_killed(tmp_path: Path) -> None:
    (tmp_path / "deaf.py").write_text(DEAF)
    line = f"{PYTHON} deaf.py one.pid & exec {PYTHON} deaf.py two.pid"
    ending, _ = run_program(
        line, tmp_path, limits=Limits(wall=1.0), grades=Grades(interrupt=0.05, terminate=0.05), until=lambda: None
    )
    assert len(ended(tmp_path)) == 2
    assert (ending.signal, ending.exit_code, ending.stopped_because) == (9, None, "wall")
    assert ending.stragglers == 1


def test_a_bomb_of_256_processes_is_cleared(tmp_path: Path) -> None:
    (tmp_path / "bomb.py").write_text(BOMB)
    line = f"{PYTHON} bomb.py & while [ $(ls | wc -l) -lt 257 ]; do sleep 0.05; done"
    ending, _ = run_program(line, tmp_path)
    wait_for(lambda: len(pids_in(tmp_path)) == 256, "256 pids")
    assert len(ended(tmp_path)) == 256
    assert ending.stragglers >= 256


def test_one_that_runs_away_from_pid_to_pid_is_caught(tmp_path: Path) -> None:
    (tmp_path / "runaway.py").write_text(RUNAWAY)
    ending, _ = run_program(f"{PYTHON} runaway.py; {WAIT_FOR_PID.format('begun.pid')}", tmp_path)
    assert ending.survivors == 0
    assert ending.seconds < 9
    assert not (tmp_path / "away").exists()


def test_nothing_is_killed_when_the_program_leaves_nothing(tmp_path: Path) -> None:
    ending, _ = run_program("sleep 0.01 & wait", tmp_path)
    assert (ending.exit_code, ending.stragglers, ending.survivors) == (0, 0, 0)
