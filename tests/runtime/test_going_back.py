"""Going back from a loop in a room: abort --revert, resume --from, and a loop that takes over from another."""

import json
from pathlib import Path

import pytest

from runtime.loops import Place, ended

ROOM = "--sandbox=overlay"
COUNTS = "--agent-cmd=echo $RALPH_ITERATION >> count; echo $RALPH_ITERATION > made-$RALPH_ITERATION"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.write("count", "0\n")
    return place


def tree(place: Place) -> dict[str, str]:
    return {path.name: path.read_text() for path in place.root.iterdir() if path.is_file()}


def test_abort_revert_brings_back_the_tree_as_it_was_when_the_loop_began(place: Place) -> None:
    agent = f"{COUNTS}; test $RALPH_ITERATION -lt 3 || {{ echo waits; sleep 100; }}"
    with place.running("count", agent, "--until=false", ROOM, "--json", sandbox="") as process:
        assert process.stdout
        assert any(json.loads(line).get("text") == "waits" for line in process.stdout)
        assert tree(place).keys() == {"count", "made-1", "made-2"}
        done = place.ralph("abort", place.loop, "--revert")
        assert done.returncode == 0, done.stdout + done.stderr
        assert ended(process)[0] == 1
    assert tree(place) == {"count": "0\n"}
    assert place.read()["status"] == "aborted"


def test_abort_revert_keeps_what_the_user_changed_since(place: Place) -> None:
    assert place.ralph("run", "count", COUNTS, "--until=false", ROOM, "-n1", "-q").returncode == 4
    loop = place.loop
    place.write("count", "mine\n")
    assert place.ralph("restore", loop, "start").returncode == 1
    assert tree(place) == {"count": "mine\n"}


def test_resume_from_an_iteration_goes_on_with_its_tree(place: Place) -> None:
    assert place.ralph("run", "count", COUNTS, "--until=false", ROOM, "-n3", "-q").returncode == 4
    assert tree(place)["count"] == "0\n1\n2\n3\n"
    done = place.ralph("resume", place.loop, "--from", "1", "-n", "4", "-q")
    assert done.returncode == 4, done.stdout + done.stderr
    assert tree(place) == {"count": "0\n1\n4\n", "made-1": "1\n", "made-4": "4\n"}


def test_a_loop_that_takes_over_has_the_start_of_the_first(place: Place) -> None:
    assert place.ralph("run", "count", COUNTS, "--until=false", ROOM, "-n1", "-q").returncode == 4
    first = place.loop
    assert place.ralph("resume", first, "-n", "2", "-q").returncode == 4
    (second,) = set(place.loops()) - {first}
    assert tree(place)["count"] == "0\n1\n2\n"
    shown = place.ralph("diff", second).stdout
    assert {line for line in shown.splitlines() if line.startswith(("+", "-")) and line[1:].isdigit()} == {"+1", "+2"}
    assert place.ralph("restore", second, "start").returncode == 0
    assert tree(place) == {"count": "0\n"}


def test_tests_are_held_to_the_first_start_over_any_number_of_loops(place: Place) -> None:
    place.write("tests/expected.txt", "right\n")
    place.write("made.txt", "wrong\n")
    agent = "--agent-cmd=cp made.txt tests/expected.txt"
    words = ("cheat", agent, "--until=cmp -s tests/expected.txt made.txt", ROOM, "--no-auto-test", "-q")
    assert place.ralph("run", *words, "-n1").returncode == 4
    assert place.ralph("resume", place.loop, "-n", "2", "-q").returncode in {4, 8}
    assert "completed" not in {place.read(loop)["status"] for loop in place.loops()}
