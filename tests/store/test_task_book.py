"""tasks.jsonl: several writers, torn lines, other people's lines."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from support import MOMENT, SetClock, make_project
from untilproven.errors import Damaged, Foreign, NoSuchTask, Overtaken, StoreFailed, TaskRefused
from untilproven.model.task import Create, Link, Relate, Task, TaskStatus, Update
from untilproven.store import files
from untilproven.store.layout import Project, find_project
from untilproven.store.tasks import LINE_LIMIT, Damage, TaskBook, book_of

A = b'{"id":"A","title":"a"}\n'
B = b'{"id":"B","title":"b"}\n'


@pytest.fixture
def book(project: Project) -> TaskBook:
    return book_of(project)


def holding(project: Project, data: bytes) -> TaskBook:
    """A book that somebody else has written."""
    book = book_of(project)
    book.path.parent.mkdir(parents=True, exist_ok=True)
    book.path.write_bytes(data)
    return book


def test_a_project_without_tasks_has_none_and_looking_makes_nothing(project: Project, book: TaskBook) -> None:
    found = book.read()
    assert (found.by_id, found.damage) == ({}, ())
    assert not (project.root / ".aiwg").exists()


def test_what_is_written_is_read_back_and_ids_count_up(book: TaskBook) -> None:
    first = book.create(title="one", tags=("x",))
    book.append(Create(task=Task(id="RALPH-041", title="brought")), Create(task=Task(id="OTHER-99", title="brought")))
    second = book.create(title="two", blocked_by=("RALPH-001",))
    assert (first.id, second.id) == ("RALPH-001", "RALPH-042")
    assert book.create(title="own", id="X").id == "X"
    found = book.read()
    assert (found.by_id["RALPH-001"], found.by_id["RALPH-042"], found.damage) == (first, second, ())
    book.append(Create(task=Task(id="RALPH-999", title="brought")))
    assert book.create(title="more").id == "RALPH-1000"


def test_a_line_is_one_object_with_its_time(project: Project) -> None:
    book = book_of(project, SetClock())
    book.create(title="one")
    book.append(Update(id="RALPH-001", changes={"tags": ("x",)}, source="manual"))
    first, second = map(msgspec.json.decode, book.path.read_bytes().splitlines())
    assert first == {
        "op": "create",
        "task": {
            "id": "RALPH-001",
            "title": "one",
            "status": "pending",
            "createdAt": "2026-02-02T21:00:00Z",
            "priority": 0,
        },
        "timestamp": "2026-02-02T21:00:00Z",
    }
    assert (second["op"], second["changes"], second["source"]) == ("update", {"tags": ["x"]}, "manual")
    assert book.read().by_id["RALPH-001"].updated_at == MOMENT


def test_append_returns_what_a_reader_would_read(book: TaskBook) -> None:
    book.create(title="one")
    book.create(title="two")
    returned = book.append(
        Relate(id="RALPH-001", relation="blocks", target_id="RALPH-002"),
        Link(id="RALPH-001", external_id="7"),
        Update(id="RALPH-001", changes={"status": "in_progress"}),
    )
    assert returned == book.read()


def test_the_same_thing_said_again_at_the_same_moment_is_another_line(project: Project) -> None:
    book = book_of(project, SetClock())
    book.create(title="one")
    for priority in (1, 2, 1):
        book.append(Update(id="RALPH-001", changes={"priority": priority}))
    assert book.read().by_id["RALPH-001"].priority == 1


def test_what_is_refused_leaves_nothing_in_the_file(book: TaskBook) -> None:
    book.create(title="one")
    before = book.path.read_bytes()
    with pytest.raises(NoSuchTask):
        book.append(Update(id="RALPH-001", changes={"priority": 5}), Update(id="nobody", changes={}))
    with pytest.raises(TaskRefused, match="cannot become done"):
        book.append(Update(id="RALPH-001", changes={"status": "done"}))
    with pytest.raises(TaskRefused, match="this cannot be written"):
        book.create(title="x", id="../x")
    with pytest.raises(TaskRefused, match="this cannot be written"):
        book.create(title="\ud800")
    with pytest.raises(TaskRefused, match="is not believed"):
        book.create(title="x" * LINE_LIMIT)
    with pytest.raises(StoreFailed, match="something else"):
        book.create(title="x", priority=float("nan"))
    assert book.path.read_bytes() == before


def test_of_two_that_claim_a_task_one_is_told_that_it_was_late(book: TaskBook) -> None:
    book.create(title="one")
    claim = Update(id="RALPH-001", changes={"status": "in_progress"})
    book.append(claim, expect={"RALPH-001": TaskStatus.PENDING})
    with pytest.raises(Overtaken) as late:
        book.append(claim, expect={"RALPH-001": TaskStatus.PENDING})
    assert late.value.exit_code == 7
    assert len(book.path.read_bytes().splitlines()) == 2


@pytest.mark.parametrize(
    ("junk", "reason"),
    [
        (b"garbage", "not readable"),
        (b"\0" * 50, "not readable"),
        (b"[]", "not readable"),
        (b"null", "not readable"),
        (b"\xff\xfe", "not readable"),
        (b"[" * 5000, "not readable"),
        (b'{"id":"../x","title":"x"}', "not readable"),
        (b'{"id":"C"}', "title"),
        (b'{"op":"explode","id":"A"}', "there is no op 'explode'"),
        (b'{"op":["update"],"id":"A"}', "there is no op"),
        (b'{"id":"C","title":"' + b"x" * 10_000_000 + b'"}', "more than 1048576 in one line is not believed"),
        (b"<<<<<<< HEAD", "a merge left its mark here"),
        (b"=======", "a merge left its mark here"),
        (b">>>>>>> other", "a merge left its mark here"),
        (b'{"op":"update","id":"A","changes":{"status":"done"}}', "A is pending and cannot become done"),
        (b'{"op":"update","id":"nobody","changes":{}}', "there is no task 'nobody'"),
        (b'{"id":"C","title":"c","completedAt":"2026-02-02T21:00:00Z"}', "completedAt is for a task that is done"),
    ],
    ids=lambda value: str(value[:25]),
)
def test_a_line_that_cannot_be_used_is_named_and_never_empties_the_rest(
    project: Project, junk: bytes, reason: str
) -> None:
    book = holding(project, A + junk + b"\n" + B)
    found = book.read()
    assert list(found.by_id) == ["A", "B"]
    (damage,) = found.damage
    assert damage.line == 2
    assert reason in damage.reason
    assert book.create(title="more").id == "RALPH-001"
    assert book.read().damage == (damage,)


def test_whole_tasks_operations_nulls_blank_lines_and_unknown_keys_are_read(project: Project) -> None:
    book = holding(
        project,
        b'{"id":"A","title":"a","priority":null,"color":"red","blockedBy":["X"]}\n\n  \r\n'
        b'{"task":{"id":"B","title":"b"},"op":"create"}\n'
        b'{"id":"A","changes":{"priority":4},"op":"update","who":"me"}\n'
        b'{"op":"relate","id":"A","relation":"blocks","targetId":"B"}',
    )
    found = book.read()
    assert found.damage == ()
    a, b = found.by_id["A"], found.by_id["B"]
    assert (a.priority, a.extra, a.blocked_by, a.blocks, b.blocked_by) == (4, {"color": "red"}, ("X",), ("B",), ("A",))


def test_the_name_under_which_unknown_keys_are_carried_is_no_way_in(project: Project) -> None:
    found = holding(project, b'{"id":"A","title":"a","+extra":{"title":"b"}}\n' + B).read()
    assert (found.by_id["A"].title, found.by_id["A"].extra) == ("a", {"+extra": {"title": "b"}})
    assert found.by_id["B"].extra is UNSET


def test_a_last_line_that_was_never_finished_is_closed_off(project: Project) -> None:
    book = holding(project, A + b'{"op":"create","ta')
    assert [damage.line for damage in book.read().damage] == [2]
    assert "never finished" in book.read().damage[0].reason
    book.create(title="more")
    found = book.read()
    assert (list(found.by_id), [damage.line for damage in found.damage]) == (["A", "RALPH-001"], [2])
    assert book.path.read_bytes().startswith(A + b'{"op":"create","ta\n{"op":"create"')


def test_a_last_line_without_its_newline_counts_if_it_is_whole(project: Project) -> None:
    book = holding(project, A + B.rstrip())
    assert (list(book.read().by_id), book.read().damage) == (["A", "B"], ())
    book.create(title="more")
    assert (list(book.read().by_id), book.read().damage) == (["A", "B", "RALPH-001"], ())


def test_lines_that_a_merge_brings_twice_or_too_early_do_no_harm(book: TaskBook) -> None:
    book.create(title="one")
    book.create(title="two")
    for status in ("in_progress", "blocked", "pending", "in_progress", "done"):
        book.append(Update(id="RALPH-001", changes={"status": status}))
    book.append(Relate(id="RALPH-001", relation="blocks", target_id="RALPH-002"))
    before, lines = book.read(), book.path.read_bytes().splitlines(keepends=True)
    assert before.by_id["RALPH-001"].status is TaskStatus.DONE
    book.path.write_bytes(b"".join(lines + lines))
    assert book.read() == before
    book.path.write_bytes(b"".join([*lines[2:], *lines[:2]]))
    assert book.read() == before


def test_two_branches_that_gave_one_id_to_two_tasks_are_told_apart_by_a_human(project: Project, book: TaskBook) -> None:
    book.create(title="ours")
    theirs = holding_elsewhere(project)
    theirs.create(title="theirs")
    theirs.append(*(Update(id="RALPH-001", changes={"status": status}) for status in ("in_progress", "done")))
    book.path.write_bytes(book.path.read_bytes() + theirs.path.read_bytes())
    found = book.read()
    assert (found.by_id["RALPH-001"].title, found.by_id["RALPH-001"].status) == ("ours", TaskStatus.BLOCKED)
    assert [damage.line for damage in found.damage] == [2, 3, 4]
    with pytest.raises(TaskRefused, match="two tasks are called RALPH-001"):
        book.append(Update(id="RALPH-001", changes={"status": "pending"}))
    text = book.path.read_text().splitlines(keepends=True)
    book.path.write_text("".join([text[0], *(line.replace("RALPH-001", "RALPH-002") for line in text[1:])]))
    healed = book.read()
    assert (healed.by_id["RALPH-001"].status, healed.by_id["RALPH-002"].status) == ("pending", "done")


def holding_elsewhere(project: Project) -> TaskBook:
    return book_of(make_project(project.root.parent / "elsewhere"))


def test_a_file_at_the_root_wins_and_its_lock_is_kept_out_of_git(project: Project) -> None:
    (project.root / "tasks.jsonl").write_bytes(A)
    book = book_of(project)
    assert (book.path, book.progress.parent, book.learning.name) == (
        project.root / "tasks.jsonl",
        project.root,
        "learning.jsonl",
    )
    book.create(title="more")
    assert list(book.read().by_id) == ["A", "RALPH-001"]
    assert book.lock == project.root / ".aiwg/ralph/tasks.lock"
    assert (project.root / ".aiwg/ralph/.gitignore").read_text().splitlines()[1] == "*"


def test_a_linked_worktree_has_the_tasks_of_its_own_branch(tmp_path: Path) -> None:
    main = tmp_path / "main"
    git(tmp_path, "init", "-q", "-b", "main", str(main))
    git(main, "commit", "-q", "--allow-empty", "-m", "begin")
    book_of(find_project(main)).create(title="of main")
    git(main, "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    linked = find_project(tmp_path / "linked")
    assert linked.home == main
    book = book_of(linked)
    assert book.read().by_id == {}
    book.create(title="of the branch")
    assert book.path == tmp_path / "linked/.aiwg/ralph/tasks.jsonl"
    assert git(linked.root, "status", "--porcelain", "-uall").split() == [
        *("??", ".aiwg/ralph/.gitignore"),
        *("??", ".aiwg/ralph/tasks.jsonl"),
    ]


def git(cwd: Path, *words: str) -> str:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
    return subprocess.run(["git", *who, *words], cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("where", ["tasks.jsonl", ".aiwg/ralph/tasks.jsonl", ".aiwg/ralph", ".aiwg/ralph/tasks.lock"])
def test_links_are_not_followed(project: Project, tmp_path: Path, where: str) -> None:
    outside = tmp_path / "outside"
    if where == ".aiwg/ralph":
        outside.mkdir()
    else:
        outside.write_bytes(A)
    (project.root / where).parent.mkdir(parents=True, exist_ok=True)
    (project.root / where).symlink_to(outside)
    with pytest.raises(Foreign, match="symbolic link"):
        book_of(project).create(title="x")
    if not where.endswith("lock"):
        with pytest.raises(Foreign, match="symbolic link"):
            book_of(project).read()
    assert outside.is_dir() or outside.read_bytes() == A


def test_what_is_no_file_or_cannot_be_opened_is_not_taken_for_empty(
    project: Project, book: TaskBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.path.mkdir(parents=True)
    with pytest.raises(Damaged):
        book.create(title="x")
    book.path.rmdir()
    os.mkfifo(book.path)
    with pytest.raises(Damaged, match="not a regular file"):
        book.create(title="x")

    def refused(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files, "read", refused)
    with pytest.raises(Damaged, match="cannot be read: Permission denied"):
        book.read()


def test_a_write_that_fails_leaves_nothing_of_it(book: TaskBook, monkeypatch: pytest.MonkeyPatch) -> None:
    book.create(title="one")
    before = book.path.read_bytes()

    def half(fd: int, data: bytes) -> None:
        os.write(fd, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(files, "write_all", half)
        with pytest.raises(StoreFailed):
            book._append(b'{"op":"create"}\n')
    assert book.path.read_bytes() == before


ADDS = """
import sys
import tempfile
from pathlib import Path
from untilproven.store.layout import find_project
from untilproven.store.tasks import book_of
book = book_of(find_project(Path(sys.argv[1])))
for number in range(int(sys.argv[3])):
    print(book.create(title=f"{sys.argv[2]} {number}").id, flush=True)
