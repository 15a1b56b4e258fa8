"""Whoever looks into a check's room from outside sees what a program in it sees."""

import contextlib
import os
import random
import shutil
import time
from pathlib import Path, PurePosixPath

from untilproven.contract import Room
from untilproven.errors import StoreFailed
from untilproven.workspace.overlay import building
from untilproven.workspace.overlay.view import View
from workspace.overlay.scenes.stage import SUPERVISION, Stage, play, succeeded

LIMIT = 1 << 20
LIST = r"""
import os, sys
for directory, names, files in os.walk("."):
    names[:] = [name for name in names if name not in (".git", "node_modules", ".aiwg")]
    for name in files:
        path = os.path.join(directory, name)
        if os.path.isfile(path) and not os.path.islink(path):
            with open(path, "rb") as file:
                print(path[2:].encode("utf-8", "surrogateescape").hex(), file.read().hex() or "-")
"""


def seen_inside(room: Room) -> dict[str, bytes]:
    ran = room.run(["/usr/bin/python3", "-c", LIST], timeout=60)
    succeeded(ran)
    rows = [line.split() for line in ran.output.splitlines()]
    return {os.fsdecode(bytes.fromhex(path)): b"" if text == "-" else bytes.fromhex(text) for path, text in rows}


def seen_outside(room: Room) -> dict[str, bytes | None]:
    found = {}
    for path in room.find("**"):
        looked = room.look(path)
        assert looked is not None, path
        found[str(path)] = room.read(path, LIMIT)
        assert found[str(path)] is None or len(found[str(path)] or b"") == looked.st_size
    return found


def agree(room: Room) -> dict[str, bytes]:
    inside = seen_inside(room)
    assert seen_outside(room) == inside
    return inside


def what_was_written_deleted_and_replaced_is_seen_so(base: Path) -> None:
    stage = Stage(base)
    succeeded(
        stage.agent(
            "echo 5 > src/a.py; rm src/b.py; rm -r src/deep; mkdir src/deep; echo n > src/deep/new;"
            "rm run.sh; mkdir run.sh; echo i > run.sh/inner; rm -r empty; echo f > empty;"
            "mkdir -p x/y/z; echo z > x/y/z/file; rm link; echo plain > link; rm .gitignore; ln -s src/a.py .gitignore"
        )
    )
    room = stage.workspace.checking(SUPERVISION)
    succeeded(room.run("echo 6 > src/a.py; rm x/y/z/file; rm untracked.txt; rm -r run.sh; echo w > run.sh", timeout=60))
    found = agree(room)
    assert found["src/a.py"] == b"6\n"
    assert found["src/deep/new"] == b"n\n"
    assert found["run.sh"] == b"w\n"
    assert found["link"] == b"plain\n"
    assert not {"src/b.py", "src/deep/er/c.py", "untracked.txt", "x/y/z/file", ".gitignore"} & set(found)
    assert (stage.root / "src/a.py").read_text() == "a = 1\n"
    stage.workspace.close()


def what_is_as_it_was_is_seen_so(base: Path) -> None:
    stage = Stage(base)
    succeeded(
        stage.agent(
            "echo 5 > src/a.py; rm src/b.py; echo n > new; rm -r src/deep; echo file > src/deep; mkdir d; echo e > d/e"
        )
    )
    stage.workspace.delta()
    room = stage.workspace.checking(
        SUPERVISION, ["src/b.py", "new", "src/deep", "src/deep/er", "src/deep/er/c.py", "d/e"]
    )
    found = agree(room)
    assert found["src/a.py"] == b"5\n"
    assert found["src/b.py"] == b"b = 2  # not committed\n"
    assert found["src/deep/er/c.py"] == b"c = 3\n"
    assert not {"new", "d/e", "src/deep"} & set(found)
    stage.workspace.close()


