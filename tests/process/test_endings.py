"""How a program ended is told as it was: exit code, signal, or why it never ran."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from process.scenes import PYTHON, run_program
from untilproven.process import kernel, table
from untilproven.process.kernel import Unsupported
from untilproven.process.records import Program
from untilproven.process.watch import run


@pytest.mark.parametrize("code", [0, 1, 127, 255])
def test_the_exit_code_is_the_programs(tmp_path: Path, code: int) -> None:
    ending, _ = run_program(f"exit {code}", tmp_path)
    assert (ending.exit_code, ending.signal, ending.not_started) == (code, None, "")
    assert ending.succeeded == (code == 0)


@pytest.mark.parametrize("number", [2, 9, 11, 15])
def test_death_by_signal_is_no_success(tmp_path: Path, number: int) -> None:
    ending, _ = run_program(f"kill -{number} $$", tmp_path)
    assert (ending.exit_code, ending.signal, ending.succeeded) == (None, number, False)


def test_what_cannot_be_started_says_why(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program\n")
    other = tmp_path / "other"
    other.write_text("neither\n")
    other.chmod(0o755)
    (tmp_path / "orphan").write_text("#!/no/such/interpreter\n")
    (tmp_path / "orphan").chmod(0o755)
    reasons = {
        "no-such-program-anywhere": "no-such-program-anywhere: not found in PATH",
        "./missing": "./missing: No such file or directory",
        "./plain": "./plain: Permission denied",
        "./other": "./other: Exec format error",
        "./orphan": "./orphan: No such file or directory",
        str(tmp_path): f"{tmp_path}: is a directory",
        "": "the command is empty",
        "nul\0byte": "nul\0byte: a NUL byte",
    }
    for command, reason in reasons.items():
        ending, _ = run_program([command], tmp_path)
        assert ending.not_started.startswith(reason)
        assert (ending.exit_code, ending.signal, ending.succeeded) == (None, None, False)


def test_a_missing_directory_is_told_from_a_missing_program(tmp_path: Path) -> None:
    ending, _ = run_program(["true"], tmp_path / "gone")
    assert ending.not_started == f"cannot enter {tmp_path / 'gone'}: No such file or directory"


def test_a_program_is_looked_for_in_the_path_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\nexit 6\n")
    (tmp_path / "tool").chmod(0o755)
    ending, _ = run_program(["tool"], tmp_path, env={"PATH": f"/nowhere:{tmp_path}"})
    assert ending.exit_code == 6


def test_the_environment_is_what_is_given_and_the_mark(tmp_path: Path) -> None:
    _, printed = run_program(["/usr/bin/env"], tmp_path, env={"A": "1", "B": "two words"}, marker="mark")
    assert sorted(printed["stdout"].splitlines()) == [b"A=1", b"B=two words", b"RALPH_KEEPER=mark"]


def test_a_program_has_three_files_open_and_no_terminal(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as lock:
        os.set_inheritable(lock.fileno(), True)
        script = "import os; print(len(os.listdir('/proc/self/fd')) - 1, os.getsid(0) == os.getpid()); open('/dev/tty')"
        _, printed = run_program([PYTHON, "-c", script], tmp_path)
    assert printed["stdout"] == b"3 True\n"
    assert b"/dev/tty" in printed["stderr"]


def test_the_keeper_holds_none_of_the_runners_files(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w"):
        line = "for fd in /proc/$PPID/fd/*; do readlink $fd; done"
        _, printed = run_program(line, tmp_path)
    files = [name for name in printed["stdout"].splitlines() if name.startswith(b"/") and b"memfd" not in name]
    assert set(files) <= {b"/dev/null"}


def test_signals_are_as_at_a_fresh_start_of_the_program(tmp_path: Path) -> None:
    _, printed = run_program(["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"], tmp_path)
    blocked, ignored = (int(line.split()[1], 16) for line in printed["stdout"].splitlines())
    of_the_c_library = 1 << 31 | 1 << 32  # posix_spawn of glibc ignores its own two, 32 and 33
    assert (blocked, ignored & ~of_the_c_library) == (0, 0)


def open_files() -> list[str]:
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


def test_fifty_runs_leave_no_file_open_and_no_zombie(tmp_path: Path) -> None:
    run_program("true", tmp_path)
    before = open_files()
    for _ in range(10):
        run_program("exit 1", tmp_path)
        run_program("sleep 1000 & exit 0", tmp_path, stdin=b"x")
        run_program(["./missing"], tmp_path)
        run_program(["missing"], tmp_path)
        run_program("kill -KILL $PPID; sleep 1000", tmp_path)
    assert open_files() == before
    assert table.descendants(os.getpid()) == []


def test_an_error_in_the_callers_code_ends_the_program(tmp_path: Path) -> None:
    def output(*_: object) -> None:
        raise ZeroDivisionError

    pids: list[int] = []
    with pytest.raises(ZeroDivisionError):
        run_program("echo $$ > program.pid; echo; sleep 1000", tmp_path, output=output)
    pids += [int((tmp_path / "program.pid").read_text())]
    assert table.look_up(pids[0]) is None
    assert table.descendants(os.getpid()) == []


def test_it_works_as_an_ordinary_user(tmp_path: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from untilproven.process.records import Program
from untilproven.process.watch import run
assert os.geteuid() != 0
printed = []
program = Program(command="setsid sleep 1000 & id -u", cwd=Path("/"), env=dict(os.environ))
ending = run(program, output=lambda stream, chunk: printed.append(chunk))
print(ending.exit_code, ending.stragglers, ending.survivors, int(b"".join(printed)) == os.geteuid())
"""
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*drop, sys.executable, "-c", script], cwd="/", capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.stderr) == ("0 1 0 True\n", "")


def test_a_system_without_these_calls_is_told_so_and_nothing_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    kernel.require.cache_clear()
    program = Program(command="echo > started", cwd=tmp_path, env={})
    with pytest.raises(Unsupported, match="pidfd_open"):
        run(program, output=lambda *_: None)
    assert not (tmp_path / "started").exists()