"""


def writer(project: Project, name: str, count: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-P", "-c", ADDS, str(project.root), name, str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def test_eight_writers_at_once_lose_nothing(project: Project, book: TaskBook) -> None:
    running = [writer(project, f"writer {number}", 50) for number in range(8)]
    told = [line for one in running for line in one.communicate(timeout=100)[0].split()]
    assert [one.returncode for one in running] == [0] * 8
    found = book.read()
    assert found.damage == ()
    assert sorted(told) == sorted(found.by_id)
    assert len(found.by_id) == 400
    assert {task.title for task in found.by_id.values()} == {f"writer {w} {n}" for w in range(8) for n in range(50)}


def test_a_writer_that_is_killed_has_written_all_that_it_said(project: Project, book: TaskBook) -> None:
    told: list[str] = []
    for number in range(5):
        one = writer(project, f"killed {number}", 100_000)
        assert one.stdout
        deadline = time.monotonic() + 30
        while len(told) < (number + 1) * 8 and time.monotonic() < deadline:
            told.append(one.stdout.readline().strip())
        one.send_signal(signal.SIGKILL)
        told += one.communicate(timeout=30)[0].split()
    found = book.read()
    assert len(told) >= 40
    assert set(told) <= set(found.by_id)
    assert found.damage == ()
    assert book.create(title="after").id not in told


def test_whoever_reads_while_another_writes_sees_no_torn_line(project: Project, book: TaskBook) -> None:
    """A line that is half there is looked at again when its writer is done."""
    holding(project, A + B[:10])
    script = (
        "import sys, time, fcntl, os\n"
        "fd = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT)\n"
        "fcntl.flock(fd, fcntl.LOCK_EX)\n"
        "print('locked', flush=True)\n"
        "time.sleep(0.3)\n"
        "open(sys.argv[1], 'ab').write(sys.argv[3].encode() + b'\\n')\n"
    )
    words = [sys.executable, "-c", script, str(book.path), str(book.lock), B[10:].decode().strip()]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as slow:
        assert slow.stdout
        slow.stdout.readline()
        found = book.read()
    assert (list(found.by_id), found.damage) == (["A", "B"], ())


def test_damage_says_which_line(project: Project) -> None:
    assert holding(project, b"x\n" + A + b"y\n").read().damage == (
        Damage(1, "not readable: JSON is malformed: invalid character (byte 0)"),
        Damage(3, "not readable: JSON is malformed: invalid character (byte 0)"),
    )


MOVED = b'{"op":"update","id":"A","changes":{"status":"in_progress"}}\n'
LINES = (A, B, MOVED, b'{"op":"update","id":"A","changes":{"status":"done"}}\n', b"{damage\n", b"\n", b'{"id":"C"')


@given(st.lists(st.lists(st.sampled_from(LINES), max_size=4), min_size=1, max_size=5), st.sets(st.integers(0, 5)))
def test_a_book_read_again_is_what_a_new_reader_reads(parts: list[list[bytes]], rewritten: set[int]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        project = make_project(Path(directory) / "project")
        book, data = holding(project, b""), b""
        for number, part in enumerate(parts):
            data = b"".join(part) if number in rewritten else data + b"".join(part)
            book.path.write_bytes(data)
            assert book.read() == book_of(project).read()


def test_what_was_read_earlier_does_not_change_when_the_book_is_read_again(project: Project) -> None:
    book = holding(project, A)
    before = book.read()
    with book.path.open("ab") as file:
        file.write(MOVED + B)
    assert book.read().by_id.keys() == {"A", "B"}
    assert {name: task.status for name, task in before.by_id.items()} == {"A": TaskStatus.PENDING}
