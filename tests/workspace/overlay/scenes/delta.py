"""What an iteration changed is known to the byte, and a discarded one leaves no trace."""

import os
import socket
import subprocess
from pathlib import Path

from untilproven.workspace.overlay import upper
from untilproven.workspace.overlay.tree import Tree
from untilproven.workspace.walk import walk
from workspace.overlay.scenes.stage import SUPERVISION, Stage, fingerprint, names_in, play, succeeded, told

EVERYTHING = """
    echo more >> src/a.py; echo new > new.txt; rm untracked.txt; chmod 700 run.sh; mv src/b.py src/moved.py
    rm -r node_modules; mkdir -p made/inner; rmdir empty/inner; ln -sf src/deep link; rm dangling; mkdir dangling
    echo d > dangling/file; rm -r src/deep; echo file > src/deep; chmod 640 .env; echo y >> .env
    touch -d 2001-01-01 old
"""
CHANGES = {
    "src/a.py": "modified",
    "new.txt": "created",
    "untracked.txt": "deleted",
    "run.sh": "mode",
    "src/moved.py": "renamed src/b.py",
    "node_modules/x/index.js": "deleted",
    "made/inner/": "created",
    "empty/inner/": "deleted",
    "link": "modified",
    "dangling": "deleted",
    "dangling/file": "created",
    "src/deep/er/c.py": "deleted",
    "src/deep": "created",
    ".env": "modified",
    "old": "created",
}


def every_kind_of_change_is_told_and_discarding_leaves_no_trace(base: Path) -> None:
    stage = Stage(base)
    before, tree = fingerprint(stage.root), stage.workspace.tree()
    stage.look_no_more()
    succeeded(stage.agent(EVERYTHING))
    delta = stage.workspace.delta()
    assert told(delta) == CHANGES, told(delta)
    assert delta.notes == ()
    assert delta.tree != tree
    assert stage.workspace.delta() == delta
    stage.workspace.discard(1)
    assert fingerprint(stage.root) == before
    assert stage.workspace.tree() == tree == stage.another().tree()
    stage.workspace.close()


def checks_see_the_candidate_and_leave_nothing(base: Path) -> None:
    stage = Stage(base)
    before = fingerprint(stage.root)
    succeeded(stage.agent("echo new > new.txt; rm src/b.py; echo agent > ~/of_the_agent; echo t > /tmp/of_the_agent"))
    tree = stage.workspace.delta().tree
    succeeded(stage.check("test -f new.txt && test ! -e src/b.py && echo x > new.txt && echo x > src/by_check"))
    succeeded(stage.check("grep -q new new.txt && test ! -e src/by_check"))
    succeeded(stage.check("test ! -e ~/of_the_agent && test ! -e /tmp/of_the_agent && touch ~/x /tmp/x"))
    succeeded(stage.check("test ! -e ~/x && test ! -e /tmp/x"))
    assert not (stage.home / "x").exists()
    succeeded(stage.check('test "$PYTHONDONTWRITEBYTECODE" = 1 && test "$TMPDIR" = /tmp && git status >/dev/null'))
    assert stage.workspace.delta().tree == tree == stage.workspace.tree()
    stage.workspace.discard(1)
    succeeded(stage.check("test ! -e new.txt && test -f src/b.py"))
    assert fingerprint(stage.root) == before
    stage.workspace.close()


def what_was_only_touched_is_no_change(base: Path) -> None:
    stage = Stage(base)
    tree = stage.workspace.tree()
    succeeded(
        stage.agent("touch src/a.py; chmod 600 run.sh; chmod 755 run.sh; cat src/b.py > t; cat t > src/b.py; rm t")
    )
    delta = stage.workspace.delta()
    assert (delta.tree, delta.changes) == (tree, ())
    stage.workspace.close()


