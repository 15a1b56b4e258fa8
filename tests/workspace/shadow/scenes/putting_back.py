"""The agent works on the user's files; what is kept stays, and what is not kept was never there."""

import os
import shutil
import socket
import stat
import subprocess
from pathlib import Path, PurePosixPath

from untilproven.workspace.overlay import upper
from untilproven.workspace.plain import PlainWorkspace
from untilproven.workspace.shadow import memory, purifying
from untilproven.workspace.shadow.caretaker import NOT_PUT_BACK, PUT_ASIDE
from untilproven.workspace.snapshots.shelf import Snapshots
from untilproven.workspace.snapshots.states import after
from workspace.shadow.scenes.stage import LOOP, SUPERVISION, Stage, names_in, play, state_of, succeeded, told

EVERYTHING = """
    echo more >> src/a.py; rm untracked.txt; mv src/b.py src/moved.py; chmod 700 run.sh; rm -r node_modules
    mkdir -p made/inner; chmod 750 made; ln -sf src/deep link; rm dangling; mkdir dangling; echo new > dangling/file
    rm -r src/deep; echo file > src/deep; echo y >> .env; touch -d 2001-01-01 old; rmdir empty/inner; touch staged.txt
    mkdir -p .venv/bin; ln -s /usr/bin/python3 .venv/bin/python; chmod 500 .venv/bin
"""
CHANGES = {
    "src/a.py": "modified",
    "untracked.txt": "deleted",
    "src/moved.py": "renamed src/b.py",
    "run.sh": "mode",
    "node_modules/x/index.js": "deleted",
    "made/inner/": "created",
    "link": "modified",
    "dangling": "deleted",
    "dangling/file": "created",
    "src/deep/er/c.py": "deleted",
    "src/deep": "created",
    ".env": "modified",
    "old": "created",
    "empty/inner/": "deleted",
    ".venv/bin/python": "created",
}
GIT = """
    git add -A; git commit -qm agent; git stash list; git config alias.x '!evil'; git branch other; git tag t
    echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; rm .git/description; git gc -q --prune=now
"""


def a_discarded_iteration_leaves_no_trace(base: Path) -> None:
    stage = Stage(base)
    before, tree = state_of(stage.root), stage.workspace.tree()
    for number in (1, 2):
        succeeded(stage.agent(EVERYTHING, number))
        delta = stage.workspace.delta()
        assert told(delta) == CHANGES, told(delta)
        assert delta.notes == ()
        assert delta.tree == stage.workspace.tree() != tree
        assert stage.workspace.delta() is delta
        stage.workspace.discard(number)
        assert state_of(stage.root) == before
        assert stage.workspace.tree() == tree == stage.another().tree()
        assert stage.workspace.notes() == ()
    stage.workspace.discard(2)
    stage.workspace.discard(1)
    assert state_of(stage.root) == before
    assert not list(stage.root.rglob("*ralph-restore*"))
    stage.workspace.close()


def what_is_not_touched_is_not_written(base: Path) -> None:
    stage = Stage(base)
    before = {path: (path.lstat().st_ino, path.lstat().st_ctime_ns) for path in (stage.root / "src").rglob("*")}
    succeeded(stage.agent("echo x > new; rm run.sh; chmod 600 .env"))
    stage.workspace.discard(1)
    assert {path: (path.lstat().st_ino, path.lstat().st_ctime_ns) for path in (stage.root / "src").rglob("*")} == before
    stage.workspace.close()


