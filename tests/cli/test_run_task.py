"""What `ralph run` is given to do: the task in every shape, and what is refused before anything is written."""

import os
from pathlib import Path

import pytest

from runtime.loops import Place, ended

MAKE = "--until=test -s made"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# What is refused before anything is written


@pytest.mark.parametrize(
    "words",
    [
        *(("--max-iterations", value) for value in ("0", "-1", "nan", "1.5", "", "inf", "1e3")),
        *(
            (flag, value)
            for flag in ("--timeout", "--iteration-timeout", "--idle-timeout", "--check-timeout")
            for value in ("soon", "0", "-5m", "nan", "inf", "")
        ),
        *(("--max-cost", value) for value in ("nan", "-1", "inf", "free", "")),
        *(("--max-tokens", value) for value in ("0", "-1", "many")),
        ("--context", "some"),
        ("--until", ""),
        ("--no-such-flag",),
        ("--loop-id", "mine"),
        ("--loop-id", "../ralph-x-0123abcd"),
        ("--loop-id", "ralph-x-0123abcd\n"),
        ("--prompt-file", "PROMPT.md"),
        ("--sandbox", "cellar"),
        ("--network", "none"),
        ("--check-network", "none"),
    ],
    ids=" ".join,
)
def test_nonsense_is_a_usage_error_and_leaves_nothing(place: Place, words: tuple[str, ...]) -> None:
    done = place.ralph("run", "make it", place.script("touch ran"), MAKE, "--sandbox=none", *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith("ralph: ")
    assert "Traceback" not in done.stderr
    assert not done.stdout
    assert not place.loops()
    assert not (place.root / "ran").exists()


@pytest.mark.parametrize("task", ["", "  \n "])
def test_an_empty_task_is_no_task(place: Place, task: str) -> None:
    assert place.run(task, place.script("true"), MAKE).returncode == 2
    assert not place.loops()


# The task


def test_a_task_of_five_megabytes_reaches_the_agent_whole_and_leaves_the_state_small(place: Place) -> None:
    task = "".join(f"line {number} {{{{PROMISE}}}} $& \\1\n" for number in range(180_000))
    assert len(task) > 5_000_000
    place.write("PROMPT.md", task)
    done = place.run(place.script("echo x > made"), MAKE)
    assert done.returncode == 0, done.stderr
    assert task in place.prompt(1)
    assert (place.directory() / "state.json").stat().st_size < 64 * 1024
    assert (place.directory() / "receipt.json").stat().st_size < 64 * 1024
    assert (place.directory() / "task.md").read_text() == task
    assert len(done.stdout) < 10_000


@pytest.mark.parametrize(
    "task",
    [
        "say {{PROMISE}} and {{PROMPT}} {{ITERATION}}",
        "replace $& by $1 and \\g<0>",
        "a NUL: \0 in the middle",
        "é\u202e\x1b[31m",
    ],
)
def test_a_task_is_taken_literally(place: Place, task: str) -> None:
    place.write("task.txt", task)
    for context in ("fresh", "continue"):
        agent = place.cassette([{"session": "s"}, {"wait": 0.01}], [{"write": f"made-{context}", "content": "x"}])
        words = (f"--until=test -s made-{context}", f"--context={context}", f"--loop-id=ralph-{context}-0123abcd")
        done = place.run("--prompt-file=task.txt", agent, *words)
        assert done.returncode == 0, done.stderr
        for number in (1, 2):
            told = place.directory(f"ralph-{context}-0123abcd") / "prompts" / f"iteration-{number:03}.md"
            assert task in told.read_text()
        assert "\x1b" not in done.stdout


def test_a_command_agent_gets_a_nul_on_its_stdin(place: Place) -> None:
    place.write("PROMPT.md", "one\0two")
    assert place.run(place.script("echo x > made"), MAKE).returncode == 0
    assert "one\0two" in place.prompt(1)


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"caf\xe9", "not UTF-8 text"), (b" \n", "there is no task"), (None, "there is no file")],
)
def test_a_prompt_file_that_cannot_be_a_task_is_refused(place: Place, content: bytes | None, says: str) -> None:
    if content is not None:
        (place.root / "task.txt").write_bytes(content)
    done = place.run("--prompt-file=task.txt", place.script("true"), MAKE)
    assert done.returncode == 2
    assert says in done.stderr
    assert not place.loops()


def test_a_prompt_file_that_the_user_names_may_be_a_link_and_one_that_is_found_may_not(place: Place) -> None:
    """What lies in a clone could be a link to the user's keys."""
    (place.beside / "secret").write_text("make it")
    (place.root / "PROMPT.md").symlink_to(place.beside / "secret")
    found = place.run(place.script("echo x > made"), MAKE)
    assert found.returncode == 2
    assert "is a symbolic link" in found.stderr
    assert "--prompt-file PROMPT.md" in found.stderr
    assert not place.loops()
    assert place.run("--prompt-file=PROMPT.md", place.script("echo x > made"), MAKE).returncode == 0
    assert place.read()["task"] == "make it"


def test_a_prompt_file_may_be_a_pipe(place: Place) -> None:
    pipe = place.beside / "pipe"
    os.mkfifo(pipe)
    with place.running(f"--prompt-file={pipe}", place.script("echo x > made"), MAKE) as process:
        pipe.write_text("make it through a pipe")
        assert ended(process)[0] == 0
    assert place.read()["task"] == "make it through a pipe"


def test_a_task_that_is_not_utf_8_on_the_command_line_does_no_harm(place: Place) -> None:
    task = os.fsdecode(b"caf\xe9 au lait")
    done = place.run(task, place.script("echo x > made"), MAKE)
    assert done.returncode == 0, done.stderr
    assert "caf? au lait" in place.prompt(1)


def test_without_any_task_the_user_is_told_how_to_give_one(place: Place) -> None:
    done = place.run(place.script("true"), MAKE)
    assert done.returncode == 2
    assert "no PROMPT.md here" in done.stderr


def test_a_task_and_a_file_are_one_task_too_many(place: Place) -> None:
    place.write("task.txt", "make it")
    assert place.run("make it", "--prompt-file=task.txt", place.script("true"), MAKE).returncode == 2
    assert not place.loops()


@pytest.mark.parametrize("words", [("make it now",), ("--loop-id", "ralph-named-0123abcd", "make it")])
def test_run_need_not_be_said(place: Place, words: tuple[str, ...]) -> None:
    done = place.ralph(*words, place.script("echo x > made"), MAKE, "--sandbox=none")
    assert done.returncode == 0, done.stderr
    assert place.read()["task"] == words[-1]


def test_a_single_word_that_is_no_verb_is_a_mistake(place: Place) -> None:
    done = place.ralph("stauts")
    assert done.returncode == 2
    assert "did you mean `ralph status`?" in done.stderr
