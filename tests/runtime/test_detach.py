"""A loop that outlives its terminal, and a caller that always hears how it began."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from process.scenes import alive, wait_for

CALLER = """
import os, signal, sys, time
from pathlib import Path
from untilproven.errors import Busy, RalphError
from untilproven.runtime.detach import detached

here = Path.cwd()
print("said before", flush=False)

def pipes():
    fds = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    return sum(os.readlink(fd).startswith("pipe:") for fd in fds if os.path.lexists(fd))

def good(ready):
    print("said by the work before it was ready")
    ready("ralph-x-00000000", here / "run.log")
    ready("ralph-x-00000000", here / "other.log")
    print("said by the work")
    print("on stderr", file=sys.stderr)
    stdin = os.readlink("/proc/self/fd/0")
    Path("facts").write_text(f"{os.getpid()} {os.getsid(0)} {os.getppid()} {stdin} {pipes()}\\n")
    while not Path("go").exists():
        time.sleep(0.01)
    return 5

def refused(ready):
    raise Busy("it is \\udcff locked", hint="try later", details={"pid": 7})

def broken(ready):
    raise ZeroDivisionError("nobody foresaw this")

def mute(ready):
    os.kill(os.getpid(), signal.SIGKILL)

def returns(ready):
    return 4

def leaves(ready):
    sys.exit(6)

def slow(ready):
    Path("slow.pid").write_text(f"{os.getpid()}\\n")
    while not Path("go").exists():
        time.sleep(0.01)
    ready("ralph-x-00000000", here / "run.log")
    print("still here")
    return 0

def late(ready):
    ready("ralph-x-00000000", here / "run.log")
    Path("pid").write_text(f"{os.getpid()}\\n")
    raise Busy("too late to tell \\x1b[31m", hint="look here")

def late_and_broken(ready):
    ready("ralph-x-00000000", here / "run.log")
    Path("pid").write_text(f"{os.getpid()}\\n")
    raise ZeroDivisionError("nobody foresaw this")

def squatted(ready):
    (here / "aim").touch()
    (here / "run.log").symlink_to("aim")
    ready("ralph-x-00000000", here / "run.log")
    return 0

def pipe(ready):
    os.mkfifo(here / "run.log")
    ready("ralph-x-00000000", here / "run.log")
    return 0

try:
    it = detached(globals()[sys.argv[1]])
    print("started", it.loop_id, it.log, it.pid)
except RalphError as error:
    print("error", error.kind, error.exit_code, ascii(error.message), ascii(error.hint), error.details)
    sys.exit(error.exit_code)
except KeyboardInterrupt:
    sys.exit(130)
"""


def call(work: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        [sys.executable, "-c", CALLER, work],
        cwd=cwd,
        env=buffered,
        input="",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_work_goes_on_without_terminal_and_parent_and_prints_to_its_log(tmp_path: Path) -> None:
    began = time.monotonic()
    done = call("good", tmp_path)
    assert time.monotonic() - began < 20, "the caller's streams are still held open"
    lines = done.stdout.splitlines()
    pid = int(lines[-1].split()[-1])
    try:
        assert (done.returncode, done.stderr) == (0, "")
        assert lines[:2] == ["said before", "said by the work before it was ready"]
        assert lines[2:] == [f"started ralph-x-00000000 {tmp_path}/run.log {pid}"]
        facts = tmp_path / "facts"
        wait_for(lambda: facts.exists() and facts.read_text().endswith("\n"), "the facts")
        own, session, parent, stdin, pipes = facts.read_text().split()
        assert int(own) == pid
        assert session not in {own, str(os.getsid(0))}
        assert int(parent) != os.getpid()
        assert (stdin, pipes) == ("/dev/null", "0")
        assert alive(pid)
    finally:
        (tmp_path / "go").touch()
    wait_for(lambda: not alive(pid), "the work is over")
    assert (tmp_path / "run.log").read_text() == "said by the work\non stderr\n"
    assert not (tmp_path / "other.log").exists()


@pytest.mark.parametrize(
    ("work", "code", "words"),
    [
        ("refused", 7, "error locked 7 'it is ? locked' 'try later' {'pid': 7}"),
        ("returns", 4, "error failed 4 'the process of the loop ended with code 4 before the loop began'"),
        ("leaves", 6, "error failed 6 'the process of the loop ended with code 6 before the loop began'"),
        ("mute", 1, "error failed 1 'the process of the loop ended before the loop began, and did not say why'"),
        ("broken", 3, "error internal 3 'internal error: ZeroDivisionError: nobody foresaw this' 'Traceback"),
        ("squatted", 1, "run.log is a symbolic link"),
        ("pipe", 1, "run.log"),
    ],
)
def test_whatever_goes_wrong_before_the_loop_began_is_told_to_the_caller(
    tmp_path: Path, work: str, code: int, words: str
) -> None:
    done = call(work, tmp_path)
    assert words in done.stdout
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.startswith("said before\nerror ")


@pytest.mark.parametrize(
    ("work", "words"), [("late", "ralph: too late to tell \n  look here\n"), ("late_and_broken", "ZeroDivisionError")]
)
def test_what_goes_wrong_later_is_in_the_log(tmp_path: Path, work: str, words: str) -> None:
    assert call(work, tmp_path).returncode == 0
    pid = tmp_path / "pid"
    wait_for(lambda: pid.exists() and pid.read_text().endswith("\n"), "the pid")
    wait_for(lambda: not alive(int(pid.read_text())), "the work is over")
    assert words in (tmp_path / "run.log").read_text()


def waiting_caller(tmp_path: Path) -> "tuple[subprocess.Popen[str], int]":
    caller = subprocess.Popen([sys.executable, "-c", CALLER, "slow"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    written = tmp_path / "slow.pid"
    wait_for(lambda: written.exists() and written.read_text().endswith("\n"), "the pid")
    return caller, int(written.read_text())


def test_ctrl_c_before_the_loop_began_ends_the_work(tmp_path: Path) -> None:
    caller, pid = waiting_caller(tmp_path)
    with caller:
        assert alive(pid)
        caller.send_signal(signal.SIGINT)
        assert caller.wait(20) == 130
        wait_for(lambda: not alive(pid), "the work is over")


def test_a_caller_that_is_killed_does_not_take_the_work_along(tmp_path: Path) -> None:
    caller, pid = waiting_caller(tmp_path)
    with caller:
        caller.kill()
        caller.wait(20)
        (tmp_path / "go").touch()
        wait_for(lambda: not alive(pid), "the work is over")
        assert (tmp_path / "run.log").read_text() == "still here\n"
