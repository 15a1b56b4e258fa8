"""Signals go to the process that was meant, and those meant are stopped before the first is killed."""

import os
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from process.scenes import wait_for
from untilproven.process import sweep, table
from untilproven.process.table import Process


@pytest.fixture
def sleepers() -> Iterator[list[Process]]:
    started = [subprocess.Popen(["sleep", "1000"]) for _ in range(3)]
    try:
        pids = {one.pid for one in started}
        yield [process for process in table.descendants(os.getpid()) if process.pid in pids]
    finally:
        for one in started:
            one.kill()
            one.wait()


def test_a_pid_that_another_process_has_by_now_is_not_signalled(sleepers: list[Process]) -> None:
    before = sleepers[0]._replace(start=sleepers[0].start - 1)
    assert sweep.send(before, signal.SIGKILL)
    pidfd = os.pidfd_open(sleepers[0].pid)
    try:
        assert select.select([pidfd], [], [], 0.3)[0] == []
        assert sweep.send(sleepers[0], signal.SIGKILL)
        assert select.select([pidfd], [], [], 20)[0] == [pidfd]
    finally:
        os.close(pidfd)


def test_all_are_stopped_before_one_is_killed(sleepers: list[Process]) -> None:
    assert sweep._frozen(lambda: sleepers) == sleepers
    wait_for(lambda: [state_of(process) for process in sleepers] == ["T", "T", "T"], "all three are stopped")


def state_of(process: Process) -> str:
    return Path(f"/proc/{process.pid}/stat").read_text().split()[2]


def test_what_cannot_be_ended_is_counted_and_not_waited_for_ever(sleepers: list[Process]) -> None:
    swept = sweep.end_all(lambda: sleepers, patience=0.1)
    assert swept.survivors == 3


def test_a_kernel_that_does_not_list_children_gives_the_same_family(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sh", "-c", "sleep 1000 & echo; wait"], stdout=subprocess.PIPE) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        listed = table.descendants(shell.pid)
        monkeypatch.setattr(table, "_kernel_lists_children", lambda: False)
        scanned = table.descendants(shell.pid)
        for process in listed:
            sweep.send(process, signal.SIGKILL)
    assert len(listed) == 1
    assert scanned == listed
