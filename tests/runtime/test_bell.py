"""The bell of a running loop: answered at once, hung in a safe place or not at all, and nobody can jam it."""

import contextlib
import os
import resource
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from process.scenes import wait_for
from runtime.scenes import Runner, dead_loop, kept_requests, runner_of
from support import make_project, run_iteration
from untilproven.model.status import Status
from untilproven.runtime.control import porch, requests
from untilproven.runtime.control.client import ANSWER_SECONDS, ask, ring, wait_until_done
from untilproven.runtime.control.requests import new_request
from untilproven.runtime.control.server import Bell
from untilproven.store import reader
from untilproven.store.layout import Project
from untilproven.store.lifecycle import create_state

pytestmark = pytest.mark.usefixtures("own_porch")

LOOP = "ralph-x-00000000"

STRANGER = """
import os, socket, sys
fd = os.open(os.path.dirname(sys.argv[1]), os.O_RDONLY | os.O_DIRECTORY)
s = socket.socket(socket.AF_UNIX)
s.settimeout(20)
s.connect(f"/proc/self/fd/{fd}/{os.path.basename(sys.argv[1])}")
print("connected", flush=True)
try:
    s.sendall(b'{"request":"x"}\\n')
    print("told", s.recv(4096))
except OSError:
    print("told", b"")
"""


def visitor(path: str | Path) -> socket.socket:
    """Somebody at the bell who says nothing; reached through the directory, for a path may be too long."""
    directory = os.open(Path(path).parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(f"/proc/self/fd/{directory}/{Path(path).name}")
        connection.settimeout(20)
        return connection
    finally:
        os.close(directory)


def somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on this process takes itself for another user's: only root could really become one."""
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)


def test_a_runner_answers_and_obeys(project: Project) -> None:
    with runner_of(project) as runner:
        began = time.monotonic()
        answer = ask(project.state, runner.loop_id, new_request("pause"))
        assert answer.kind in {"seen", "done"}
        done = wait_until_done(project.state, answer, seconds=20)
        assert time.monotonic() - began < ANSWER_SECONDS
        assert (done.kind, done.state.status, done.state.reason) == ("done", Status.PAUSED, "pause")
        assert runner.process.wait(20) == 0
    assert kept_requests() == []
    assert not Path(runner.bell).exists()


def test_the_answer_says_how_the_loop_stands_and_what_was_seen(project: Project) -> None:
    with create_state(project, "fix") as writer, Bell(project.state, writer.state.loop_id) as bell:
        run_iteration(writer, 1)
        request = requests.leave(project.state, writer.state.loop_id, new_request("pause"))
        with visitor(bell.path) as connection:
            connection.sendall(b'{"request":"')
            bell.answer()
            bell.answer()
            connection.sendall(b'abc"}\n')
            bell.answer()
            told = msgspec.json.decode(connection.recv(4096))
            assert connection.recv(4096) == b""
        name = writer.state.loop_id
        assert told == {"loop_id": name, "seen": request.id, "status": "running", "iteration": 1}
        assert bell.wanted() == request
        bell.done(request)
        assert bell.wanted() is None
        assert bell.problem == ""


def test_a_request_is_found_without_a_ring(project: Project) -> None:
    with runner_of(project) as runner:
        requests.leave(project.state, runner.loop_id, new_request("abort"))
        assert runner.process.wait(20) == 0
    assert reader.view(project.state, runner.loop_id).state.status is Status.ABORTED


def test_the_stale_bell_of_a_dead_runner_is_replaced(project: Project, own_porch: Path) -> None:
    loop_id = dead_loop(project)
    (stale,) = own_porch.iterdir()
    with Bell(project.state, loop_id) as bell:
        assert bell.path == stale
        with visitor(bell.path):
            bell.answer()
    assert list(own_porch.iterdir()) == []


def test_taking_down_a_bell_leaves_that_of_the_next_runner(project: Project) -> None:
    with Bell(project.state, LOOP) as late:
        with Bell(project.state, LOOP) as bell:
            late.__exit__(None, None, None)
            assert bell.path.exists()
        assert not bell.path.exists()


def test_a_very_deep_project_and_a_very_deep_temporary_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path.joinpath(*["d" * 60] * 6)
    deep.mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(deep))
    project = make_project(deep / "project")
    with runner_of(project) as runner:
        assert len(runner.bell) > 360
        answer = ask(project.state, runner.loop_id, new_request("abort"))
        done = wait_until_done(project.state, answer, seconds=20)
        assert done.state.status is Status.ABORTED


def test_the_runtime_directory_is_preferred_if_it_is_private(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_porch: Path
) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    with Bell(project.state, LOOP) as bell:
        assert bell.path.parent == runtime / "untilproven"
    runtime.chmod(0o755)
    with Bell(project.state, LOOP) as bell:
        assert bell.path.parent == own_porch


