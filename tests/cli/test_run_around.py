"""Around a loop: other loops beside it, what is shown of it, and the settings it is started with."""

import json
from pathlib import Path

import pytest

from process.scenes import wait_for
from runtime.loops import Place, ended
from untilproven.cli.run import KEYS
from untilproven.model.settings import OPTIONS

MAKE = "--until=test -s made"
SAY = "echo '<promise>DONE</promise>'"
SUITE = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_one(self): pass\n    def test_two(self): pass\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# Several loops


def test_a_second_run_on_the_same_files_is_refused_while_the_first_one_works(place: Place) -> None:
    """Without a room, one loop would be proven by the other's work."""
    idle = place.script("touch ../here; while [ ! -e ../go ]; do sleep 0.02; done", name="idle")
    with place.running("task one", idle, "--until=test -s made", "--max-iterations=1") as one:
        wait_for((place.beside / "here").exists, "the first works")
        refused = place.run("task two", place.script("echo x > made"), "--until=test -s made")
        assert refused.returncode == 7
        assert "another loop works on these files without a room" in refused.stderr
        assert len(place.loops()) == 1
        (place.beside / "go").touch()
        assert ended(one)[0] == 4
    assert place.run("task two", place.script("echo x > made"), "--until=test -s made").returncode == 0
    assert {place.read(loop)["status"] for loop in place.loops()} == {"failed", "completed"}
    assert not place.slots()


def test_a_fifth_loop_is_refused_with_the_list_of_the_four(place: Place) -> None:
    for number in range(4):
        done = place.run(
            "make it", place.script("true"), "--until=no-such-program", f"--loop-id=ralph-l{number}-0123abcd"
        )
        assert done.returncode == 8
    done = place.run("make it", place.script("true"), MAKE)
    assert done.returncode == 7
    for number in range(4):
        assert f"ralph-l{number}-0123abcd" in done.stderr
    assert "ralph abort" in done.stderr
    assert len(place.loops()) == 4
    as_json = place.run("make it", place.script("true"), MAKE, "--json")
    assert json.loads(as_json.stdout)["error"]["exit_code"] == 7
    assert place.ralph("abort", "ralph-l2-0123abcd").returncode == 0
    assert place.run("make it", place.script("echo x > made"), MAKE).returncode == 0


def test_an_id_can_be_chosen_once(place: Place) -> None:
    words = ("make it", place.script("echo x > made"), MAKE, "--loop-id=ralph-mine-0123abcd")
    assert place.run(*words).returncode == 0
    (place.root / "made").unlink()
    before = place.events()
    again = place.run(*words)
    assert again.returncode
    assert "ralph-mine-0123abcd" in again.stderr
    assert place.events() == before
    assert not (place.root / "made").exists()


# What is shown


def test_a_dry_run_shows_the_plan_and_runs_and_writes_nothing(place: Place) -> None:
    place.write("test_it.py", SUITE)
    before = sorted(place.root.rglob("*"))
    agent = place.script("touch ran")
    done = place.run("make\x1b[31m it", agent, "--until=touch checked", "--dry-run", "--max-cost=2")
    assert done.returncode == 0
    for words in ("make it", "touch checked", "python3 -m unittest", "none", "$2", "200 iterations"):
        assert words in done.stdout
    shown = json.loads(place.run("make it", agent, MAKE, "--dry-run", "--json").stdout)
    assert shown["plan"]["checks"][0]["line"] == "test -s made"
    assert sorted(place.root.rglob("*")) == before
    assert place.run("make it", "--agent-cmd=nope", MAKE, "--dry-run").returncode == 6


