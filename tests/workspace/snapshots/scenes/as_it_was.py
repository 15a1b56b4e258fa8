"""A check can find paths as they were when the loop began, whatever the agent made of them."""

import os
import subprocess
import time
from collections.abc import Collection
from pathlib import Path

from untilproven.contract import Differs
from workspace.overlay.scenes.stage import SUPERVISION, Stage, play, succeeded


def seen(stage: Stage, as_it_was: Collection[str] = ()) -> dict[str, str]:
    """What a check finds: kind, mode, target, and size; of directories, kind and mode."""
    room = stage.workspace.checking(SUPERVISION, as_it_was)
    ran = room.run("find . -path ./.git -prune -o -path ./.aiwg -prune -o -printf '%P|%y|%m|%l|%s\\n'", timeout=60)
    succeeded(ran)
    found = {}
    for line in ran.output.splitlines():
        path, kind, mode, target, size = line.rsplit("|", 4)
        found[path] = f"{kind} {mode} {target} {'' if kind == 'd' else size}"
    found.pop("", None)
    return found


def everything_comes_out_as_it_was(base: Path) -> None:
    stage = Stage(base)
    start = seen(stage)
    tried = {
        "changed": "echo more >> src/a.py; chmod 600 src/b.py; ln -sfn elsewhere link; chmod 700 src/deep",
        "removed": "rm -r src node_modules empty .env link dangling to_etc",
        "came": "mkdir -p src/x/y; echo 1 > src/x/y/z; echo 1 > new; ln -s new newer; mkdir void",
        "a file for a directory": "rm -r src; echo x > src; rm -r empty; echo x > empty",
        "a link for a directory": "rm -r src; ln -s node_modules src; rm -r empty; ln -s /etc empty",
        "a directory for a file": "rm run.sh link; mkdir -p run.sh/in link/in; echo x > link/in/s; echo x > run.sh/f",
        "moved": "mkdir d; mv src/a.py d/; mv src/deep/er/c.py src/deep/c.py; rmdir src/deep/er",
        "closed": "chmod 500 src/deep; chmod 0 src/b.py; chmod 711 src",
    }
    number = 0
    for name, script in tried.items():
        for kept in (False, True):
            number += 1
            succeeded(stage.agent(script, number))
            if kept:
                stage.workspace.keep(number)
            changed = stage.workspace.since_start()
            assert changed, name
            assert seen(stage, changed) == start, (name, kept)
            assert seen(stage) != start
            if kept:
                stage.workspace.recover(None)
                assert stage.workspace.restore("start").conflicts == ()
            else:
                stage.workspace.discard(number)
            assert stage.workspace.since_start() == {}, (name, kept)
    assert seen(stage, ["src/a.py", "not/there", "src"]) == start
    stage.workspace.close()
    stage.workspace = stage.another()
    assert seen(stage, ["src/a.py", "src", "new"]) == start
    assert not stage.workspace._place.was.exists()  # nothing has to be made for what is as it was
    stage.workspace.close()


def only_what_is_named_is_as_it_was(base: Path) -> None:
    stage = Stage(base)
    succeeded(
        stage.agent("echo agent > src/a.py; echo agent > src/b.py; mkdir t; echo agent > t/new; echo x > t/kept", 1)
    )
    room = stage.workspace.checking(SUPERVISION, ["src/a.py", "t/new"])
    ran = room.run("cat src/a.py src/b.py; ls t", timeout=60)
    assert ran.output == "a = 1\nagent\nkept\n", ran
    stage.workspace.keep(1)
    succeeded(stage.agent("rm -r src; echo file > src; rm -r t", 2))
    room = stage.workspace.checking(SUPERVISION, ["src/deep/er/c.py", "t/new"])
    ran = room.run("find src t 2> /dev/null | sort; cat src/deep/er/c.py", timeout=60)
    assert ran.output == "src\nsrc/deep\nsrc/deep/er\nsrc/deep/er/c.py\nc = 3\n", ran
    stage.workspace.close()