def a_directory_replaced_by_one_of_the_same_name_is_told_file_by_file(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("rm -r src; mkdir src; echo n > src/n; echo 'a = 1' > src/a.py"))
    assert stage.changes() == {
        "src/b.py": "deleted",
        "src/deep/er/c.py": "deleted",
        "src/n": "created",
    }, stage.changes()
    stage.workspace.keep(1)
    assert names_in(stage.root / "src") == ["a.py", "n"]
    stage.workspace.close()


def directories_can_be_renamed_one_into_the_other(base: Path) -> None:
    stage = Stage(base)
    stage.write("other/o", "o\n")
    before = fingerprint(stage.root / "src")
    script = """
        mv src/deep src/deeper; mv src lib; mv lib/deeper/er lib/top; echo more > lib/top/more; rm lib/b.py
        mv other src; mv src/o src/a.py
    """
    succeeded(stage.agent(script))
    assert stage.changes() == {
        "lib/a.py": "renamed src/a.py",
        "lib/deeper/": "created",
        "lib/top/c.py": "renamed src/deep/er/c.py",
        "lib/top/more": "created",
        "src/b.py": "deleted",
        "src/a.py": "modified",
        "other/o": "deleted",
    } or stage.changes() == {
        "lib/a.py": "created",
        "lib/deeper/": "created",
        "lib/top/c.py": "renamed src/deep/er/c.py",
        "lib/top/more": "created",
        "src/b.py": "deleted",
        "src/a.py": "modified",
        "other/o": "deleted",
    }, stage.changes()
    succeeded(stage.check("test -f lib/top/c.py -a ! -e lib/b.py -a ! -e other -a ! -e src/deep"))
    tree = stage.workspace.tree()
    stage.workspace.keep(1)
    assert stage.workspace.tree() == tree == stage.another().tree()
    after = fingerprint(stage.root / "lib")
    assert after["a.py"] == before["a.py"]
    assert after["top/c.py"] == before["deep/er/c.py"]
    stage.workspace.close()


def two_directories_can_change_places(base: Path) -> None:
    stage = Stage(base)
    stage.write("one/x", "1\n")
    stage.write("two/x", "2\n")
    succeeded(stage.agent("mv one t; mv two one; mv t two"))
    stage.workspace.keep(1)
    assert (stage.root / "one/x").read_text() + (stage.root / "two/x").read_text() == "2\n1\n"
    assert not (stage.root / "t").exists()
    stage.workspace.close()


def what_is_no_file_and_what_gives_rights_is_not_taken_over(base: Path) -> None:
    stage = Stage(base)
    script = """
import os, socket
os.remove('src/a.py'); os.mkfifo('src/a.py'); os.mkfifo('pipe')
socket.socket(socket.AF_UNIX).bind('socket')
open('power', 'w').write('x'); os.chmod('power', 0o6755)
f = open('giant', 'w'); f.truncate(1 << 40)
os.makedirs('sub/.git'); open('sub/.git/config', 'w').write('[core]\\nfsmonitor = evil\\n')
"""
    succeeded(stage.python(script))
    delta = stage.workspace.delta()
    assert told(delta) == {"power": "created", "sub/.git/config": "created"}, delta
    assert {change.mode for change in delta.changes if change.path == "power"} == {0o100755}
    assert sorted(delta.notes) == sorted(
        [
            f"'pipe', 'socket', 'src/a.py': {upper.REFUSED_KIND}",
            f"'giant': {upper.REFUSED_GIANT}",
            f"'power': {upper.NEUTRALISED}",
            f"'sub/.git': {upper.OWN_REPOSITORY}",
        ]
    ), delta.notes
    succeeded(stage.check("test -f src/a.py -a ! -e pipe -a ! -e giant -a ! -u power"))
    tree = stage.workspace.tree()
    stage.workspace.keep(1)
    assert (stage.root / "power").stat().st_mode == 0o100755
    assert (stage.root / "src/a.py").read_text() == "a = 1\n"
    assert stage.another().tree() == tree
    stage.workspace.close()