def a_kept_iteration_is_the_tree_and_can_be_gone_back_to(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent(EVERYTHING))
    tree = stage.workspace.delta().tree
    kept = state_of(stage.root)
    assert stage.workspace.keep(1) == ()
    assert stage.workspace.keep(1) == ()
    assert state_of(stage.root) == kept
    assert stage.workspace.tree() == tree
    succeeded(stage.agent("rm -r src; echo 2 > made/inner/two; echo 'no more' > .env", 2))
    stage.workspace.discard(2)
    assert state_of(stage.root) == kept
    differs = stage.workspace.since_start()
    assert differs["src/moved.py"] == (False, True)
    assert differs["src/b.py"] == (True, False)
    assert differs[".env"] == (True, True)
    assert "made/inner/two" not in differs
    snapshots = Snapshots(stage.root, LOOP)
    assert [str(name) for name in snapshots.names] == ["000001-kept-1", "000002-discarded-2"]
    start, one, two = (after(snapshots.history("2"), what) for what in ("start", "1", "2"))
    assert start
    assert one
    assert two
    assert snapshots.read(".env", start[".env"].entry, 100) == b"TOKEN=1\n"  # type: ignore[union-attr]
    assert snapshots.read(".env", one[".env"].entry, 100) == b"TOKEN=1\ny\n"  # type: ignore[union-attr]
    assert snapshots.read(".env", two[".env"].entry, 100) == b"no more\n"  # type: ignore[union-attr]
    assert two["src/a.py"] is None
    stage.workspace.close()


def git_s_own_files_are_as_they_were_whatever_becomes_of_the_iteration(base: Path) -> None:
    stage = Stage(base)
    stage.host("git stash push -q src/b.py && git stash apply -q && git update-index -q --refresh")
    before, status = state_of(stage.root), stage.host("git status --porcelain; git stash list; git rev-parse HEAD")
    succeeded(stage.agent("echo more >> src/a.py; git stash drop -q;" + GIT))
    delta = stage.workspace.delta()
    assert purifying.GIT_PUT_BACK in delta.notes, delta
    assert told(delta) == {"src/a.py": "modified"}
    now = state_of(stage.root)
    assert {path for path in now.keys() | before.keys() if now.get(path) != before.get(path)} == {"src/a.py"}
    stage.host("git fsck --strict --no-dangling && git stash show -p stash@{0} && git log")
    stage.workspace.keep(1)
    succeeded(stage.agent("rm -rf .git/refs .git/objects .git/HEAD; mkfifo .git/HEAD", 2))
    stage.workspace.discard(2)
    stage.host("git checkout -q src/a.py; git fsck --strict --no-dangling")
    assert stage.host("git status --porcelain; git stash list; git rev-parse HEAD") == status
    stage.workspace.close()


def objects_of_git_that_were_overwritten_are_put_back_and_new_ones_stay(base: Path) -> None:
    stage = Stage(base)
    succeeded(
        stage.agent(
            "for o in $(find .git/objects -type f); do chmod u+w $o; echo spoiled > $o; done;"
            "mv .git moved; ln -s moved .git"
        )
    )
    room = stage.workspace.delta()
    assert "moved/HEAD" in told(room)
    stage.workspace.discard(1)
    stage.host("git fsck --strict")
    stage.workspace.open(2, SUPERVISION)
    stage.host("git commit -qam 'by the user, meanwhile'")
    commit = stage.host("git rev-parse HEAD").strip()
    stage.workspace.discard(2)
    assert stage.host("git rev-parse HEAD").strip() != commit
    stage.host(f"git cat-file -p {commit}")
    assert commit in (stage.workspace._place.aside(2) / ".git/refs/heads").glob("*").__next__().read_text()
    stage.workspace.close()


def a_git_that_lies_elsewhere_is_put_back_too(base: Path) -> None:
    stage = Stage(base)
    stage.host("mv .git ../elsewhere; echo 'gitdir: ../elsewhere' > .git")
    before = state_of(stage.root)
    outside = state_of(base / "elsewhere")
    stage.agent("git commit -qam x; echo 'gitdir: /nowhere' > .git; rm -rf ../elsewhere")
    stage.workspace.discard(1)
    assert state_of(stage.root) == before
    assert state_of(base / "elsewhere") == outside
    stage.workspace.close()


def only_looking_with_git_needs_no_word(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("touch src/a.py; git status; git diff; git log"))
    assert stage.workspace.delta().notes == ()
    stage.workspace.close()


