"""What is stored grows with the change, serves the loop that goes on, and is dropped when nobody needs it."""

import os
import time
from pathlib import Path

from untilproven.store.files import MIB
from untilproven.workspace.overlay import plan
from untilproven.workspace.overlay.quota import Quota
from untilproven.workspace.overlay.workspace import OverlayWorkspace
from untilproven.workspace.snapshots.collecting import record
from untilproven.workspace.snapshots.retention import prune
from untilproven.workspace.snapshots.shelf import Snapshots, inherit, place_of
from workspace.overlay.scenes.stage import LOOP, Stage, fingerprint, play, succeeded

LATER = "ralph-later-a1b2c3d4"


def size_of(path: Path) -> int:
    return sum(file.lstat().st_size for file in path.rglob("*") if file.is_file())


def a_small_change_is_one_small_file(base: Path) -> None:
    stage = Stage(base)
    stage.write("large", "x" * MIB)
    succeeded(stage.agent("echo x >> src/a.py", 1))
    stage.workspace.keep(1)
    files = list(stage.workspace._snapshots.path.iterdir())
    assert [file.name for file in files] == ["000001-kept-1"]
    assert size_of(stage.workspace._snapshots.path) < 1000
    assert {oct(path.stat().st_mode & 0o777) for path in (*files, files[0].parent)} == {"0o600", "0o700"}
    succeeded(stage.agent("echo x >> large", 2))
    stage.workspace.keep(2)
    succeeded(stage.agent("echo x >> large", 3))
    stage.workspace.keep(3)
    assert size_of(stage.workspace._snapshots.path) < 3 * MIB + 3000  # each version of it once
    stage.workspace._snapshots.start()
    before = size_of(stage.workspace._snapshots.path)
    for number in range(4, 8):
        succeeded(stage.agent("head -c 50000 /dev/urandom > middle", number))
        stage.workspace.keep(number)
    assert size_of(stage.workspace._snapshots.path) < before + 4 * 50500
    stage.workspace.close()


def a_change_of_sixteen_files_is_remembered_in_a_moment(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("for i in $(seq 16); do echo x > src/file-$i; done; echo x >> src/a.py", 1))
    stage.workspace.delta()
    layer = stage.workspace._place.iteration(1)
    took = []
    for number in range(20):
        snapshots = Snapshots(stage.root, f"ralph-{number}-a1b2c3d4")
        began = time.monotonic()
        record(snapshots, snapshots.next("kept", "1"), plan.load(layer), layer / "upper", stage.root)
        took.append(time.monotonic() - began)
    assert min(took) < 0.05, took
    stage.workspace.close()


def a_loop_that_goes_on_has_the_start_of_the_first(base: Path) -> None:
    stage = Stage(base)
    start = fingerprint(stage.root, times=False, without=(".git", ".aiwg"))
    succeeded(stage.agent("echo 1 > src/a.py; head -c 100000 /dev/zero > large", 1))
    stage.workspace.keep(1)
    succeeded(stage.agent("echo lost > lost", 2))
    stage.workspace.delta()
    stage.workspace.discard(2)
    stage.workspace.forget()
    half = place_of(stage.root, LATER).with_name(f".{LATER}.half")
    (half / "objects").mkdir(parents=True)
    (half / "000001-kept-1").write_text("of a process that was killed")
    for _ in range(2):
        inherit(stage.root, LOOP, LATER)
    assert not half.exists()
    later = OverlayWorkspace(stage.project, LATER, stage.workspace._exclude)
    later.recover(None)
    assert set(later.since_start()) == {"src/a.py", "large"}
    stage.workspace = later
    succeeded(stage.agent("echo 3 > src/b.py", 3))
    later.keep(3)
    later.restore("2")
    assert (stage.root / "lost").read_text() == "lost\n"
    later.restore("start")
    assert fingerprint(stage.root, times=False, without=(".git", ".aiwg")) == start
    later.forget()
    inherit(stage.root, "ralph-never-a1b2c3d4", "ralph-other-a1b2c3d4")
    assert not place_of(stage.root, "ralph-other-a1b2c3d4").exists()


