"""Checks see the candidate, with what was asked for as it was, and nothing that they do stays."""

import os
from pathlib import Path

from untilproven.errors import Damaged
from untilproven.workspace.shadow.workspace import ShadowWorkspace
from untilproven.workspace.snapshots.shelf import inherit
from workspace.shadow.scenes.stage import SUPERVISION, Stage, play, refuses, state_of, succeeded


def checks_see_the_candidate_and_leave_nothing(base: Path) -> None:
    stage = Stage(base)
    before = state_of(stage.root)
    (stage.home / ".cache").mkdir()
    succeeded(stage.agent("echo new > new.txt; rm src/b.py; echo agent > ~/.cache/of_agent; echo t > $TMPDIR/of_agent"))
    tree = stage.workspace.delta().tree
    succeeded(
        stage.check(
            "test -f new.txt && test ! -e src/b.py && echo x > new.txt && echo x > src/by_check && rm -r node_modules"
            " && mkfifo pipe && mkdir -p a/b && chmod 000 a && git commit -qam x && chmod 711 . && touch src/a.py"
        )
    )
    succeeded(stage.check("grep -q new new.txt && test ! -e src/by_check -a -d node_modules -a ! -e pipe -a ! -e a"))
    succeeded(stage.check("test ! -e $TMPDIR/of_agent && ! touch ~/.cache/x && touch $TMPDIR/x"))
    succeeded(stage.check('test "$PYTHONDONTWRITEBYTECODE" = 1 && git status >/dev/null'))
    assert stage.workspace.delta().tree == tree == stage.workspace.tree()
    stage.workspace.discard(1)
    assert state_of(stage.root) == before
    succeeded(stage.check("test ! -e new.txt && test -f src/b.py && echo x > src/b.py"))
    stage.workspace.close()
    assert state_of(stage.root) == before


def a_check_before_the_first_iteration_leaves_nothing_either(base: Path) -> None:
    stage = Stage(base)
    before, tree = state_of(stage.root), stage.workspace.tree()
    succeeded(stage.check("rm -rf * .env"))
    assert stage.workspace.tree() == tree
    assert state_of(stage.root) == before
    stage.workspace.close()


def what_was_asked_for_is_as_it_was(base: Path) -> None:
    stage = Stage(base)
    stage.write("tests/test_a.py", "assert 1\n")
    stage.write("tests/data/x", "x\n")
    stage.write("conf", "strict\n").chmod(0o640)
    for number, script in enumerate(
        (
            """echo 'assert True' > tests/test_a.py; echo 'assert 2' > tests/test_new.py; rm conf; mkdir conf
            echo x > conf/x; echo x > conf/y; rm -r tests/data; ln -s /etc tests/data""",
            "echo again >> tests/test_a.py; mkdir -p made/by/agent; echo x > made/by/agent/x; ln -sf nowhere link",
        ),
        1,
    ):
        succeeded(stage.agent(script, number))
        stage.workspace.keep(number)
    succeeded(stage.agent("echo candidate > src/a.py; rm -r src/deep", 3))
    tree = stage.workspace.delta().tree
    now = state_of(stage.root)
    differs = stage.workspace.since_start()
    assert differs["tests/data/x"] == (True, False)
    assert differs["conf"] == (True, True)
    wanted = [path for path in differs if not path.startswith("src/a")]
    succeeded(
        stage.check(
            "grep -q 'assert 1' tests/test_a.py && test ! -e tests/test_new.py && grep -q strict conf"
            " && test $(stat -c %a conf) = 640 && grep -q x tests/data/x && test ! -L tests/data && test ! -e made"
            " && test $(readlink link) = src/a.py && grep -q candidate src/a.py && test -f src/deep/er/c.py"
            " && rm -r tests && echo x > conf",
            *wanted,
        )
    )
    assert stage.workspace.tree() == tree
    assert state_of(stage.root) == now
    succeeded(stage.check("test -d conf && test -L tests/data && test -e made/by/agent/x && ! test -e src/deep"))
    succeeded(stage.check("test -e made/by/agent/x", "made", "made/by"))
    stage.workspace.close()
    assert state_of(stage.root) == now


def a_check_does_not_run_on_less_than_what_was_asked_for(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo weak > src/a.py"))
    stage.workspace.delta()
    now = state_of(stage.root)
    for path in stage.workspace._place.objects.path.iterdir():
        if path.read_bytes() == b"a = 1\n":
            path.unlink()
    said = refuses(Damaged, lambda: stage.check("true", "src/a.py"))
    assert "'src/a.py'" in said
    assert state_of(stage.root) == now
    stage.workspace.close()


def what_a_check_was_in_the_way_of_is_there_until_the_next_one(base: Path) -> None:
    stage = Stage(base)
    room = stage.workspace.checking(SUPERVISION)
    succeeded(room.run("echo check > cache", timeout=60))
    stage.write("mine.txt", "by the user, meanwhile\n")
    stage.workspace.tree()
    assert not (stage.root / "mine.txt").exists()
    assert (stage.workspace._place.after_check / "mine.txt").read_text() == "by the user, meanwhile\n"
    stage.check("true")
    assert not (stage.workspace._place.after_check / "mine.txt").exists()
    stage.workspace.close()


def a_continued_loop_begins_where_the_first_one_did(base: Path) -> None:
    stage = Stage(base)
    big = "x" * 100_000
    stage.write("big", big)
    succeeded(stage.agent("echo 1 > src/a.py; rm src/b.py; echo 1 > new; echo small > big"))
    stage.workspace.keep(1)
    stage.workspace.forget()
    inherit(stage.root, "ralph-scene-a1b2c3d4", "ralph-scene-b1b2c3d4")
    second: ShadowWorkspace = stage.another("ralph-scene-b1b2c3d4")
    stage.workspace = second
    succeeded(stage.agent("echo 2 > two", 2))
    second.delta()
    differs = {path: tuple(differ) for path, differ in second.since_start().items()}
    assert differs == {
        "src/a.py": (True, True),
        "src/b.py": (True, False),
        "new": (False, True),
        "two": (False, True),
        "big": (True, True),
    }, differs
    succeeded(stage.check("grep -q 'a = 1' src/a.py && test -f src/b.py -a ! -e new && grep -q xxx big", *differs))
    second.close()


def what_is_reported_is_read_through_the_room(base: Path) -> None:
    stage = Stage(base)
    room = stage.workspace.checking(SUPERVISION)
    with room.scratch() as (outside, inside):
        (outside / "told").write_text("told")
        succeeded(room.run(f"cat {inside}/told > {inside}/report; echo x > in_tree", timeout=60))
        assert (outside / "report").read_text() == "told"
        succeeded(room.run(f"rm -r {inside}; ln -s /etc {inside}", timeout=60))
        assert not (outside / "passwd").exists()
    assert room.look(Path("in_tree")) is not None  # type: ignore[arg-type]
    assert os.path.lexists("/etc/passwd")
    stage.workspace.close()
    assert not (stage.root / "in_tree").exists()


if __name__ == "__main__":
    play(globals())