def what_is_no_file_and_what_gives_rights_does_not_stay(base: Path) -> None:
    stage = Stage(base)
    script = """
import os
os.remove('src/a.py'); os.mkfifo('src/a.py'); os.mkfifo('pipe')
os.makedirs('d/e', exist_ok=True); os.mkfifo('d/e/pipe')
open('power', 'w').write('x'); os.chmod('power', 0o6755); os.chmod('run.sh', 0o4755)
f = open('giant', 'w'); f.truncate(1 << 40)
os.makedirs('sub/.git', exist_ok=True); open('sub/.git/config', 'w').write('[core]\\nfsmonitor = evil\\n')
"""
    before = state_of(stage.root)
    succeeded(stage.python(script))
    delta = stage.workspace.delta()
    assert told(delta) == {"power": "created", "sub/.git/config": "created", "d/e/": "created"}, delta
    assert {change.mode for change in delta.changes if change.path == "power"} == {0o100755}
    assert sorted(delta.notes) == sorted(
        [
            f"'d/e/pipe', 'pipe', 'src/a.py': {upper.REFUSED_KIND}",
            f"'giant': {upper.REFUSED_GIANT}",
            f"'power', 'run.sh': {upper.NEUTRALISED}",
            f"'sub/.git': {upper.OWN_REPOSITORY}",
        ]
    ), delta.notes
    assert (stage.root / "power").stat().st_mode == 0o100755
    assert (stage.root / "run.sh").stat().st_mode == 0o100755
    assert not (stage.root / "giant").exists()
    assert (stage.root / "src/a.py").read_text() == "a = 1\n"
    tree = stage.workspace.tree()
    stage.workspace.keep(1)
    assert stage.another().tree() == tree == delta.tree
    succeeded(stage.python(script + "open('power', 'a').write('y')", 2))
    stage.workspace.discard(2)
    shutil.rmtree(stage.root / "sub")
    (stage.root / "power").unlink()
    shutil.rmtree(stage.root / "d")
    now = state_of(stage.root)
    assert now == before, {path for path in now.keys() | before.keys() if now.get(path) != before.get(path)}
    stage.workspace.close()


def rights_and_special_files_of_the_user_are_left_alone(base: Path) -> None:
    stage = Stage(base)
    (stage.root / "run.sh").chmod(0o4755)
    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(stage.root)
        listening.bind("listening")
        os.mkfifo("src/pipe")
        os.chdir("/")
        before = state_of(stage.root)
        succeeded(stage.agent("echo x >> src/a.py; rm run.sh"))
        stage.workspace.discard(1)
        assert state_of(stage.root) == before
        assert stat.S_ISSOCK((stage.root / "listening").stat().st_mode)
        assert stat.S_ISFIFO((stage.root / "src/pipe").stat().st_mode)
    stage.workspace.close()


def no_link_is_followed(base: Path) -> None:
    stage = Stage(base)
    before = state_of(stage.root)
    outside = base / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("theirs")
    (outside / "deep").mkdir()
    kept = state_of(outside)
    succeeded(stage.agent(f"rm -r src; ln -s {outside} src; rm -r empty; ln -s /etc empty; ln -s {outside} more"))
    stage.workspace.delta()
    stage.workspace.discard(1)
    assert state_of(stage.root) == before
    assert state_of(outside) == kept
    stage.workspace.close()