def a_room_that_was_expected_is_that_of_the_check_unless_it_is_to_see_something_else(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo 5 > src/a.py; echo n > new"))
    stage.workspace.delta()
    stage.workspace.expect_check(SUPERVISION)
    expected = stage.workspace._expected
    room = stage.workspace.checking(SUPERVISION)
    assert room is expected
    succeeded(room.run("echo 6 > src/a.py", timeout=60))
    stage.workspace.expect_check(SUPERVISION)
    assert agree(stage.workspace.checking(SUPERVISION))["src/a.py"] == b"5\n"
    stage.workspace.expect_check(SUPERVISION)
    found = agree(stage.workspace.checking(SUPERVISION, ["src/a.py", "new"]))
    assert (found["src/a.py"], "new" in found) == (b"a = 1\n", False)
    stage.workspace.expect_check(SUPERVISION)
    assert stage.workspace.keep(1) == ()
    assert (stage.root / "src/a.py").read_text() == "5\n"
    stage.workspace.close()


def a_room_that_was_expected_for_long_is_built_anew(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo 5 > src/a.py"))
    stage.workspace.expect_check(SUPERVISION)
    expected = stage.workspace._expected
    time.sleep(1.1)
    assert stage.workspace.checking(SUPERVISION) is not expected
    assert stage.workspace._expected is None
    stage.workspace.close()


def what_is_wrong_with_a_room_is_said_to_whoever_checks_in_it(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo 5 > src/a.py"))
    stage.workspace.delta()

    def refused(*_: object, **__: object) -> None:
        raise StoreFailed("no space left")

    works, building.for_check = building.for_check, refused  # type: ignore[assignment]
    stage.workspace.expect_check(SUPERVISION)
    with contextlib.suppress(StoreFailed):
        stage.workspace.checking(SUPERVISION)
        raise AssertionError("nobody said it")
    building.for_check = works
    assert agree(stage.workspace.checking(SUPERVISION))["src/a.py"] == b"5\n"
    stage.workspace.close()


def renamed_directories_are_seen_where_they_are(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("mv src lib; echo 7 > lib/deep/er/c.py; mkdir src; echo s > src/s"))
    stage.workspace.delta()
    found = agree(stage.workspace.checking(SUPERVISION))
    assert found["lib/deep/er/c.py"] == b"7\n"
    assert found["lib/a.py"] == b"a = 1\n"
    assert "src/a.py" not in found
    stage.workspace.close()


def nothing_is_followed_waited_for_or_read_beyond_its_limit(base: Path) -> None:
    stage = Stage(base)
    (base / "outside").mkdir()
    (base / "outside/secret").write_text("s")
    succeeded(stage.agent(f"ln -s {base}/outside out; ln -s {base}/outside/secret one; ln -s src dir; mkdir plain"))
    room = stage.workspace.checking(SUPERVISION)
    succeeded(room.run("mkfifo plain/pipe; truncate -s 1T plain/giant; head -c 2000 /dev/zero > plain/two", timeout=60))
    began = time.monotonic()
    for name in ("out/secret", "one", "dir/a.py", "plain", "plain/pipe", "nothing", "src/a.py/x", "../outside/secret"):
        assert room.look(PurePosixPath(name)) is None, name
        assert room.read(PurePosixPath(name), LIMIT) is None, name
    for name in (f"{base}/outside/secret", "/etc/passwd", "", ".", "src/../src/a.py", "a\0b"):
        assert room.look(PurePosixPath(name)) is None, name
    assert room.read(PurePosixPath("plain/giant"), LIMIT) is None
    assert room.read(PurePosixPath("plain/two"), 1999) is None
    assert len(room.read(PurePosixPath("plain/two"), 2000) or b"") == 2000
    assert room.find("out/*") == room.find("dir/*") == []
    assert [str(path) for path in room.find("plain/*")] == ["plain/giant", "plain/two"]
    assert time.monotonic() - began < 5
    stage.workspace.close()


def state_that_rooms_do_not_show_is_not_seen(base: Path) -> None:
    stage = Stage(base)
    (stage.project.state.path / "secret").write_text("s")
    room = stage.workspace.checking(SUPERVISION)
    where = PurePosixPath((stage.project.state.path / "secret").relative_to(stage.root))
    assert room.look(where) is None
    assert room.read(where, LIMIT) is None
    assert not [path for path in room.find("**") if path.is_relative_to(where.parent)]
    stage.workspace.close()


def every_form_of_a_deleted_file_is_known(base: Path) -> None:
    layers = [base / "upper", base / "lower"]
    for layer in layers:
        layer.mkdir()
        (layer / "gone").touch()
        (layer / "empty").touch()
    (layers[0] / "new").mkdir()
    (layers[0] / "new/gone").touch()
    for name in ("gone", "new/gone"):
        os.setxattr(layers[0] / name, f"{'user' if os.getuid() else 'trusted'}.overlay.whiteout", b"")
    assert View(layers).find("**") == [PurePosixPath("empty")]
    assert View(layers).look(PurePosixPath("gone")) is None


def names_of_every_kind_are_seen(base: Path) -> None:
    stage = Stage(base)
    odd = ["new\nline", "caf\udce9", "[a]*?", " ", "-x", "é/ü", "*"]
    written = "p = pathlib.Path(n); p.parent.mkdir(exist_ok=True); p.write_text(ascii(n))"
    succeeded(stage.python(f"import pathlib\nfor n in {odd!r}:\n    {written}"))
    found = agree(stage.workspace.checking(SUPERVISION))
    assert set(odd) <= set(found)
    stage.workspace.close()


def a_scratch_directory_is_the_same_inside_and_outside_and_goes(base: Path) -> None:
    stage = Stage(base)
    room = stage.workspace.checking(SUPERVISION)
    with room.scratch() as first, room.scratch() as second:
        assert first.inside != second.inside
        (first.outside / "in").write_text("given")
        succeeded(
            room.run(f'cat {first.inside}/in > {first.inside}/out && test -z "$(ls {second.inside})"', timeout=60)
        )
        assert (first.outside / "out").read_text() == "given"
        swapped = f"mv {second.inside} /tmp/away; ln -s /etc {second.inside}"
        succeeded(room.run(f"{swapped}; mkdir {first.inside}/d; chmod 0 {first.inside}/d", timeout=60))
        assert list(second.outside.iterdir()) == []
    assert room.run(f"test -e {first.inside}/in", timeout=60).exit_code == 1
    assert Path("/etc/passwd").exists()
    stage.workspace.close()


def whatever_is_done_in_whatever_order_both_sides_agree(base: Path) -> None:
    seed = int.from_bytes(os.urandom(4), "big")
    chance = random.Random(seed)
    for turn in range(6):
        here = base / str(turn)
        stage = Stage(here)
        succeeded(stage.agent(_mess(chance, 40)))
        differing = sorted(stage.workspace.since_start())
        was = [path for path in differing if chance.random() < 0.5]
        room = stage.workspace.checking(SUPERVISION, was)
        succeeded(room.run(_mess(chance, 15), timeout=60))
        try:
            agree(room)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, turn {turn}: {error}") from error
        stage.workspace.close()
        with contextlib.suppress(OSError):
            shutil.rmtree(here)


def _mess(chance: random.Random, steps: int) -> str:
    """Lines of shell that make, change, replace, move and remove things of any kind."""
    names = [
        "src",
        "src/a.py",
        "src/deep",
        "src/deep/er",
        "src/deep/er/c.py",
        "new",
        "new/x",
        "new/x/y",
        "run.sh",
        "link",
    ]
    lines = []
    for _ in range(steps):
        one, other = chance.sample(names, 2)
        lines.append(
            chance.choice(
                [
                    f"echo {chance.random()} > {one}",
                    f"rm -rf {one}",
                    f"mkdir -p {one}",
                    f"rm -rf {one}; mkdir -p {one}; echo i > {one}/inner",
                    f"mv {one} {other}",
                    f"rm -rf {one}; ln -s {other} {one}",
                    f"chmod 700 {one}",
                    f"touch {one}",
                ]
            )
        )
    return "\n".join(f"{{ {line}; }} 2>/dev/null" for line in lines) + "\ntrue"


if __name__ == "__main__":
    play(globals())