def a_check_cannot_spoil_it_for_the_next(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo agent > src/a.py; rm run.sh", 1))
    for _ in range(2):
        room = stage.workspace.checking(SUPERVISION, ["src/a.py", "run.sh"])
        ran = room.run("cat src/a.py; test -x run.sh; echo $?; echo spoilt > src/a.py; rm run.sh", timeout=60)
        assert ran.output == "a = 1\n0\n", ran
    made = stage.workspace._place.was.stat().st_ino
    stage.workspace.keep(1)
    room = stage.workspace.checking(SUPERVISION, ["src/a.py", "run.sh"])
    assert room.run("cat src/a.py", timeout=60).output == "a = 1\n"
    assert (stage.root / "src/a.py").read_text() == "agent\n"
    again = stage.workspace._place.was.stat().st_ino
    stage.workspace.checking(SUPERVISION, ["src/a.py", "run.sh"])
    assert stage.workspace._place.was.stat().st_ino == again, made
    stage.workspace.close()
    assert not stage.workspace._place.was.exists()


def the_start_is_that_of_the_loop_and_not_of_the_process(base: Path) -> None:
    stage = Stage(base)
    for number in range(1, 4):
        succeeded(
            stage.agent(f"echo {number} > src/a.py; echo {number} > new-{number}; rm -f new-{number - 1}", number)
        )
        stage.workspace.keep(number)
        stage.workspace.close()
        stage.workspace = stage.another()
    assert stage.workspace.since_start() == {"src/a.py": Differs(True, True), "new-3": Differs(False, True)}
    room = stage.workspace.checking(SUPERVISION, ["src/a.py", "new-3"])
    assert room.run("cat src/a.py; ls new*", timeout=60).output.startswith("a = 1\n")
    succeeded(stage.agent("printf 'a = 1\\n' > src/a.py; rm new-3 src/b.py", 4))
    assert stage.workspace.since_start() == {"src/b.py": Differs(True, False)}
    stage.workspace.discard(4)
    assert set(stage.workspace.since_start()) == {"src/a.py", "new-3"}
    stage.workspace.close()


def where_the_user_changed_it_meanwhile_the_user_s_is_seen(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo agent > src/a.py; echo agent > src/b.py; echo agent > new", 1))
    stage.workspace.delta()
    stage.write("src/a.py", "user\n")
    (stage.root / "src/b.py").unlink()
    stage.write("new", "user\n")
    room = stage.workspace.checking(SUPERVISION, ["src/a.py", "src/b.py", "new"])
    assert room.run("cat src/a.py new; ls src/b.py 2> /dev/null", timeout=60).output == "user\nuser\n"
    stage.write("src/a.py", "user again\n")
    room = stage.workspace.checking(SUPERVISION, ["src/a.py"])
    assert room.run("cat src/a.py", timeout=60).output == "user again\n"
    stage.workspace.close()


def names_may_be_anything(base: Path) -> None:
    stage = Stage(base)
    names = [b"new\nline", b"caf\xe9", b"\x1b[2J", b"-rf", b" ", b"a|b", b"x" * 255]
    (stage.root / "odd").mkdir()
    for name in names:
        Path(os.fsdecode(os.fsencode(stage.root / "odd") + b"/" + name)).write_text("mine\n")
    succeeded(stage.agent("for f in odd/* 'odd/ '; do echo agent > \"$f\"; done; touch \"odd/$(printf 'n\\377w')\"", 1))
    changed = stage.workspace.since_start()
    assert {os.fsencode(path) for path in changed} == {b"odd/" + name for name in [*names, b"n\xffw"]}
    room = stage.workspace.checking(SUPERVISION, changed)
    assert room.run("cat odd/* | sort | uniq -c; ls odd | wc -l", timeout=60).output.split() == ["7", "mine", "8"]
    stage.workspace.keep(1)
    room = stage.workspace.checking(SUPERVISION, changed)
    assert room.run("cat odd/* | sort | uniq", timeout=60).output == "mine\n"
    stage.workspace.restore("start")
    assert {os.fsencode(path.name) for path in (stage.root / "odd").iterdir()} == set(names)
    stage.workspace.close()


def a_tree_may_be_deeper_than_any_path_can_name(base: Path) -> None:
    stage = Stage(base)
    deep = "import os\nfor _ in range(1100):\n    os.makedirs('deeper', exist_ok=True); os.chdir('deeper')\n"
    subprocess.run(["/usr/bin/python3", "-c", deep + "open('f', 'w').write('mine')"], cwd=stage.root, check=True)
    succeeded(stage.python(deep + "open('f', 'w').write('agent'); open('new', 'w')", 1))
    stage.workspace.keep(1)
    changed = stage.workspace.since_start()
    assert {len(path) for path in changed} == {7 * 1100 + 1, 7 * 1100 + 3}
    look = deep + "print(open('f').read(), os.listdir('.'))"
    room = stage.workspace.checking(SUPERVISION, changed)
    assert room.run(["/usr/bin/python3", "-c", look], timeout=60).output == "mine ['f']\n"
    assert stage.workspace.restore("start").conflicts == ()
    look_outside = subprocess.run(
        ["/usr/bin/python3", "-c", look], cwd=stage.root, check=True, capture_output=True, text=True
    )
    assert look_outside.stdout == "mine ['f']\n"
    stage.workspace.close()
    subprocess.run(["rm", "-rf", stage.root / "deeper"], check=True)


def hundreds_of_paths_are_quick(base: Path) -> None:
    stage = Stage(base)
    for number in range(400):
        stage.write(f"tests/{number % 20}/test_{number}.py", f"{number}\n")
    succeeded(stage.agent("for f in tests/*/*; do echo x >> $f; done", 1))
    stage.workspace.keep(1)
    changed = stage.workspace.since_start()
    assert len(changed) == 400
    began = time.monotonic()
    room = stage.workspace.checking(SUPERVISION, changed)
    took = time.monotonic() - began
    assert room.run("cat tests/*/* | grep -c x", timeout=60).output == "0\n"
    assert took < 3, took  # a noisy machine has ten times what it takes
    stage.workspace.close()


if __name__ == "__main__":
    play(globals())