def what_closes_itself_is_opened_looked_at_and_put_back(base: Path) -> None:
    stage = Stage(base)
    stage.write("locked/file", "x\n")
    stage.write("locked/deep/file", "x\n")
    (stage.root / "locked").chmod(0o555)
    before = state_of(stage.root)
    script = """
        mkdir -p shut/in/er; echo s > shut/in/s; chmod 000 shut/in/s shut/in/er shut/in; chmod 311 shut
        chmod 755 locked; echo n > locked/new; rm locked/file; rm -r locked/deep; chmod 111 locked; chmod 000 .env src
        chmod 000 .
    """
    succeeded(stage.agent(script))
    delta = stage.workspace.delta()
    assert told(delta) == {
        ".env": "mode",
        "src/": "mode",
        "locked/": "mode",
        "locked/new": "created",
        "locked/file": "deleted",
        "locked/deep/file": "deleted",
        "shut/in/er/": "created",
        "shut/in/s": "created",
    }, told(delta)
    assert {change.path: change.hash for change in delta.changes}["shut/in/s"]
    shut = stage.root / "shut"
    assert shut.stat().st_mode == 0o40311
    assert (stage.root / "src").stat().st_mode == 0o40000
    assert stage.workspace.tree() == delta.tree
    stage.workspace.discard(1)
    assert state_of(stage.root) == before
    succeeded(stage.agent(script, 2))
    tree = stage.workspace.delta().tree
    succeeded(stage.check("test -x locked"))
    assert stage.workspace.tree() == tree == delta.tree
    stage.workspace.keep(2)
    assert (shut / "in").stat().st_mode == 0o40000
    assert stage.workspace.tree() == tree
    stage.workspace.close()
    subprocess.run(f"chmod 755 {shut}; chmod 700 {shut}/in; chmod 600 {shut}/in/s", shell=True, check=True)
    assert (shut / "in/s").read_text() == "s\n"


def names_may_be_anything(base: Path) -> None:
    stage = Stage(base, os.fsdecode(b"pro,ject: a\nb=\xff\\x"))
    for name in (b"\xff\n", b"-rf", b"new\nline", b"\x1b[31m"):
        (stage.root / os.fsdecode(name)).write_bytes(name)
    before = state_of(stage.root)
    script = r"""
import os
for name in os.listdir(b'.'):
    if os.path.isfile(name): os.remove(name)
for name in [b'new\nline', b'com,ma', b'co:lon', b'\xff\xfe', b'-rf', b' ', b'\x1b[31m', b'back\\slash', b'x' * 255]:
    short = name[:250]
    os.mkdir(b'd' + short); open(b'd' + short + b'/' + name, 'wb').write(name); os.symlink(name, b'l' + short)
os.mkfifo(b'\xff\n')
"""
    for number in (1, 2):
        succeeded(stage.python(script, number))
        stage.workspace.delta()
        stage.workspace.discard(number)
        assert state_of(stage.root) == before
    stage.workspace.close()


def thousands_of_changed_files_are_no_trouble(base: Path) -> None:
    stage = Stage(base)
    for at in range(2000):
        stage.write(f"many/{at % 50}/old{at}", f"{at}\n")
    script = """
import os
for at in range(2000):
    os.makedirs(f'new/{at % 70}', exist_ok=True)
    open(f'new/{at % 70}/{at}', 'w').write(str(at))
    os.remove(f'many/{at % 50}/old{at}')
"""
    before = state_of(stage.root)
    succeeded(stage.python(script))
    assert len([change for change in stage.workspace.delta().changes if not change.path.endswith("/")]) == 4000
    stage.workspace.discard(1)
    assert state_of(stage.root) == before
    stage.workspace.close()


def a_tree_deeper_than_any_path_can_name_is_put_back(base: Path) -> None:
    stage = Stage(base)
    before = state_of(stage.root)
    script = """
import os
for _ in range(1200):
    os.mkdir('deep'); os.chdir('deep')
open('bottom', 'w').write('b')
"""
    succeeded(stage.python(script))
    assert list(stage.changes()) == ["deep/" * 1200 + "bottom"]
    stage.workspace.discard(1)
    assert state_of(stage.root) == before
    stage.workspace.close()


def large_files_are_put_back_though_they_are_not_read(base: Path) -> None:
    stage = Stage(base)
    for name in ("one", "two"):
        with (stage.root / name).open("wb") as file:
            file.write(name.encode() * 100)
            file.truncate(65 << 20)
        os.utime(stage.root / name, (1_600_000_000, 1_600_000_000))
    before = state_of(stage.root)
    succeeded(stage.agent("rm one; echo changed >> two"))
    assert stage.changes() == {"one": "deleted", "two": "modified"}
    stage.workspace.discard(1)
    assert state_of(stage.root) == before
    for number in (2, 3, 4):
        succeeded(stage.agent(f"echo {number} >> two", number))
        stage.workspace.keep(number)
    assert sum(path.is_file() for path in (stage.workspace._place.path / "large").rglob("*")) <= 4
    stage.workspace.close()


