"""learning.jsonl and progress.jsonl: whole lines, written once, and never emptied by a bad one."""

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from core.ended import NOW, ended
from support import make_project
from untilproven.errors import Damaged, Foreign, RalphError, StoreFailed
from untilproven.model.learning import Activity, Learnt
from untilproven.store.layout import Project
from untilproven.store.learning import learning_of, progress_of
from untilproven.store.lines import LINE_LIMIT, Lines

TESTS = Path(__file__).parents[1]
WRITER = """
import sys
from pathlib import Path
from core.ended import ended
from untilproven.store.layout import find_project
from untilproven.store.learning import learning_of

learning = learning_of(find_project(Path(sys.argv[1])))
start, count = int(sys.argv[2]), int(sys.argv[3])
for number in range(start, start + count):
    learning.append(ended(number))
    print(number, flush=True)
"""


@pytest.fixture
def learning(project: Project) -> Lines[Learnt]:
    return learning_of(project)


def writer(project: Project, start: int, count: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", WRITER, str(project.root), str(start), str(count)]
    env = {**os.environ, "PYTHONPATH": str(TESTS)}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)


def test_what_is_written_is_read_and_lies_beside_the_tasks(project: Project, learning: Lines[Learnt]) -> None:
    assert learning.read().records == ()
    assert learning.append(ended(1), ended(2)) == (ended(1), ended(2))
    assert learning.read().records == (ended(1), ended(2))
    state = project.root / ".aiwg/ralph"
    assert learning.path == state / "learning.jsonl"
    assert progress_of(project).path == state / "progress.jsonl"
    assert "!learning.jsonl" in (state / ".gitignore").read_text()
    (project.root / "tasks.jsonl").write_text("")
    assert learning_of(project).path == project.root / "learning.jsonl"
    assert learning_of(project).lock.parent == state
    assert progress_of(project).path == project.root / "progress.jsonl"


def test_the_same_is_written_once(learning: Lines[Learnt]) -> None:
    assert learning.append(ended(1), ended(1)) == (ended(1),)
    before = learning.path.read_bytes()
    assert learning.append(ended(1, success=False)) == ()
    assert learning.path.read_bytes() == before
    assert learning.append(ended(1), ended(2)) == (ended(2),)


def test_what_is_never_the_same_is_written_each_time(project: Project) -> None:
    said = Activity(message="hello", timestamp=NOW)
    assert progress_of(project).append(said, said) == (said, said)
    assert progress_of(project).read().records == (said, said)


@pytest.mark.parametrize(
    "bad",
    [
        b"{",
        b"\0\0\0",
        b"null",
        b"[]",
        b'"text"',
        b'{"type": "lesson"}',
        b'{"type": 5}',
        b"{}",
        b"<<<<<<< HEAD",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"type": "task_completed", "taskId": "' + b"x" * LINE_LIMIT + b'"}',
    ],
    ids=lambda bad: repr(bad[:12]),
)
def test_a_line_that_cannot_be_read_is_reported_and_the_rest_is_there(learning: Lines[Learnt], bad: bytes) -> None:
    learning.append(ended(1))
    with learning.path.open("ab") as file:
        file.write(bad + b"\n")
    learning.append(ended(2))
    found = learning.read()
    assert found.records == (ended(1), ended(2))
    assert [one.line for one in found.damage] == [2]
    assert bad in learning.path.read_bytes()


def test_types_that_are_not_known_here_are_no_damage_and_unknown_keys_are_kept(learning: Lines[Learnt]) -> None:
    learning.append(ended(1))
    line = learning.path.read_bytes()
    learning.path.write_bytes(b'{"type":"plan_review","by":"me"}\n' + line.replace(b"{", b'{"later":[1],', 1))
    found = learning.read()
    assert (found.unknown, found.damage) == (1, ())
    assert found.records[0].extra == {"later": [1]}


def test_a_torn_last_line_is_closed_off(learning: Lines[Learnt]) -> None:
    learning.append(ended(1), ended(2))
    learning.path.write_bytes(learning.path.read_bytes()[:-20])
    assert [one.line for one in learning.read().damage] == [2]
    learning.append(ended(3))
    found = learning.read()
    assert found.records == (ended(1), ended(3))
    assert [one.line for one in found.damage] == [2]


