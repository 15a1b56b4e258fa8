"""What is left for a loop is found, whoever is killed; the strongest wish counts, and a damaged one does no harm."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from runtime.scenes import kept_requests
from untilproven.runtime.control import requests
from untilproven.runtime.control.requests import Request, new_request
from untilproven.store.layout import Project
from untilproven.store.vouch import user_state

LOOP = "ralph-x-00000000"


def test_what_is_left_is_found_and_cleared(project: Project) -> None:
    request = new_request("pause")
    assert requests.pending(project.state, LOOP) is None
    assert requests.leave(project.state, LOOP, request) == request
    assert requests.pending(project.state, LOOP) == request
    assert requests.pending(project.state, "ralph-x-00000001") is None
    requests.clear(project.state, LOOP, request)
    assert requests.pending(project.state, LOOP) is None
    assert kept_requests() == []


def test_it_is_kept_out_of_the_project_and_from_other_users(project: Project) -> None:
    requests.leave(project.state, LOOP, new_request("abort"))
    (place,) = (user_state() / "control").iterdir()
    assert project.root not in place.parents
    assert place.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in place.iterdir()] == ["abort.json"]


@pytest.mark.parametrize(
    ("first", "second", "counts"),
    [
        (new_request("abort"), new_request("pause", now=True), "first"),
        (new_request("pause", now=True), new_request("pause"), "first"),
        (new_request("pause"), new_request("pause"), "first"),
        (new_request("abort", revert=True), new_request("abort"), "first"),
        (new_request("pause"), new_request("pause", now=True), "second"),
        (new_request("pause", now=True), new_request("abort"), "second"),
        (new_request("abort"), new_request("abort", revert=True), "second"),
    ],
)
def test_the_stronger_one_counts(project: Project, first: Request, second: Request, counts: str) -> None:
    wanted = first if counts == "first" else second
    requests.leave(project.state, LOOP, first)
    assert requests.leave(project.state, LOOP, second) == wanted
    assert requests.pending(project.state, LOOP) == wanted
    requests.clear(project.state, LOOP, wanted)
    assert requests.pending(project.state, LOOP) is None


def test_clearing_what_was_obeyed_leaves_what_came_later(project: Project) -> None:
    pause, abort = new_request("pause"), new_request("abort")
    requests.leave(project.state, LOOP, pause)
    requests.leave(project.state, LOOP, abort)
    requests.clear(project.state, LOOP, pause)
    assert requests.pending(project.state, LOOP) == abort
    requests.clear(project.state, LOOP, new_request("abort"))
    assert requests.pending(project.state, LOOP) == abort


def test_whoever_resumes_overrides_a_pause_but_no_abort(project: Project) -> None:
    requests.leave(project.state, LOOP, new_request("pause", now=True))
    requests.clear_pauses(project.state, LOOP)
    assert requests.pending(project.state, LOOP) is None
    abort = requests.leave(project.state, LOOP, new_request("abort"))
    requests.clear_pauses(project.state, LOOP)
    assert requests.pending(project.state, LOOP) == abort


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"\xff\xfe", b"[]", b'{"do":"explode"}', b"x" * 10_000, b"[" * 4000, "link", "fifo", "abort"],
)
def test_a_damaged_one_is_no_request_and_hides_no_other(project: Project, damage: bytes | str) -> None:
    pause = requests.leave(project.state, LOOP, new_request("pause"))
    (place,) = (user_state() / "control").iterdir()
    bad = place / "pause-now.json"
    if damage == "link":
        bad.symlink_to("pause.json")
    elif damage == "fifo":
        os.mkfifo(bad)
    else:
        bad.write_bytes(msgspec.json.encode(new_request("abort")) if isinstance(damage, str) else damage)
    complaints: list[str] = []
    assert requests.pending(project.state, LOOP, complaints.append) == pause
    assert "put aside" in complaints[0]
    assert requests.pending(project.state, LOOP, complaints.append) == pause
    assert len(complaints) == 1
    assert bad.name not in [path.name for path in place.iterdir()]
    now = new_request("pause", now=True)
    assert requests.leave(project.state, LOOP, now) == now


def test_a_place_that_cannot_be_read_is_complained_of_and_nothing_worse(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "relative")
    complaints: list[str] = []
    assert requests.pending(project.state, LOOP, complaints.append) is None
    assert "HOME" in complaints[0]


def test_a_place_that_is_cleared_away_meanwhile_is_made_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever runs the loop clears what it obeyed between two steps of somebody who leaves the next."""
    made: list[Path] = []

    def make_and_lose(path: Path, mode: int) -> None:
        path.mkdir(mode)
        made.append(path)
        if len(made) == 1:
            path.rmdir()

    monkeypatch.setattr("untilproven.store.files.make_directory", make_and_lose)
    request = new_request("pause")
    assert requests.leave(project.state, LOOP, request) == request
    assert requests.pending(project.state, LOOP) == request
    assert len(made) == 2


def together(project: Project, line: str, *words: str) -> None:
    """Run a line of Python many times in as many processes as there are words, all at once."""
    program = (
        "import sys; from pathlib import Path\n"
        "from untilproven.runtime.control import requests\n"
        "from untilproven.store.layout import find_project\n"
        "state, word = find_project(Path(sys.argv[1])).state, sys.argv[2]\n"
        f"for _ in range(100): {line}\n"
    )
    all_of_them = [subprocess.Popen([sys.executable, "-c", program, str(project.root), word]) for word in words]
    assert [process.wait() for process in all_of_them] == [0] * len(words)


def test_many_at_once_never_lose_the_strongest(project: Project) -> None:
    line = f"requests.leave(state, '{LOOP}', requests.new_request(word)); requests.clear_pauses(state, '{LOOP}')"
    together(project, line, "pause", "pause", "abort", "abort")
    found = requests.pending(project.state, LOOP)
    assert found
    assert found.do == "abort"


def test_leaving_and_clearing_at_once_do_not_trip_over_each_other(project: Project) -> None:
    line = f"requests.clear(state, '{LOOP}', requests.leave(state, '{LOOP}', requests.new_request('pause')))"
    together(project, line, "a", "b", "c", "d")
    assert kept_requests() == []