def no_link_in_the_layer_is_followed(base: Path) -> None:
    stage = Stage(base)
    outside = base / "outside"
    outside.mkdir()
    (outside / "file").write_text("theirs")
    succeeded(stage.agent(f"rm -r src; ln -s {outside} src; ln -s /etc/passwd passwd; mkdir d; ln -s ../src/file d/f"))
    assert stage.changes()["src"] == "created"
    stage.workspace.keep(1)
    assert (outside / "file").read_text() == "theirs"
    assert names_in(outside) == ["file"]
    assert (stage.root / "src").is_symlink()
    assert (stage.root / "passwd").is_symlink()
    succeeded(stage.agent("rm src; mkdir src; echo mine > src/file", 2))
    stage.workspace.keep(2)
    assert (outside / "file").read_text() == "theirs"
    assert (stage.root / "src/file").read_text() == "mine\n"
    stage.workspace.close()


def modes_that_close_files_and_directories_are_carried_over(base: Path) -> None:
    stage = Stage(base)
    stage.write("locked/file", "x\n")
    (stage.root / "locked").chmod(0o555)
    script = """
        mkdir -p shut/in; echo s > shut/in/s; chmod 000 shut/in/s shut/in; chmod 311 shut
        chmod 755 locked; echo n > locked/new; rm locked/file; chmod 555 locked
    """
    succeeded(stage.agent(script))
    delta = stage.workspace.delta()
    assert told(delta) == {
        "shut/in/s": "created",
        "locked/new": "created",
        "locked/file": "deleted",
    }, delta
    assert {change.path: change.hash for change in delta.changes}["shut/in/s"]
    stage.workspace.keep(1)
    shut = stage.root / "shut"
    assert (stage.root / "locked").stat().st_mode == 0o40555
    assert names_in(stage.root / "locked") == ["new"]
    assert shut.stat().st_mode == 0o40311
    assert (shut / "in").stat().st_mode == 0o40000
    stage.workspace.close()
    subprocess.run(f"chmod 755 {shut}; chmod 700 {shut}/in; chmod 600 {shut}/in/s", shell=True, check=True)
    assert (shut / "in/s").read_text() == "s\n"


def names_may_be_anything(base: Path) -> None:
    stage = Stage(base, os.fsdecode(b"pro,ject: a\nb=\xff\\x"))
    before = fingerprint(stage.root)
    script = r"""
import os
for name in [b'new\nline', b'com,ma', b'co:lon', b'\xff\xfe', b'-rf', b' ', b'\x1b[31m', b'back\\slash', b'x' * 255]:
    short = name[:250]
    os.mkdir(b'd' + short); open(b'd' + short + b'/' + name, 'wb').write(name); os.symlink(name, b'l' + short)
os.rename('src/a.py', b'src/\xff\n')
assert os.getcwdb().endswith(b'\xff\\x')
"""
    succeeded(stage.python(script))
    delta = stage.workspace.delta()
    assert len(delta.changes) == 19, delta
    stage.workspace.discard(1)
    assert fingerprint(stage.root) == before
    succeeded(stage.python(script, 2))
    assert stage.workspace.delta().tree == delta.tree
    stage.workspace.keep(2)
    assert (stage.root / os.fsdecode(b"d\xff\xfe/\xff\xfe")).read_bytes() == b"\xff\xfe"
    assert stage.workspace.tree() == delta.tree == stage.another().tree()
    stage.workspace.close()


def ten_thousand_changed_files_are_no_trouble(base: Path) -> None:
    stage = Stage(base)
    for at in range(5000):
        stage.write(f"many/{at % 50}/old{at}", f"{at}\n")
    script = """
import os
for at in range(5000):
    os.makedirs(f'new/{at % 70}', exist_ok=True)
    open(f'new/{at % 70}/{at}', 'w').write(str(at))
    os.remove(f'many/{at % 50}/old{at}')
"""
    before = fingerprint(stage.root)
    succeeded(stage.python(script))
    delta = stage.workspace.delta()
    assert len([change for change in delta.changes if not change.path.endswith("/")]) == 10_000
    stage.workspace.discard(1)
    assert fingerprint(stage.root) == before
    succeeded(stage.python(script, 2))
    stage.workspace.keep(2)
    assert stage.workspace.tree() == delta.tree == stage.another().tree()
    assert not list((stage.root / "many").rglob("old*"))
    stage.workspace.close()


