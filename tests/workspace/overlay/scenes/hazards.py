"""What was seen to go wrong with layers elsewhere does not go wrong here."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

from untilproven.errors import RalphError
from untilproven.store.layout import Project
from untilproven.workspace.overlay import available as availability
from untilproven.workspace.overlay import building, making
from workspace.overlay.scenes.stage import SUPERVISION, Stage, fingerprint, play, refuses, succeeded

INSERT = """
import sqlite3
connection = sqlite3.connect('data.db'); connection.execute("insert into t values ('in')"); connection.commit()
"""


def a_room_can_be_built_and_leaves_nothing(base: Path) -> None:
    os.environ["HOME"] = str(base)
    assert availability.available() == ""
    assert [path.name for path in (base / ".local/state/untilproven/rooms").iterdir()] == ["built"]


SLOW = """
import os, time
from untilproven.workspace.overlay.available import available
replace = os.replace
os.replace = lambda *names: (time.sleep(0.5), replace(*names))
print(available(again=True) or "built")
"""


def several_can_try_for_the_first_time_at_once(base: Path) -> None:
    """Each finds out by itself, and nobody is in another's way who notes it at the same moment."""
    words, env = [sys.executable, "-P", "-c", SLOW], {**os.environ, "HOME": str(base)}
    running = [subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [one.communicate()[0] for one in running] == ["built\n"] * 4
    assert [path.name for path in (base / ".local/state/untilproven/rooms").iterdir()] == ["built"]


def why_no_room_can_be_built_is_said(base: Path) -> None:
    os.environ["HOME"] = str(base)
    assert "user.max_user_namespaces" in availability._explained(
        "no room could be built: unshare: No space left on device"
    )
    assert "kernel" in availability._explained("no room could be built: unshare: Operation not permitted")
    making._OVERLAYFS = making._file_system(base)
    assert "set XDG_STATE_HOME to a directory on a volume or a tmpfs" in availability.available()


def the_user_is_the_same_inside_so_git_need_not_read_every_file(base: Path) -> None:
    stage = Stage(base)
    stage.host("git update-index --refresh -q || true; git status")
    succeeded(stage.agent(f"test $(id -u) = {os.getuid()} && git status --short && git diff --stat"))
    index = stage.workspace._place.git / "upper/index"
    assert not index.exists() or index.stat().st_size == (stage.root / ".git/index").stat().st_size
    assert stage.check("stat -c %a .").output.strip() == oct(stage.root.stat().st_mode)[-3:]
    stage.workspace.close()


def directories_can_be_renamed_where_the_kernel_allows_it(base: Path) -> None:
    stage = Stage(base)
    ran = stage.python("import os; os.rename('src', 'lib')")
    if os.getuid():
        assert "Invalid cross-device link" in ran.output
        succeeded(stage.workspace.open(1, SUPERVISION).run("mv src lib", timeout=60))
    else:
        succeeded(ran)
    assert set(stage.changes()) >= {"lib/a.py", "lib/deep/er/c.py"}
    stage.workspace.keep(1)
    assert (stage.root / "lib/deep/er/c.py").read_text() == "c = 3\n"
    assert not (stage.root / "src").exists()
    stage.workspace.close()


def a_database_that_both_sides_write_stays_the_user_s(base: Path) -> None:
    stage = Stage(base)
    database = stage.root / "data.db"
    with sqlite3.connect(database) as ours:
        ours.execute("pragma journal_mode=wal")
        ours.execute("create table t (x)")
        ours.execute("insert into t values ('before')")
        ours.commit()
        succeeded(stage.python(INSERT))
        ours.execute("insert into t values ('user')")
        ours.commit()
        assert stage.workspace.keep(1)
        assert [row for (row,) in ours.execute("select x from t")] == ["before", "user"]
        assert list(ours.execute("pragma integrity_check")) == [("ok",)]
    ours.close()
    stage.workspace.close()


def a_database_that_only_the_agent_writes_is_taken_over(base: Path) -> None:
    stage = Stage(base)
    ours = sqlite3.connect(stage.root / "data.db")
    ours.execute("pragma journal_mode=wal")
    ours.execute("create table t (x)")
    ours.close()
    succeeded(stage.python(INSERT))
    assert stage.workspace.keep(1) == ()
    ours = sqlite3.connect(stage.root / "data.db")
    assert list(ours.execute("select x from t")) == [("in",)]
    ours.close()
    stage.workspace.close()


def home_can_be_written_to_and_the_user_s_stays(base: Path) -> None:
    stage = Stage(base)
    before = fingerprint(stage.home, without=(".local",))
    succeeded(stage.agent("mkdir -p ~/.cache/tool ~/.config/x && echo 1 > ~/.cache/tool/file && echo >> ~/.gitconfig"))
    stage.workspace.discard(1)
    succeeded(stage.agent("grep -q 1 ~/.cache/tool/file", 2))
    stage.workspace.keep(2)
    assert fingerprint(stage.home, without=(".local",)) == before
    stage.workspace.close()


def the_project_may_lie_in_home_and_be_home(base: Path) -> None:
    stage = Stage(base, "home/code/project")
    before = fingerprint(stage.root)
    succeeded(stage.agent("echo x > x; cd .. && echo y > y; cd project && ls ../y x"))
    assert set(stage.changes()) == {"x"}
    stage.workspace.discard(1)
    assert fingerprint(stage.root) == before
    assert not (stage.root.parent / "y").exists()
    stage.workspace.close()
    subprocess.run("rm -rf code .local", shell=True, cwd=base / "home", check=True)
    stage = Stage(base, "home")
    (stage.home / ".ssh").mkdir()
    (stage.home / ".ssh/id").write_text("SECRET")
    assert stage.agent("cat .ssh/id").exit_code
    succeeded(stage.agent("echo x > x; mv .local away; mv .ssh ssh; ls -A .local/state/untilproven; true"))
    assert stage.changes() == {"x": "created"}, stage.changes()
    stage.workspace.keep(1)
    assert (stage.home / ".ssh/id").read_text() == "SECRET"
    stage.workspace.close()


def a_linked_worktree_keeps_its_link(base: Path) -> None:
    main = Stage(base, "main")
    main.host("git worktree add -q ../linked -b linked")
    stage = Stage.__new__(Stage)
    stage.base, stage.home, stage.root = base, main.home, base / "linked"
    stage.project = Project(stage.root, main.root)
    stage.workspace = stage.another()
    before = fingerprint(main.root)
    link = (stage.root / ".git").read_text()
    assert stage.agent("git status --short && echo evil > .git").exit_code
    succeeded(stage.workspace.open(1, SUPERVISION).run("git log --oneline | grep -q first && echo x > x", timeout=60))
    assert set(stage.changes()) == {"x"}
    stage.workspace.keep(1)
    assert (stage.root / ".git").read_text() == link
    assert fingerprint(main.root) == before
    stage.workspace.close()


def an_attempt_that_was_left_is_started_afresh(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("mkdir -p d/e && echo x > d/e/f && chmod 000 d/e d"))
    stage.workspace.close()
    stage.workspace = stage.another()
    succeeded(stage.agent("test ! -e d && test ! -e /tmp/ralph-exchange/x && touch /tmp/ralph-exchange/x"))
    succeeded(stage.agent("test ! -e d"))
    stage.workspace.close()


def a_project_where_rooms_do_not_reach_is_refused(base: Path) -> None:
    stage = Stage(base)
    lost = Project(Path("/run/untilproven-lost"), Path("/run/untilproven-lost"))
    assert "it lies in /run" in refuses(
        RalphError, lambda: building._walls(lost, stage.workspace._place, None, (), Path("/tmp"), building.CLOSED)
    )
    stage.workspace.close()


if __name__ == "__main__":
    play(globals())