def test_json_is_one_event_a_line_and_the_last_says_how_it_ended(place: Place) -> None:
    agent = place.cassette(
        [
            {"say": "hello \x1b]0;x\x07\x9b31m\u202e"},
            {"usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.25}},
            {"write": "made", "content": "x"},
        ]
    )
    place.write("ralph.toml", 'notify = ["true"]\n')
    done = place.run("make it", agent, MAKE, "--json")
    assert done.returncode == 0
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line in lines:
        assert (line["v"], line["loop_id"]) == (1, place.loop)
    kinds = [line["type"] for line in lines]
    assert kinds[0] == "loop.started"
    assert kinds[-1] == "loop.finished"
    assert {"check.finished", "iteration.started", "agent.event", "iteration.observed", "iteration.finished"} <= {
        *kinds
    }
    last = {key: lines[-1][key] for key in ("status", "exit_code", "iterations", "proof", "cost_usd", "tokens")}
    assert last == {
        "status": "completed",
        "exit_code": 0,
        "iterations": 1,
        "proof": "red-to-green",
        "cost_usd": 0.25,
        "tokens": 15,
    }
    assert "reason" in lines[-1]
    assert [line for line in lines if line["type"] != "agent.event"] == place.events()
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*done.stdout}
    assert done.stderr.startswith("warning: ")


def test_data_goes_to_stdout_and_the_rest_to_stderr(place: Place) -> None:
    refused = place.run("make it", place.script("true"), MAKE, "--json", "--max-iterations=0")
    assert refused.returncode == 2
    assert json.loads(refused.stdout)["error"]["exit_code"] == 2
    assert not refused.stderr
    done = place.run("make it", place.script("echo x > made; echo noise >&2"), MAKE)
    assert not done.stderr
    assert "noise" not in done.stdout
    quiet = place.run("make it", place.script("echo x > made2"), "--until=test -s made2", "--quiet")
    assert "iteration 1 of" not in quiet.stdout
    assert "proven (red-to-green)" in quiet.stdout


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x1bPq\x1b\\\u202eoops\r\b"


def test_escape_sequences_of_whomever_never_reach_the_terminal(place: Place) -> None:
    place.write("hostile", HOSTILE)
    agent = place.script(
        "cat hostile",
        "cat hostile >&2",
        f"touch '{HOSTILE}'",
        SAY,
        'test "$RALPH_ITERATION" = 1 || { cat hostile > made; }; cat hostile',
        """printf '{"status": "failed", "error": "\\\\u001b[2J"}' > "$RALPH_RESULT_FILE" """
        '; test "$RALPH_ITERATION" = 1 || rm "$RALPH_RESULT_FILE"',
    )
    check = f"--until=cat hostile; test -s made # {HOSTILE}"
    done = place.run(f"make {HOSTILE} it", agent, check, "--verbose", f"--promise={HOSTILE}", "-n3")
    assert done.returncode == 0, done.stdout
    loop = place.loop
    for shown in (
        done,
        *(
            place.ralph(*words)
            for words in (
                ("status", loop),
                ("log", loop),
                ("show", loop),
                ("show", loop, "1"),
                ("attach", loop),
                ("status", "--all"),
            )
        ),
    ):
        for text in (shown.stdout, shown.stderr):
            assert not {"\x1b", "\x07", "\x9b", "\r", "\b"} & {*text}, shown.args
    assert "\u202e" not in done.stdout


# Settings


SETTINGS = 'until = ["touch checked; test -s made"]\nagent_cmd = "sh -c \'echo x > made\'"\n'


def test_a_projects_file_that_is_not_trusted_runs_nothing(place: Place) -> None:
    place.write("ralph.toml", SETTINGS)
    done = place.run("make it")
    assert done.returncode == 2
    assert "these are not used: agent_cmd, until" in done.stderr.replace("until, agent_cmd", "agent_cmd, until")
    assert "`ralph trust`" in done.stderr
    assert not (place.root / "made").exists()
    assert not (place.root / "checked").exists()
    assert not place.loops()


def test_a_projects_file_that_is_trusted_works(place: Place) -> None:
    place.write("ralph.toml", SETTINGS)
    assert place.ralph("trust", "--yes").returncode == 0
    done = place.run("make it")
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    place.write("ralph.toml", SETTINGS.replace("touch checked", "touch other"))
    (place.root / "made").unlink()
    assert place.run("make it").returncode == 2


def test_every_setting_that_is_not_of_a_section_is_obeyed() -> None:
    assert {option.key for option in OPTIONS if not option.section} == set(KEYS)
