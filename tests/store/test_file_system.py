"""Full, read-only, moved, deleted: a clear error each time, and no file half-written or lost."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import run_iteration
from untilproven.errors import StoreFailed
from untilproven.store import files, reader
from untilproven.store.layout import Project
from untilproven.store.lifecycle import create_state
from untilproven.store.writer import LoopWriter

FULL = """
import os, sys
from pathlib import Path
from support import run_iteration, make_project
from untilproven.errors import StoreFailed
from untilproven.store import reader
from untilproven.store.replay import replay_journal
from untilproven.store.lifecycle import create_state
from untilproven.store.writer import open_loop
from untilproven.store.registry import read_registry

root = Path(sys.argv[1])
project = make_project(root / "project")
ballast = root / "ballast"
ballast.write_bytes(b"x" * 150_000)
writer = create_state(project, "fill the disk")
done = 0
try:
    while True:
        run_iteration(writer, done + 1, output="x" * 3000)
        done += 1
except StoreFailed as error:
    assert "no room left" in error.message, error.message
    assert "free some space" in error.hint
assert done > 2, done
seen = reader.view(project.state, writer.state.loop_id)
assert seen.damage == (), seen.damage
assert seen.state.iteration >= done
assert seen.state == replay_journal(writer.loop).state
assert [entry.loop_id for entry in read_registry(project.state).registry.active_loops] == [writer.state.loop_id]
for name in ("state.json", "state.json.bak"):
    assert (writer.loop.path / name).stat().st_size > 0
loops = sorted(project.state.loops.iterdir())
filler = os.open(root / "filler", os.O_CREAT | os.O_WRONLY)
try:
    while True:
        os.write(filler, b"x" * 100)
except OSError:
    os.close(filler)
try:
    create_state(project, "no room for another")
    sys.exit("a loop was made on a full disk")
except StoreFailed:
    pass
assert sorted(project.state.loops.iterdir()) == loops
ballast.unlink()
(root / "filler").unlink()
writer.close()
with open_loop(project.state, writer.state.loop_id) as again:
    run_iteration(again, again.state.iteration + 1)
    assert replay_journal(again.loop).state == again.state
print("held", done)
"""

READ_ONLY = """
import subprocess, sys
from pathlib import Path
from support import run_iteration, make_project
from untilproven.errors import StoreFailed
from untilproven.store import reader
from untilproven.store.replay import replay_journal
from untilproven.store.lifecycle import create_state
from untilproven.store.survey import check_stale_loops

root = Path(sys.argv[1])
project = make_project(root / "project")
writer = create_state(project, "read only")
run_iteration(writer, 1)
before = {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()}
writer.close()
subprocess.run(["mount", "-o", "remount,bind,ro", str(root)], check=True)
for act in (lambda: create_state(project, "x"), lambda: check_stale_loops(project.state)):
    try:
        act()
        sys.exit("it wrote to a read-only file system")
    except StoreFailed as error:
        assert "cannot write" in error.message, error.message
        assert "Read-only file system" in error.message
assert reader.view(project.state, writer.state.loop_id).state == writer.state
assert {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()} == before
print("held")
"""


def on_a_small_disk(script: str, place: Path, size: str) -> str:
    """Run a script that has a tmpfs of its own, in a mount namespace of its own."""
    place.mkdir()
    mounted = f'mount -t tmpfs -o size={size} tmpfs {place} && exec {sys.executable} -c "$SCRIPT" {place}'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounted],
        env={
            "SCRIPT": script,
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(place.parent / "home"),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_full_disk_stops_the_loop_and_spoils_nothing(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    assert "held" in on_a_small_disk(FULL, tmp_path / "disk", "600k")


def test_a_read_only_file_system_can_be_read_and_is_said(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    assert "held" in on_a_small_disk(READ_ONLY, tmp_path / "disk", "4m")


@pytest.fixture
def writer(project: Project) -> LoopWriter:
    made = create_state(project, "fix")
    run_iteration(made, 1)
    return made


def test_a_project_deleted_under_a_loop_is_an_error_and_not_a_write_into_the_void(
    project: Project, writer: LoopWriter
) -> None:
    shutil.rmtree(project.root)
    with pytest.raises(StoreFailed, match="moved or deleted"):
        run_iteration(writer, 2)
    with pytest.raises(StoreFailed, match="moved or deleted"):
        writer.update_heartbeat()
    with pytest.raises(StoreFailed, match="moved or deleted"):
        create_state(project, "again")
    assert not project.root.exists()


def test_a_project_moved_under_a_loop_loses_nothing(project: Project, writer: LoopWriter, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    project.root.rename(elsewhere)
    with pytest.raises(StoreFailed, match="moved or deleted"):
        run_iteration(writer, 2)
    moved = elsewhere / writer.loop.path.relative_to(project.root)
    assert (moved / "state.json").exists()
    elsewhere.rename(project.root)
    run_iteration(writer, 2)
    assert reader.view(project.state, writer.state.loop_id).state.iteration == 2


def test_a_state_directory_swapped_for_another_is_noticed(project: Project, writer: LoopWriter) -> None:
    """Somebody restored a backup over the running loop."""
    copy = writer.loop.path.with_name("copy")
    shutil.copytree(writer.loop.path, copy)
    writer.loop.path.rename(writer.loop.path.with_name("old"))
    copy.rename(writer.loop.path)
    with pytest.raises(StoreFailed, match="replaced"):
        run_iteration(writer, 2)


def test_a_file_in_the_way_of_the_state_directory_is_named(project: Project) -> None:
    (project.root / ".aiwg").write_text("I am a file")
    with pytest.raises(StoreFailed, match="in the way"):
        create_state(project, "fix")


def test_replacing_keeps_the_file_there_at_every_moment(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.replace(path, b"one", durable=False, keep_previous=True)
    assert not files.backup_of(path).exists()
    files.replace(path, b"two", durable=False, keep_previous=True)
    assert (path.read_bytes(), files.backup_of(path).read_bytes()) == (b"two", b"one")
    (tmp_path / ".file.tmp").symlink_to(tmp_path / "victim")
    files.replace(path, b"three", durable=True)
    assert path.read_bytes() == b"three"
    assert not (tmp_path / "victim").exists()