def what_is_too_large_to_be_remembered_is_named_before_and_after(base: Path) -> None:
    memory.LARGEST_REMEMBERED = 66 << 20
    stage = Stage(base)
    with (stage.root / "huge").open("wb") as file:
        file.truncate(67 << 20)
    succeeded(stage.agent("echo changed >> huge; echo changed >> src/a.py"))
    assert f"'huge': {memory.NOT_REMEMBERED}" in stage.workspace.delta().notes
    stage.workspace.discard(1)
    assert stage.workspace.notes() == (f"'huge': {NOT_PUT_BACK}",)
    assert (stage.root / "src/a.py").read_text() == "a = 1\n"
    assert (stage.root / "huge").stat().st_size == (67 << 20) + 8
    stage.workspace.close()


def what_the_user_changes_once_the_agent_has_ended_is_put_aside(base: Path) -> None:
    stage = Stage(base)
    before = state_of(stage.root)
    succeeded(stage.agent("echo agent > src/a.py; echo agent > new; rm untracked.txt"))
    stage.workspace.delta()
    stage.write("src/a.py", "user\n")
    stage.write("untracked.txt", "user\n")
    stage.write("notes/mine.txt", "user\n")
    stage.workspace.discard(1)
    assert state_of(stage.root) == before
    aside = stage.workspace._place.aside(1)
    for name in ("src/a.py", "untracked.txt", "notes/mine.txt"):
        assert (aside / name).read_text() == "user\n", name
    assert not (aside / "new").exists()
    said = "\n".join(stage.workspace.notes())
    assert PUT_ASIDE in said
    assert "src/a.py" in said
    assert str(aside) in said
    stage.workspace.forget()
    assert (aside / "src/a.py").read_text() == "user\n"


def what_the_user_did_between_two_iterations_is_part_of_the_tree(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo 1 > one"))
    stage.workspace.keep(1)
    stage.write("by_user", "u\n")
    stage.write("src/b.py", "user's\n")
    before = state_of(stage.root)
    succeeded(stage.agent("grep -q u by_user && echo agent >> src/b.py; rm by_user", 2))
    assert stage.changes() == {"src/b.py": "modified", "by_user": "deleted"}
    stage.workspace.discard(2)
    assert state_of(stage.root) == before
    stage.workspace.close()


def its_trees_are_those_of_the_other_workspaces(base: Path) -> None:
    stage = Stage(base)
    plain = PlainWorkspace(stage.root, [PurePosixPath(".git"), PurePosixPath(".aiwg/ralph")])
    assert stage.workspace.tree() == plain.tree()
    succeeded(stage.agent(EVERYTHING))
    assert stage.workspace.delta().tree == plain.tree(fresh=True)
    stage.workspace.close()


def the_agent_s_words_and_results_pass_through_the_exchange(base: Path) -> None:
    stage = Stage(base)
    outside, inside = stage.workspace.exchange(1)
    (outside / "prompt").write_text("do it")
    room = stage.workspace.open(1, SUPERVISION)
    succeeded(room.run(f"grep -q 'do it' {inside}/prompt && echo done > {inside}/result", timeout=60))
    assert room.run(f"mv {inside} $TMPDIR/x || rmdir {inside} || mv $TMPDIR {inside}", timeout=60).exit_code != 0
    stage.workspace.delta()
    assert (outside / "result").read_text() == "done\n"
    stage.workspace.discard(1)
    assert not list(stage.workspace.exchange(1)[0].iterdir())
    stage.workspace.close()


def when_the_loop_has_ended_nothing_is_left_of_it(base: Path) -> None:
    stage = Stage(base)
    before = state_of(stage.root)
    succeeded(stage.agent("echo 1 > one; rm -r src"))
    stage.workspace.forget()
    assert state_of(stage.root) == before
    assert names_in(base / "home/.local/state/untilproven/shadows") == []


if __name__ == "__main__":
    play(globals())
