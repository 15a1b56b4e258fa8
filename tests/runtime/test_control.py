"""Pause and abort from another terminal: quick when the runner lives, certain when it does not."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from process.scenes import alive
from runtime.scenes import dead_loop, kept_requests, marked_orphan, runner_of
from untilproven.errors import Foreign, IllegalTransition, NoSuchLoop
from untilproven.model.state import LoopState
from untilproven.model.status import Status
from untilproven.runtime.control import requests
from untilproven.runtime.control.client import ANSWER_SECONDS, ask, wait_until_done
from untilproven.runtime.control.requests import new_request
from untilproven.store import lifecycle, reader
from untilproven.store.layout import Project, StateDirectory
from untilproven.store.registry import read_registry

pytestmark = pytest.mark.usefixtures("own_porch")

CLIENT = """
import sys
from pathlib import Path
from untilproven.errors import RalphError
from untilproven.runtime.control.client import ask, wait_until_done
from untilproven.runtime.control.requests import new_request
from untilproven.store.layout import find_project
directory = find_project(Path(sys.argv[1])).state
try:
    answer = ask(directory, sys.argv[2], new_request(sys.argv[3], now=True))
    print(answer.kind, wait_until_done(directory, answer, seconds=20).state.status)
except RalphError as error:
    print(error.kind, error.message)
