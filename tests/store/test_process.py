import os
import subprocess
import sys

import psutil
from msgspec import UNSET
from msgspec.structs import replace

from untilproven.core.stale import Liveness
from untilproven.store.process import liveness, portable_start, this_process


def test_this_process_is_alive() -> None:
    me = this_process()
    assert me.pid == os.getpid()
    assert liveness(me) is Liveness.ALIVE


def test_a_reused_pid_is_somebody_else() -> None:
    assert liveness(replace(this_process(), start="1")) is Liveness.DEAD


def test_nobody_survives_a_reboot() -> None:
    assert liveness(replace(this_process(), boot_id="before")) is Liveness.DEAD


def test_another_pid_namespace_cannot_be_judged_from_here() -> None:
    assert liveness(replace(this_process(), pid_namespace="pid:[1]")) is Liveness.UNKNOWN


def test_no_process_is_an_orphan() -> None:
    assert liveness(UNSET) is Liveness.ORPHANED


def test_a_process_of_another_user_is_alive() -> None:
    """Process 1 may not be signalled by an ordinary user; it is alive all the same."""
    start = start_ticks(1)
    assert liveness(replace(this_process(), pid=1, start=start)) is Liveness.ALIVE


def start_ticks(pid: int) -> str:
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123  as plain as the thing tested is not
        return file.read().rpartition(")")[2].split()[19]


def test_a_process_that_ended_but_was_not_buried_is_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = replace(this_process(), pid=child.pid, start=start_ticks(child.pid))
    assert liveness(identity) is Liveness.ALIVE
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert liveness(identity) is Liveness.DEAD
    assert portable_start(child.pid) is None
    child.wait()
    assert child.stdin
    child.stdin.close()
    assert liveness(identity) is Liveness.DEAD


def test_where_there_is_no_proc_the_start_time_serves() -> None:
    mine = portable_start(os.getpid())
    assert mine == str(int(psutil.Process().create_time()))
    assert portable_start(2**22 - 1) is None
