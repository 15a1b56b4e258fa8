"""Ctrl-C once, Ctrl-C twice, terminate, hang up: real signals to real processes."""

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from untilproven.model.program import Stop
from untilproven.process.records import Program
from untilproven.process.watch import run
from untilproven.runtime.signals import Interrupts

LISTENER = """
import fcntl, select, sys, termios, time
from untilproven.runtime.signals import Interrupts
if "terminal" in sys.argv:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
with Interrupts() as interrupts:
    print("ready", flush=True)
    wish = "none"
    while wish != "now":
        select.select([interrupts.fd], [], [])
        if "busy" in sys.argv:
            time.sleep(0.5)
        wish = interrupts.wish()
        print(wish, interrupts.exit_code, interrupts.hung_up, flush=True)
sys.exit(interrupts.exit_code)
"""


class Listener:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def says(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def get(self, number: int) -> None:
        os.kill(self.process.pid, number)


@contextmanager
def listener(*words: str, terminal: int | None = None, ignoring: str = "") -> Iterator[Listener]:
    before = f"import signal; signal.signal(signal.{ignoring}, signal.SIG_IGN)" if ignoring else ""
    with subprocess.Popen(
        [sys.executable, "-c", before + LISTENER, *words],
        stdin=subprocess.DEVNULL if terminal is None else terminal,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            found = Listener(process)
            assert found.says() == "ready"
            yield found
        finally:
            process.kill()


def test_the_first_interrupt_asks_to_finish_and_the_second_to_stop_now() -> None:
    with listener() as it:
        it.get(signal.SIGINT)
        assert it.says() == "finish 130 False"
        it.get(signal.SIGINT)
        assert it.says() == "now 130 False"
        assert it.process.wait(20) == 130


def test_terminate_asks_to_stop_now_also_after_an_interrupt() -> None:
    with listener() as it:
        it.get(signal.SIGTERM)
        assert it.says() == "now 143 False"
        assert it.process.wait(20) == 143
    with listener() as it:
        it.get(signal.SIGINT)
        assert it.says() == "finish 130 False"
        it.get(signal.SIGTERM)
        assert it.says() == "now 143 False"


def test_a_hang_up_is_noted_and_nothing_more() -> None:
    with listener() as it:
        it.get(signal.SIGHUP)
        assert it.says() == "none 0 True"
        it.get(signal.SIGINT)
        assert it.says() == "finish 130 True"


def test_two_interrupts_while_the_runner_was_busy_count_as_two() -> None:
    with listener("busy") as it:
        it.get(signal.SIGINT)
        while int(undelivered(it.process.pid), 16) & 1 << signal.SIGINT - 1:
            pass
        it.get(signal.SIGINT)
        assert it.says() == "now 130 False"


def undelivered(pid: int) -> str:
    """The signals that have not been delivered yet."""
    with open(f"/proc/{pid}/status", encoding="ascii") as lines:  # noqa: PTH123  read again and again
        return next(line.split()[1] for line in lines if line.startswith("ShdPnd"))


def test_ctrl_c_at_a_terminal_and_a_terminal_that_is_closed() -> None:
    ours, theirs = os.openpty()
    try:
        with listener("terminal", terminal=theirs) as it:
            os.close(theirs)
            theirs = -1
            os.write(ours, b"\x03")
            assert it.says() == "finish 130 False"
            os.close(ours)
            ours = -1
            assert it.says() == "finish 130 True"
            assert it.process.poll() is None
            it.get(signal.SIGINT)
            assert it.says() == "now 130 True"
    finally:
        for fd in (ours, theirs):
            if fd >= 0:
                os.close(fd)


def test_what_was_ignored_stays_ignored() -> None:
    with listener(ignoring="SIGINT") as it:
        it.get(signal.SIGINT)
        it.get(signal.SIGHUP)
        assert it.says() == "none 0 True"


def test_what_was_there_before_is_put_back() -> None:
    heard: list[int] = []
    outer, inner = os.pipe()
    os.set_blocking(inner, False)
    before = signal.signal(signal.SIGHUP, lambda number, _: heard.append(number))
    wakeup = signal.set_wakeup_fd(inner)
    files = len(os.listdir("/proc/self/fd"))  # noqa: PTH208  only the number
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGHUP)
            assert select.select([interrupts.fd], [], [], 20)[0]
            assert interrupts.wish() == "none"
            assert interrupts.hung_up
            assert select.select([interrupts.fd], [], [], 0)[0] == []
        assert heard == []
        os.kill(os.getpid(), signal.SIGHUP)
        assert heard == [signal.SIGHUP]
        assert os.read(outer, 10) == bytes([signal.SIGHUP])
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGHUP, before)
        os.close(outer)
        os.close(inner)
    assert len(os.listdir("/proc/self/fd")) == files - 2  # noqa: PTH208  only the number


def test_what_was_heard_can_be_asked_after_it_is_over() -> None:
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGINT)
    assert (interrupts.wish(), interrupts.exit_code) == ("finish", 130)


def test_in_another_thread_nothing_is_installed_and_that_is_said() -> None:
    found: list[Interrupts] = []

    def elsewhere() -> None:
        with Interrupts() as interrupts:
            interrupts.drain()
            found.append(interrupts)

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    (interrupts,) = found
    assert "main thread" in interrupts.problem
    assert (interrupts.fd, interrupts.wish(), interrupts.exit_code) == (-1, "none", 0)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_stops_a_running_program_at_once(tmp_path: Path) -> None:
    with Interrupts() as interrupts:
        line = f"kill -TERM {os.getpid()}; exec sleep 1000"
        ending = run(
            Program(command=line, cwd=tmp_path, env=dict(os.environ)),
            output=lambda *_: None,
            until=lambda: Stop("signal", now=True) if interrupts.wish() == "now" else None,
            wake=[interrupts.fd],
        )
    assert ending.stopped_because == "asked: signal"
    assert interrupts.exit_code == 143