"""


def status(project: Project, loop_id: str) -> Status:
    return reader.view(project.state, loop_id).state.status


def slots(project: Project) -> int:
    return len(read_registry(project.state).registry.active_loops)


@pytest.mark.parametrize(("do", "becomes"), [("pause", Status.PAUSED), ("abort", Status.ABORTED)])
def test_the_loop_of_a_dead_runner_is_dealt_with_at_once(project: Project, do: str, becomes: Status) -> None:
    loop_id = dead_loop(project)
    began = time.monotonic()
    answer = ask(project.state, loop_id, new_request("abort" if do == "abort" else "pause"))
    assert (answer.kind, answer.state.status, answer.survivors) == ("done", becomes, 0)
    assert time.monotonic() - began < ANSWER_SECONDS
    assert status(project, loop_id) is becomes
    assert slots(project) == (do == "pause")
    assert kept_requests() == []


@pytest.mark.parametrize("do", ["pause", "abort"])
def test_what_a_dead_runner_left_running_is_ended_first(project: Project, tmp_path: Path, do: str) -> None:
    loop_id = dead_loop(project)
    orphan = marked_orphan(loop_id, tmp_path)
    try:
        ask(project.state, loop_id, new_request("abort" if do == "abort" else "pause"))
        assert not alive(orphan)
    finally:
        if alive(orphan):
            os.kill(orphan, signal.SIGKILL)


def test_leftovers_are_ended_before_the_end_is_recorded(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    loop_id = dead_loop(project)

    def killed(_marker: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("untilproven.runtime.control.client.end_leftovers", killed)
        with pytest.raises(KeyboardInterrupt):
            ask(project.state, loop_id, new_request("abort"))
    assert status(project, loop_id) is Status.RUNNING
    left = requests.pending(project.state, loop_id)
    assert left
    assert left.do == "abort"
    answer = ask(project.state, loop_id, new_request("pause"))
    assert (answer.request, answer.state.status) == (left, Status.ABORTED)


def test_a_stopped_runner_finds_the_request_when_it_goes_on(project: Project) -> None:
    with runner_of(project) as runner:
        os.kill(runner.pid, signal.SIGSTOP)
        answer = ask(project.state, runner.loop_id, new_request("abort"), wait=0.3)
        assert (answer.kind, answer.state.status) == ("left", Status.RUNNING)
        assert wait_until_done(project.state, answer, seconds=0.1) == answer
        os.kill(runner.pid, signal.SIGCONT)
        assert wait_until_done(project.state, answer, seconds=20).state.status is Status.ABORTED
        assert runner.process.wait(20) == 0


def test_a_runner_that_dies_before_it_obeys_is_stood_in_for(project: Project) -> None:
    with runner_of(project, "idle") as runner:
        answer = ask(project.state, runner.loop_id, new_request("pause", now=True))
        assert answer.kind == "seen"
        runner.process.kill()
        done = wait_until_done(project.state, answer, seconds=20)
        assert (done.kind, done.state.status) == ("done", Status.PAUSED)


def test_a_runner_that_hears_no_bell_still_obeys(project: Project) -> None:
    with runner_of(project, "deaf") as runner:
        answer = ask(project.state, runner.loop_id, new_request("abort"), wait=10)
        assert (answer.kind, answer.state.status) == ("done", Status.ABORTED)


def test_two_terminals_at_once(project: Project) -> None:
    for steps in ([], ["deaf"]):
        with runner_of(project, *steps) as runner:
            terminals = [
                subprocess.Popen(
                    [sys.executable, "-c", CLIENT, str(project.root), runner.loop_id, do],
                    stdout=subprocess.PIPE,
                    text=True,
                )
                for do in ("pause", "abort", "pause", "abort")
            ]
            said = [terminal.communicate(timeout=60)[0].strip() for terminal in terminals]
        assert status(project, runner.loop_id) is Status.ABORTED, said
        assert kept_requests() == []
        assert all(words.split()[0] in {"seen", "done", "illegal_transition"} for words in said), said


@pytest.mark.parametrize(
    ("steps", "do", "why"),
    [
        (["completing"], "pause", "is completing and cannot become paused"),
        (["completing", "completed"], "pause", "completed cannot become paused"),
        (["completing", "completed"], "abort", "completed cannot become aborted"),
        (["aborted"], "abort", "aborted cannot become aborted"),
        (["paused"], "pause", "paused cannot become paused"),
        (["crashed"], "pause", "crashed cannot become paused"),
    ],
)
def test_what_the_state_does_not_allow_is_refused_and_leaves_no_trace(
    project: Project, steps: list[str], do: str, why: str, tmp_path: Path
) -> None:
    loop_id = dead_loop(project, *steps)
    orphan = marked_orphan(loop_id, tmp_path)
    try:
        with pytest.raises(IllegalTransition, match=why):
            ask(project.state, loop_id, new_request("abort" if do == "abort" else "pause"))
        assert status(project, loop_id) == steps[-1]
        assert kept_requests() == []
        assert alive(orphan)
    finally:
        os.kill(orphan, signal.SIGKILL)


def test_a_pause_is_refused_while_a_living_runner_completes(project: Project) -> None:
    with runner_of(project, "idle", "completing") as runner:
        with pytest.raises(IllegalTransition, match="delivering its result"):
            ask(project.state, runner.loop_id, new_request("pause"))
        assert kept_requests() == []


def test_a_pause_that_the_loop_outran_is_taken_back(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """It began to complete after we looked and before it answered."""
    with runner_of(project, "idle", "completing") as runner:
        views = reader.resolve(project.state, runner.loop_id)
        before = msgspec.structs.replace(views, state=msgspec.structs.replace(views.state, status=Status.RUNNING))
        monkeypatch.setattr(reader, "resolve", lambda *_: before)
        with pytest.raises(IllegalTransition, match="delivering its result"):
            ask(project.state, runner.loop_id, new_request("pause"))
        assert kept_requests() == []


def test_aborting_while_completing_fails_the_loop_and_a_crashed_one_only_gives_up_its_slot(project: Project) -> None:
    completing, crashed = dead_loop(project, "completing"), dead_loop(project, "crashed")
    assert ask(project.state, completing, new_request("abort")).state.status is Status.FAILED
    assert slots(project) == 1
    assert ask(project.state, crashed, new_request("abort")).state.status is Status.CRASHED
    assert slots(project) == 0
    assert kept_requests() == []


def test_a_paused_loop_can_be_aborted(project: Project) -> None:
    loop_id = dead_loop(project, "paused")
    assert ask(project.state, loop_id, new_request("abort")).state.status is Status.ABORTED


def test_a_loop_that_another_terminal_ends_meanwhile_is_reported_as_it_is(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop_id = dead_loop(project)
    pause_loop = lifecycle.pause_loop

    def too_late(directory: StateDirectory, loop_id: str, *, before: Callable[[], None]) -> LoopState:
        lifecycle.abort_loop(directory, loop_id)
        return pause_loop(directory, loop_id, before=before)

    monkeypatch.setattr(lifecycle, "pause_loop", too_late)
    answer = ask(project.state, loop_id, new_request("pause"))
    assert (answer.kind, answer.state.status) == ("done", Status.ABORTED)
    assert kept_requests() == []


def test_nothing_is_left_of_a_request_whose_runner_died_after_it_ended_the_loop(project: Project) -> None:
    with runner_of(project, "idle") as runner:
        answer = ask(project.state, runner.loop_id, new_request("abort"))
        assert answer.kind == "seen"
    lifecycle.abort_loop(project.state, runner.loop_id)
    assert kept_requests() != []
    assert wait_until_done(project.state, answer, seconds=20).state.status is Status.ABORTED
    assert kept_requests() == []


@pytest.mark.parametrize("act", [lifecycle.abort_loop, lifecycle.pause_loop])
def test_nothing_is_done_for_a_step_that_is_not_allowed(project: Project, act: Callable[..., LoopState]) -> None:
    loop_id = dead_loop(project, "completing", "completed")
    done: list[bool] = []
    with pytest.raises(IllegalTransition):
        act(project.state, loop_id, before=lambda: done.append(True))
    assert done == []


def test_a_foreign_loop_is_refused_before_anything_is_touched(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with runner_of(project, "idle") as runner:
        orphan = marked_orphan(runner.loop_id, tmp_path)
        try:
            monkeypatch.setenv("HOME", str(tmp_path / "somebody-else"))
            with pytest.raises(Foreign):
                ask(project.state, runner.loop_id, new_request("abort"))
            assert not (tmp_path / "somebody-else").exists()
            assert alive(orphan)
            assert runner.process.poll() is None
        finally:
            os.kill(orphan, signal.SIGKILL)


def test_a_loop_that_is_not_there(project: Project) -> None:
    with pytest.raises(NoSuchLoop):
        ask(project.state, "ralph-x-00000000", new_request("abort"))
    assert kept_requests() == []
