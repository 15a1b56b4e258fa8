"""Agents that misbehave under `ralph run`."""

from pathlib import Path

import pytest

from process.scenes import alive
from runtime.loops import Place

MAKE = "--until=test -s made"
SAY = "echo '<promise>DONE</promise>'"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_what_is_not_text_is_kept_as_it_came_and_shown_harmlessly(place: Place) -> None:
    agent = place.script("printf 'caf\\351 \\377\\376\\0 no end of line'; echo x > made")
    done = place.run("make it", agent, MAKE, "--verbose")
    assert done.returncode == 0
    assert (
        place.directory() / "outputs" / "iteration-001.stdout.log"
    ).read_bytes() == b"caf\xe9 \xff\xfe\0 no end of line"
    assert "no end of line" in done.stdout
    assert "\0" not in done.stdout


def test_words_of_arguments_reach_the_agent_as_they_are(place: Place) -> None:
    words = ["run", "make it", place.script('printf "%s|" "$@" > made'), MAKE, "--sandbox=none"]
    assert place.ralph(*words, "--", "--model", "a b", "$HOME", "'").returncode == 0
    assert (place.root / "made").read_text() == "--model|a b|$HOME|'|"


def test_the_prompt_file_can_stand_in_the_command(place: Place) -> None:
    done = place.run("make it", "--agent-cmd=cp {prompt_file} made", MAKE)
    assert done.returncode == 0, done.stderr
    assert "make it" in (place.root / "made").read_text()


@pytest.mark.parametrize("agent", ["no-such-agent --print", "./not-executable", "./missing", "/etc", ""])
def test_an_agent_that_cannot_be_started_is_said_before_there_is_a_loop(place: Place, agent: str) -> None:
    place.write("not-executable", "#!/bin/sh\n")
    done = place.run("make it", f"--agent-cmd={agent}", MAKE)
    assert done.returncode == (6 if agent else 2)
    assert "agent" in done.stderr
    assert not place.loops()


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        ("exit 127", "exited with 127"),
        ("exit 126", "exited with 126"),
        ("no-such-program", "exited with 127"),
        ("kill -SEGV $$", "ended by signal 11"),
        ("exec kill -KILL $$", "ended by signal 9"),
        (f"{SAY}; exit 1", "exited with 1"),
        ('echo \'{"status": "failed", "error": "no quota"}\' > "$RALPH_RESULT_FILE"', "no quota"),
        ('echo \'{"status": "complete"}\' > "$RALPH_RESULT_FILE"; exit 3', "exited with 3, though it stated complete"),
    ],
)
def test_an_agent_that_fails_is_counted_and_after_three_in_a_row_called_failing(
    place: Place, ends: str, says: str
) -> None:
    done = place.run("make it", place.script("echo x > made", ends), MAKE)
    assert done.returncode == 6
    state = place.read()
    assert (state["status"], state["iteration"]) == ("failed", 3)
    assert (state["metrics"]["failed_iterations"], state["metrics"]["successful_iterations"]) == (3, 0)
    assert says in state["error_context"]["error_message"]
    assert [event["fate"] for event in place.events("iteration.finished")] == ["discarded"] * 3
    assert not [event for event in place.events("check.finished") if event["iteration"]]
    assert not place.slots()


def test_an_agent_that_kills_its_keeper_has_failed_and_leaves_nothing_behind(place: Place) -> None:
    agent = place.script(
        "rm -f ../child.pid",
        "setsid sh -c 'echo $$ > ../child.pid; exec sleep 600' > /dev/null 2>&1 &",
        "while [ ! -s ../child.pid ]; do sleep 0.02; done",
        "kill -9 $PPID; sleep 60",
    )
    done = place.run("make it", agent, MAKE)
    assert done.returncode == 6, done.stdout
    assert "the process that keeps it together was killed" in place.read()["error_context"]["error_message"]
    assert not alive(int((place.beside / "child.pid").read_text()))


def test_a_line_whose_program_is_missing_only_sometimes_is_a_failure_like_any_other(place: Place) -> None:
    done = place.run("make it", "--agent-cmd=if test -e seen; then echo x > made; else touch seen; nope; fi", MAKE)
    assert done.returncode == 0, done.stdout
    assert place.read()["iteration"] == 2


def test_a_failed_iteration_is_told_to_the_next_with_what_became_of_its_changes(place: Place) -> None:
    place.run("make it", place.script('[ "$RALPH_ITERATION" = 2 ] || exit 9; echo x > made'), MAKE)
    assert "because you ended with an error: exited with 9" in place.prompt(2)
    assert "is still in the tree: nothing could be taken back" in place.prompt(2)


def test_what_an_iteration_that_failed_left_in_the_tree_counts_once_another_ends_well(place: Place) -> None:
    done = place.run("make it", place.script('[ "$RALPH_ITERATION" = 2 ] || { echo x > made; exit 9; }'), MAKE)
    assert done.returncode == 0, done.stdout
    assert place.read()["iteration"] == 2


def test_an_agent_that_is_blocked_pauses_the_loop_for_a_human(place: Place) -> None:
    blocked = 'echo \'{"status": "blocked", "blocker": "which \\u001b[31m key?"}\' > "$RALPH_RESULT_FILE"'
    agent = place.script(f'[ "$RALPH_ITERATION" = 2 ] && echo x > made || {blocked}')
    done = place.run("make it", agent, MAKE)
    assert done.returncode == 8
    assert (place.read()["pause_reason"], place.read()["iteration"]) == ("blocked", 1)
    assert "\x1b" not in done.stdout
    assert place.ralph("resume", place.loop).returncode == 0
    assert place.read()["iteration"] == 2