def test_what_could_not_be_read_back_is_not_written(learning: Lines[Learnt]) -> None:
    learning.append(ended(1))
    before = learning.path.read_bytes()
    for wrong in (ended(2, iterations=-1), ended(2, task_id="no id"), ended(2, files_changed=("\udce9",))):
        with pytest.raises(StoreFailed):
            learning.append(ended(3), wrong)
    assert learning.path.read_bytes() == before


@pytest.mark.parametrize("made", ["link", "fifo", "directory", "state"])
def test_nothing_but_a_file_of_the_projects_own_is_used(tmp_path: Path, made: str) -> None:
    project = make_project(tmp_path / "project")
    learning = learning_of(project)
    learning.append(ended(1))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if made == "state":
        state = project.root / ".aiwg/ralph"
        state.rename(elsewhere / "ralph")
        state.symlink_to(elsewhere / "ralph")
    else:
        learning.path.rename(elsewhere / "learning.jsonl")
        match made:
            case "link":
                learning.path.symlink_to(elsewhere / "learning.jsonl")
            case "fifo":
                os.mkfifo(learning.path)
            case "directory":
                learning.path.mkdir()
    held = {path: path.read_bytes() for path in elsewhere.rglob("learning.jsonl")}
    for use in (learning.read, lambda: learning.append(ended(2)), lambda: learning.drop(lambda _: True)):
        with pytest.raises((Foreign, Damaged, RalphError)):
            use()
    assert {path: path.read_bytes() for path in held} == held


def test_several_writers_lose_nothing_and_write_nothing_twice(project: Project, learning: Lines[Learnt]) -> None:
    writers = [writer(project, start, 30) for start in (0, 15, 30, 45, 0, 15)]
    for one in writers:
        one.communicate(timeout=60)
    assert [one.returncode for one in writers] == [0] * 6
    found = learning.read()
    assert found.damage == ()
    assert len(found.records) == 75
    assert {*found.records} == set(map(ended, range(75)))


def test_what_a_killed_writer_was_told_is_written_is_there(project: Project, learning: Lines[Learnt]) -> None:
    one = writer(project, 0, 100_000)
    assert one.stdout
    told = [one.stdout.readline() for _ in range(5)]
    one.send_signal(signal.SIGKILL)
    rest, _ = one.communicate(timeout=30)
    acknowledged = [int(word) for word in b"".join([*told, rest]).split()]
    records = learning.read().records
    assert set(map(ended, acknowledged)) <= {*records}
    started = time.monotonic()
    learning.append(ended(999_999))  # the lock is free
    assert time.monotonic() - started < 5


def test_dropping_takes_out_what_is_not_wanted_and_nothing_else(learning: Lines[Learnt]) -> None:
    learning.append(ended(1), ended(2), ended(3))
    first, second, third = learning.path.read_bytes().splitlines()
    kept = [b"<<<<<<< HEAD", b'{"type":"plan_review"}', b"", second, b"\xff", b"{tor"]
    learning.path.write_bytes(b"\n".join([first, *kept[:3], second, third, *kept[4:]]))
    old = NOW - timedelta(hours=12)
    unwanted = [ended(1), ended(3)]
    before = learning.path.read_bytes()
    assert learning.drop(lambda one: one in unwanted, rehearse=True) == (ended(1), ended(3))
    assert learning.path.read_bytes() == before
    assert learning.drop(lambda one: one in unwanted) == (ended(1), ended(3))
    assert learning.path.read_bytes() == b"\n".join(kept)
    written = learning.path.stat()
    assert learning.drop(lambda one: getattr(one, "timestamp", NOW) > old) == ()
    assert learning.path.stat().st_ino == written.st_ino
    assert sorted(path.name for path in learning.path.parent.glob("*learning*")) == ["learning.jsonl", "learning.lock"]


def test_a_disk_that_is_full_leaves_no_half_line(learning: Lines[Learnt], monkeypatch: pytest.MonkeyPatch) -> None:
    learning.append(ended(1))
    before = learning.path.read_bytes()
    real = os.write

    def full(fd: int, data: bytes) -> int:
        if Path(f"/proc/self/fd/{fd}").readlink() == learning.path:
            real(fd, bytes(data)[:10])
            raise OSError(28, "No space left on device")
        return real(fd, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreFailed, match="no room left"):
        learning.append(ended(2))
    monkeypatch.undo()
    assert learning.path.read_bytes() == before