def what_was_discarded_is_dropped_and_nothing_else(base: Path) -> None:
    stage = Stage(base)
    for number in range(1, 7):
        succeeded(stage.agent(f"head -c 10{number}000 /dev/urandom > large; echo {number} > src/a.py", number))
        stage.workspace.delta()
        (stage.workspace.keep if number in {2, 5} else stage.workspace.discard)(number)
    before = size_of(stage.workspace._snapshots.path)
    stage.workspace.forget()
    pruned = prune(stage.root, LOOP)
    assert pruned.iterations == 4
    assert pruned.size >= 101000 + 103000 + 104000 + 106000
    path = place_of(stage.root, LOOP)
    assert sorted(name.name[7:] for name in path.glob("0*")) == ["kept-2", "kept-5"]
    assert before - size_of(path) == pruned.size
    stage.workspace = stage.another()
    stage.workspace.recover(None)
    for target, size in (("2", 102000), ("end", 105000)):
        assert stage.workspace.restore(target).conflicts == ()
        assert (stage.root / "large").stat().st_size == size
    stage.workspace.forget()
    assert prune(stage.root, LOOP) == (0, 0)
    snapshots = Snapshots(stage.root, LOOP)
    for step in snapshots.history():
        for name, change in step.record.changes().items():
            for entry in (change.base, change.ours):
                assert entry is None or snapshots.read("elsewhere", entry, MIB) is not None, (step.name, name)
    assert prune(stage.root, LOOP) == (0, 0)
    stage.workspace = stage.another()
    for target, size in (("2", 102000), ("end", 105000)):
        assert stage.workspace.restore(target).conflicts == ()
        assert (stage.root / "large").stat().st_size == size
    stage.workspace.restore("start")
    assert not (stage.root / "large").exists()
    assert (stage.root / "src/a.py").read_text() == "a = 1\n"
    assert prune(stage.root, "ralph-never-a1b2c3d4") == (0, 0)
    stage.workspace.forget()


def what_would_fill_the_disk_is_not_taken_over(base: Path) -> None:
    stage = Stage(base)
    before = fingerprint(stage.root)
    for number, quota in enumerate((Quota(most=MIB), Quota(left_free=1 << 60, always=MIB)), start=1):
        stage.workspace.quota = quota
        tree = stage.workspace.tree()
        succeeded(stage.agent("head -c 2000000 /dev/urandom > large; echo x > small; rm src/a.py", number))
        delta = stage.workspace.delta()
        assert delta.changes == ()
        assert delta.tree == tree
        assert any("1.9 MiB were written" in note for note in delta.notes), delta.notes
        assert stage.check("ls large small; cat src/a.py").output.endswith("a = 1\n")
        stage.workspace.keep(number)
        assert fingerprint(stage.root) == before
        succeeded(stage.agent("echo x > small", number))
        assert [change.path for change in stage.workspace.delta().changes] == ["small"]
        stage.workspace.discard(number)
    stage.workspace.close()


def what_cannot_be_kept_is_not_replaced(base: Path) -> None:
    """A file that its owner may not read, on which the agent has laid hands."""
    stage = Stage(base)
    secret = stage.write("secret", "mine\n")
    secret.chmod(0)
    succeeded(stage.agent("rm -f secret; echo agent > secret", 1))
    assert stage.workspace.keep(1) == ()
    assert secret.read_text() == "agent\n"
    assert stage.workspace.restore("start").conflicts == ()
    assert secret.stat().st_mode & 0o777 == 0
    secret.chmod(0o600)
    assert secret.read_text() == "mine\n"
    stage.workspace.close()


def owners_and_attributes_come_back(base: Path) -> None:
    stage = Stage(base)
    path = stage.root / "src/a.py"
    os.setxattr(path, "user.mine", b"1")
    if not os.getuid():
        for own in (path, stage.root / "src"):
            os.chown(own, 1234, 1235)
        path.chmod(0o4755)
        path.parent.chmod(0o777)
    seen = path.stat()
    succeeded(stage.agent("rm -r src", 1))
    stage.workspace.keep(1)
    assert not path.exists()
    assert stage.workspace.restore("start").conflicts == ()
    now = path.stat()
    assert (now.st_uid, now.st_gid, now.st_mode, now.st_mtime_ns) == (
        seen.st_uid,
        seen.st_gid,
        seen.st_mode,
        seen.st_mtime_ns,
    )
    assert path.parent.stat().st_uid == seen.st_uid
    assert os.getxattr(path, "user.mine") == b"1"
    stage.workspace.close()


def a_giant_comes_back_too(base: Path) -> None:
    """What is too large to be hashed is told by its size and time."""
    stage = Stage(base)
    giant = stage.root / "giant"
    with giant.open("wb") as file:
        for _ in range(65):
            file.write(os.urandom(1024) * 1024)
    os.utime(giant, ns=(1, 1_500_000_000_000_000_001))
    before = fingerprint(stage.root)["giant"]
    succeeded(stage.agent("echo x >> giant", 1))
    stage.workspace.keep(1)
    after = fingerprint(stage.root)["giant"]
    succeeded(stage.agent("rm giant", 2))
    stage.workspace.keep(2)
    for target, wanted in (("start", before), ("1", after), ("start", before)):
        assert stage.workspace.restore(target).conflicts == (), target
        assert fingerprint(stage.root)["giant"] == wanted
    stage.workspace.close()


if __name__ == "__main__":
    play(globals())