def test_a_caller_with_another_environment_finds_the_bell(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a login without a session: no XDG_RUNTIME_DIR, or another TMPDIR."""
    with runner_of(project, "idle") as runner:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        deadline = time.monotonic() + 20
        assert ring(project.state, runner.loop_id, new_request("pause"), deadline)


@pytest.fixture(params=["link", "mode", "file", "dangling"])
def squatted(request: pytest.FixtureRequest, own_porch: Path, tmp_path: Path) -> str:
    elsewhere = tmp_path / "elsewhere"
    match request.param:
        case "link":
            elsewhere.mkdir(mode=0o700)
            own_porch.symlink_to(elsewhere)
            return "it is a link"
        case "dangling":
            own_porch.symlink_to(elsewhere)
            return "it is a link"
        case "mode":
            own_porch.mkdir()
            own_porch.chmod(0o777)
            return "mode 0700"
    own_porch.write_bytes(b"")
    return "Not a directory"


def test_a_place_that_others_could_enter_is_not_used_and_the_loop_goes_on(
    project: Project, squatted: str, tmp_path: Path
) -> None:
    with runner_of(project) as runner:
        assert "other terminals cannot ring" in runner.bell
        assert squatted in runner.bell
        answer = ask(project.state, runner.loop_id, new_request("pause"))
        assert wait_until_done(project.state, answer, seconds=20).state.status is Status.PAUSED
    elsewhere = tmp_path / "elsewhere"
    assert not elsewhere.exists() or list(elsewhere.iterdir()) == []


def test_a_place_of_another_user_is_not_used(
    project: Project, own_porch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    somebody_else(monkeypatch)
    (own_porch.parent / f"untilproven-{os.geteuid()}").mkdir(mode=0o700)
    with Bell(project.state, LOOP) as bell:
        assert "must belong to you" in bell.problem
        assert (bell.fd, bell.wanted()) == (-1, None)
        bell.answer()


def test_a_place_that_is_not_ours_is_not_rung_at(own_porch: Path) -> None:
    own_porch.mkdir()
    own_porch.chmod(0o755)
    assert own_porch not in [place.path for place in porch.existing()]
    own_porch.chmod(0o700)
    assert own_porch in [place.path for place in porch.existing()]


@pytest.fixture
def runner(project: Project) -> Iterator[Runner]:
    with runner_of(project, "idle") as runner:
        yield runner


@pytest.mark.parametrize(
    "said", [b"", b"\n", b"garbage\n", b"\xff\x00\n", b"[" * 4000 + b"\n", b'{"request":1}\n', b"x" * 300_000]
)
def test_whatever_is_said_the_loop_goes_on_and_the_next_is_served(
    project: Project, runner: Runner, said: bytes
) -> None:
    with visitor(runner.bell) as rude:
        try:
            rude.sendall(said)
            rude.shutdown(socket.SHUT_WR)
            assert rude.recv(100) == b""
        except OSError:
            pass  # it was cut off in the middle
    assert ring(project.state, runner.loop_id, new_request("pause"), time.monotonic() + 20)
    assert runner.process.poll() is None


def test_who_does_not_come_to_the_point_is_cut_off(project: Project) -> None:
    with Bell(project.state, LOOP) as bell, visitor(bell.path) as talker:
        talker.sendall(b"x" * 8192)
        for _ in range(4):
            bell.answer()
        with contextlib.suppress(ConnectionResetError):
            assert talker.recv(1) == b""


def test_hundreds_who_say_nothing_keep_nobody_out(project: Project, runner: Runner) -> None:
    silent = [visitor(runner.bell) for _ in range(600)]
    try:
        request = new_request("pause")
        wait_for(lambda: ring(project.state, runner.loop_id, request, time.monotonic() + 20), "an answer")
        held = len(list(Path(f"/proc/{runner.pid}/fd").iterdir()))
        assert held < 300
    finally:
        for connection in silent:
            connection.close()


def test_who_says_nothing_for_long_is_turned_away(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("untilproven.runtime.control.server._PATIENCE", 0.0)
    with Bell(project.state, LOOP) as bell, visitor(bell.path) as silent:
        bell.answer()
        assert silent.recv(1) == b""


def test_two_hundred_at_once_are_all_answered(project: Project, runner: Runner) -> None:
    connections = [visitor(runner.bell) for _ in range(200)]
    try:
        for connection in connections:
            connection.sendall(b'{"request":"x"}\n')
        told = [msgspec.json.decode(connection.recv(4096)) for connection in connections]
        assert {answer["loop_id"] for answer in told} == {runner.loop_id}
    finally:
        for connection in connections:
            connection.close()


def test_one_call_does_a_bounded_amount_of_work(project: Project) -> None:
    with Bell(project.state, LOOP) as bell:
        waiting = [visitor(bell.path) for _ in range(100)]
        try:
            bell.answer()
            assert 0 < len(bell._visitors) < 50
        finally:
            for connection in waiting:
                connection.close()


def test_too_many_open_files_silence_the_bell_and_not_the_loop(project: Project) -> None:
    with Bell(project.state, LOOP) as bell, visitor(bell.path):
        few = os.open(os.devnull, os.O_RDONLY)
        os.close(few)
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (few, before[1]))
            bell.answer()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        assert "Too many open files" in bell.problem
        assert select.select([bell.fd], [], [], 0)[0] == []


def test_a_peer_in_another_process_namespace_may_do_nothing(runner: Runner) -> None:
    inside = ["unshare", "-Urpf", "--mount-proc", sys.executable, "-c", STRANGER, runner.bell]
    done = subprocess.run(inside, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "connected\ntold b''\n", done.stderr
    outside = [sys.executable, "-c", STRANGER, runner.bell]
    done = subprocess.run(outside, capture_output=True, text=True, check=False, timeout=60)
    assert runner.loop_id in done.stdout


def test_a_peer_of_another_user_may_do_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with Bell(project.state, LOOP) as bell, visitor(bell.path) as stranger:
        somebody_else(monkeypatch)
        bell.answer()
        assert stranger.recv(1) == b""


def test_a_bell_that_another_user_hung_is_not_believed(
    project: Project, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = new_request("pause")
    assert ring(project.state, runner.loop_id, request, time.monotonic() + 20)
    monkeypatch.setattr("untilproven.runtime.control.peer.is_same_user", lambda _: False)
    assert ring(project.state, runner.loop_id, request, time.monotonic() + 20) is None
