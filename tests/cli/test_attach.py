import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from support import ralph
from untilproven.model import events
from untilproven.model.fields import PauseReason
from untilproven.model.status import Status
from untilproven.store.layout import Project
from watch.scenes import LOOP, Stage, Tty, action, begin, terminal


@pytest.fixture
def stage(project: Project) -> Iterator[Stage]:
    with begin(project) as writer:
        stage = Stage(writer)
        stage.control()
        stage.record(events.IterationStarted(iteration=1))
        yield stage


@contextmanager
def attached(project: Project, *words: str, tty: Tty | None = None) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "untilproven", "attach", *words],
        cwd=project.root,
        env={**os.environ, "TERM": "xterm"},
        stdout=tty.stream if tty else subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(seen: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def line_with(process: subprocess.Popen[str], part: str) -> None:
    assert process.stdout
    for line in process.stdout:
        if part in line:
            return
    pytest.fail(f"{part} never came")


def test_the_exit_code_is_the_loops_own(project: Project, stage: Stage) -> None:
    with attached(project, LOOP) as process:
        line_with(process, "iteration 1 of 5")
        stage.agent(action(1, "write", "a.py"))
        line_with(process, "write a.py")
        stage.move(Status.FAILED)
        stage.record(events.LoopFinished(status=Status.FAILED, exit_code=4, iterations=0))
        assert process.wait(30) == 4


def test_a_pause_ends_it_with_8_and_what_to_type(project: Project, stage: Stage) -> None:
    with attached(project) as process:
        line_with(process, "iteration 1 of 5")
        stage.move(Status.PAUSED, pause_reason=PauseReason.USER)
        stage.writer.close()
        line_with(process, f"ralph resume {LOOP}")
        assert process.wait(30) == 8


def test_ctrl_c_only_leaves(project: Project, stage: Stage) -> None:
    with attached(project, LOOP) as process:
        line_with(process, "iteration 1 of 5")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stderr
        assert process.stderr.read() == f"left; {LOOP} goes on. To watch it again: ralph attach {LOOP}\n"


def test_a_loop_that_nobody_runs_is_said(project: Project, stage: Stage) -> None:
    stage.writer.close()
    done = ralph("attach", LOOP, cwd=project.root)
    assert done.returncode == 1
    assert f"nobody runs it. To go on: ralph resume {LOOP}" in done.stderr


def test_who_comes_too_late_sees_the_end_and_gets_its_code(project: Project, stage: Stage) -> None:
    stage.iteration(2, failed=0)
    stage.finish()
    done = ralph("attach", LOOP, cwd=project.root)
    assert done.returncode == 0
    assert "iteration 2 of 5" in done.stdout
    assert "iteration 1 of 5" not in done.stdout
    assert "completed, proven" in done.stdout
    lines = ralph("attach", LOOP, "--json", cwd=project.root).stdout.splitlines()
    assert msgspec.json.decode(lines[-1])["type"] == "loop.finished"


def test_an_ending_without_a_last_word_has_a_code_too(project: Project, stage: Stage) -> None:
    stage.move(Status.ABORTED, reason="aborted_by_user")
    stage.writer.close()
    done = ralph("attach", LOOP, "--quiet", cwd=project.root)
    assert done.returncode == 1
    assert done.stdout.rstrip().endswith("aborted: aborted_by_user")


def test_in_a_terminal_it_is_live_and_leaves_the_screen_in_order(project: Project, stage: Stage) -> None:
    with terminal(90) as tty, attached(project, LOOP, tty=tty) as process:
        until(lambda: tty.look()[-1] == "  Ctrl-C leaves; the loop goes on")
        stage.agent(action(1, "write", "a.py"))
        until(lambda: any(line.startswith("  write a.py") for line in tty.look()))
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        shown = tty.look()
        assert not any("Ctrl-C leaves" in line for line in shown)
        assert tty.screen.cursor_shown
        assert shown[-1] == ""


def test_a_terminal_that_is_closed_ends_the_watch(project: Project, stage: Stage) -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "untilproven", "attach"],
            cwd=project.root,
            env={**os.environ, "TERM": "xterm"},
            stdout=stream,
            stderr=subprocess.DEVNULL,
        )
    try:
        assert os.read(master, 100)
        os.close(master)
        stage.agent(action(1, "write", "a.py"))
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()


def test_where_there_is_no_loop_there_is_nothing_to_watch(tmp_path: Path) -> None:
    done = ralph("attach", cwd=tmp_path)
    assert done.returncode == 2
    assert "there are no loops here" in done.stderr