def a_tree_deeper_than_any_path_can_name_is_read_dropped_and_merged(base: Path) -> None:
    stage = Stage(base)
    before = fingerprint(stage.root)
    script = """
import os
for _ in range(1500):
    os.mkdir('deep'); os.chdir('deep')
open('bottom', 'w').write('b')
"""
    succeeded(stage.python(script))
    assert list(stage.changes()) == ["deep/" * 1500 + "bottom"]
    stage.workspace.discard(1)
    assert fingerprint(stage.root) == before
    succeeded(stage.python(script, 2))
    tree = stage.workspace.delta().tree
    stage.workspace.keep(2)
    assert stage.another().tree() == tree
    stage.workspace.close()
    subprocess.run(["rm", "-rf", stage.root / "deep"], check=True)


def the_hash_follows_the_changes_as_a_fresh_walk_would_have_it(base: Path) -> None:
    stage = Stage(base)
    stage.look_no_more()
    for number, script in enumerate(
        ("echo 1 > one", "mkdir e; rm one", "rmdir e; mv src lib", "rm -r lib", EVERYTHING), 1
    ):
        stage.agent(script, number)
        tree = stage.workspace.delta().tree
        if number % 2:
            stage.workspace.keep(number)
            assert stage.workspace.tree() == tree
        else:
            stage.workspace.discard(number)
        assert stage.workspace.tree() == stage.another().tree()
        assert stage.workspace.tree() == Tree(walk(stage.root, stage.workspace._exclude).entries).hash()
    stage.workspace.close()


def what_the_user_did_between_two_iterations_is_part_of_the_tree(base: Path) -> None:
    stage = Stage(base)
    stage.workspace.tree()
    stage.write("by_user", "u\n")
    stage.write("src/b.py", "user's\n")
    succeeded(stage.agent("grep -q u by_user && echo agent >> src/b.py; rm by_user"))
    assert stage.changes() == {"src/b.py": "modified", "by_user": "deleted"}
    assert stage.workspace.keep(1) == ()
    assert (stage.root / "src/b.py").read_text() == "user's\nagent\n"
    assert stage.workspace.tree() == stage.another().tree()
    stage.workspace.close()


def sockets_and_pipes_of_the_user_are_left_alone(base: Path) -> None:
    stage = Stage(base)
    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(stage.root)
        listening.bind("listening")
        os.mkfifo("src/pipe")
        os.chdir("/")
        succeeded(stage.agent("echo x >> src/a.py"))
        assert stage.changes() == {"src/a.py": "modified"}
        stage.workspace.keep(1)
        assert (stage.root / "src/pipe").is_fifo()
        assert (stage.root / "listening").is_socket()
        succeeded(stage.agent("rm -r src", 2))
        stage.workspace.keep(2)
        assert not (stage.root / "src").exists()
    stage.workspace.close()


def the_agent_s_words_and_results_pass_through_the_exchange(base: Path) -> None:
    stage = Stage(base)
    outside, inside = stage.workspace.exchange(1)
    (outside / "prompt").write_text("do it")
    room = stage.workspace.open(1, SUPERVISION)
    succeeded(room.run(f"grep -q 'do it' {inside}/prompt && echo done > {inside}/result", timeout=60))
    assert room.run(f"mv {inside} /tmp/x || rmdir {inside}", timeout=60).exit_code != 0
    stage.workspace.delta()
    assert (outside / "result").read_text() == "done\n"
    stage.workspace.discard(1)
    assert not list(stage.workspace.exchange(1)[0].iterdir())
    stage.workspace.close()


if __name__ == "__main__":
    play(globals())
