"""`ralph run` by whoever wants it to say "done" when it is not: claims, and what the checks make of them."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from runtime.loops import Place

MAKE = "--until=test -s made"
SAY = "echo '<promise>DONE</promise>'"
SUITE = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_one(self): pass\n    def test_two(self): pass\n"
UNITTEST = "--until=python3 -m unittest discover -q"
PYTEST = f"--until={sys.executable} -m pytest -q -p no:cacheprovider"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def finished(place: Place, loop_id: str = "") -> dict[str, Any]:
    (last,) = place.events("loop.finished", loop_id)
    return last


# Claims


@pytest.mark.parametrize(
    "says",
    [
        'cat "../prompt-$RALPH_ITERATION"',
        SAY,
        "printf '```\\n<promise>DONE</promise>\\n```\\n'",
        "echo 'I would say `<promise>DONE</promise>` if I were done'",
        """echo '{"status": "complete"}' > "$RALPH_RESULT_FILE" """,
        """echo '<result>{"status": "complete"}</result>'""",
    ],
    ids=["echo", "bare", "fence", "code", "file", "tag"],
)
@pytest.mark.parametrize("green", [False, True], ids=["red", "green"])
def test_words_without_work_are_never_done(place: Place, says: str, green: bool) -> None:
    if green:
        place.write("made", "x")
    done = place.run("make it", place.script(says), MAKE, "-n2")
    assert done.returncode == 4
    assert finished(place)["status"] == "failed"
    assert place.receipt().get("proof") is None


@pytest.mark.parametrize(
    "shows",
    [
        'cat "../prompt-$RALPH_ITERATION"',
        "printf '```\\n<promise>DONE</promise>\\n```\\n'",
        "echo 'I would say `<promise>DONE</promise>` if I were done'",
        "echo '> <promise>DONE</promise>'",
        "echo '\"<promise>DONE</promise>\" is what I was asked for'",
        f"{SAY} >&2",
    ],
    ids=["echo", "fence", "code", "quotation", "quotes", "stderr"],
)
def test_words_that_are_shown_and_not_spoken_are_no_claim(place: Place, shows: str) -> None:
    """Green before and after, and something has changed: only a claim is missing."""
    place.write("made", "x")
    done = place.run("make it", place.script("echo x >> made", shows), MAKE, "-n1")
    assert done.returncode == 4, done.stdout
    assert place.receipt()["claims"] == []


def test_words_of_a_tool_are_no_claim(place: Place) -> None:
    agent = place.cassette(
        [
            {"write": "other", "content": "x"},
            {"say": "<promise>DONE</promise>", "role": "tool"},
            {"run": "echo '<promise>DONE</promise>'"},
        ],
        then="repeat-last",
    )
    place.write("made", "x")
    done = place.run("make it", agent, MAKE, "-n2")
    assert done.returncode == 4
    assert all("claim" not in event for event in place.events("iteration.observed"))


@pytest.mark.parametrize("says", [SAY, 'echo \'{"status": "complete"}\' > "$RALPH_RESULT_FILE"'])
def test_a_claim_is_refused_and_the_agent_is_told_why(place: Place, says: str) -> None:
    done = place.run("make it", place.script(says, "echo x > other"), MAKE, "-n2")
    assert done.returncode == 4
    assert "refused" in done.stdout
    assert "You said that the work is done. It is not: test -s made does not pass yet." in place.prompt(2)
    assert len(place.receipt()["claims"]) == 2


def test_what_an_old_loop_said_counts_for_nothing_in_a_new_one(place: Place) -> None:
    """Neither its words in the tree, nor its result file, nor its transcript."""
    first = place.script("echo x >> made", SAY, 'echo \'{"status": "complete"}\' > "$RALPH_RESULT_FILE"', name="first")
    assert place.run("make it", first, MAKE).returncode == 0
    place.write("NOTES.md", "<promise>DONE</promise>\n")
    second = place.script("cat NOTES.md > /dev/null", "cat .aiwg/ralph/loops/*/outputs/*.log >&2", "echo y >> made")
    done = place.run("make it", second, MAKE, "-n2", "--loop-id=ralph-second-0123abcd")
    assert done.returncode == 4
    assert all("claim" not in event for event in place.events("iteration.observed", "ralph-second-0123abcd"))


def test_a_check_that_writes_to_the_tree_is_not_the_agents_work(place: Place) -> None:
    """Green before and after, and the agent only talks: what changed is the check's own doing."""
    done = place.run("make it", place.script(SAY), "--until=date +%N >> check.log", "-n3")
    assert done.returncode == 4
    assert finished(place)["status"] == "failed"


def test_a_check_that_turns_green_by_itself_proves_nothing(place: Place) -> None:
    flips = place.write("flips", 'echo x >> runs\ntest "$(wc -l < runs)" -gt 2\n')
    done = place.run("make it", place.script("true"), f"--until=sh {flips}", "-n4")
    assert done.returncode == 4
    assert place.receipt().get("proof") is None


# Checks


def test_green_on_the_last_allowed_iteration_is_success(place: Place) -> None:
    done = place.run("make it", place.script('[ "$RALPH_ITERATION" -lt 3 ] || echo x > made'), MAKE, "-n3")
    assert done.returncode == 0
    assert "proven (red-to-green)" in done.stdout
    assert place.receipt()["proof"] == "red-to-green"
    assert place.read()["iteration"] == 3


def test_a_check_whose_program_is_missing_costs_no_iteration_and_goes_on_once_it_is_there(place: Place) -> None:
    tools = place.beside / "tools"
    tools.mkdir()
    env = {"PATH": f"{tools}:{os.environ['PATH']}"}
    done = place.run("make it", place.script("echo x > made"), "--until=prove-it made", env=env)
    assert done.returncode == 8
    state = place.read()
    assert (state["status"], state["pause_reason"], state["iteration"]) == ("paused", "broken_check", 0)
    assert not (place.beside / "prompt-1").exists()
    assert "prove-it is missing" in done.stdout
    assert f"ralph resume {place.loop}" in done.stdout
    (tools / "prove-it").write_text('#!/bin/sh\ntest -s "$1"\n')
    (tools / "prove-it").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", env["PATH"])
        again = place.ralph("resume", place.loop)
    assert again.returncode == 0, again.stdout + again.stderr
    assert place.receipt()["proof"] == "red-to-green"
    assert place.read()["iteration"] == 1


@pytest.mark.parametrize(("task", "code"), [("write verify.sh and make it", 0), ("make it", 8)])
def test_a_check_of_the_tree_may_be_missing_only_if_the_task_is_to_write_it(place: Place, task: str, code: int) -> None:
    agent = place.script("printf '#!/bin/sh\\nexit 0\\n' > verify.sh; chmod +x verify.sh")
    done = place.run(task, agent, "--until=./verify.sh")
    assert done.returncode == code, done.stdout + done.stderr


def test_a_check_of_the_tree_that_the_agent_takes_away_is_not_yet(place: Place) -> None:
    place.write("verify.sh", "#!/bin/sh\ntest -s made\n", mode=0o755)
    back = "printf '#!/bin/sh\\ntest -s made\\n' > verify.sh; chmod +x verify.sh; echo x > made"
    done = place.run(
        "make it", place.script(f'[ "$RALPH_ITERATION" = 1 ] && rm verify.sh || {{ {back}; }}'), "--until=./verify.sh"
    )
    assert done.returncode == 0, done.stdout
    assert place.read()["iteration"] == 2


@pytest.mark.parametrize("until", [UNITTEST, PYTEST])
def test_code_that_cannot_even_be_collected_is_not_yet(place: Place, until: str) -> None:
    place.write(
        "test_calc.py",
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_calc(self):\n"
        "        from calc import two\n        self.assertEqual(two(), 2)\n",
    )
    place.write("calc.py", "def two():\n    return 3\n")
    half = "printf 'def two(:\\n' > calc.py; printf 'def broken(:\\n' > test_more.py"
    whole = "printf 'def two():\\n    return 2\\n' > calc.py; rm test_more.py"
    agent = place.script(f'[ "$RALPH_ITERATION" = 1 ] && {{ {half}; }} || {{ {whole}; }}')
    done = place.run("make two() right", agent, until, "-n3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert place.read()["iteration"] == 2
    assert place.receipt()["proof"] == "red-to-green"


def test_no_check_and_none_found_is_answered_with_the_line_to_add(place: Place) -> None:
    done = place.run("make it", place.script("true"))
    assert done.returncode == 2
    assert 'until = ["pytest -q"]' in done.stderr
    assert not place.loops()


def test_a_bare_promise_is_believed_only_by_who_asked_for_it_and_never_called_proven(place: Place) -> None:
    done = place.run("make it", place.script('[ "$RALPH_ITERATION" = 1 ] || ' + SAY), "--trust-promise")
    assert done.returncode == 0
    assert place.receipt()["proof"] == "claimed"
    assert place.read()["iteration"] == 2
    assert "claimed, not proven" in done.stdout
    assert ", proven" not in done.stdout


@pytest.mark.parametrize(("words", "code"), [((), 0), (("--require-proof",), 1)])
def test_green_before_and_after_with_a_claim_is_said_to_be_just_that(
    place: Place, words: tuple[str, ...], code: int
) -> None:
    place.write("made", "x")
    done = place.run("make it", place.script("echo y >> made", SAY), MAKE, *words)
    assert done.returncode == code
    assert ("checks green, work claimed" in done.stdout) is (code == 0)
    assert "not proven: checks green before and after, work claimed" in done.stdout or code == 0
    assert ", proven" not in done.stdout


def test_tests_that_were_green_must_stay_whatever_until_says(place: Place) -> None:
    place.write("test_it.py", SUITE)
    drop = "sed -i /test_two/d test_it.py; echo x > made"
    back = "echo '    def test_two(self): pass' >> test_it.py"
    agent = place.script(f'[ "$RALPH_ITERATION" = 1 ] && {{ {drop}; }} || {{ {back}; }}')
    done = place.run("make it", agent, MAKE, "-n2")
    assert done.returncode == 0, done.stdout
    assert "tests that passed before are gone" in done.stdout
    assert "test_two" in done.stdout
    assert "test_two" in place.prompt(2)
    assert place.read()["iteration"] == 2


def test_without_auto_test_only_until_counts(place: Place) -> None:
    place.write("test_it.py", SUITE)
    done = place.run("make it", place.script("rm test_it.py; echo x > made"), MAKE, "--no-auto-test")
    assert done.returncode == 0
    assert [check["line"] for check in place.read()["plan"]["checks"]] == ["test -s made"]


def test_a_suite_that_was_red_in_part_must_keep_what_was_green(place: Place) -> None:
    place.write("test_it.py", SUITE + "    def test_three(self): self.fail()\n")
    done = place.run("make it", place.script("echo x > made"), MAKE)
    assert done.returncode == 0, done.stdout
    again = place.run(
        "make it",
        place.script(
            "echo y > made; sed -i 's/test_one(self): pass/test_one(self): 1 \\/ 0/' "
            "test_it.py; rm -f made2; echo x > made2"
        ),
        "--until=test -s made2",
        "-n1",
    )
    assert again.returncode == 4
    assert "test_one" in again.stdout


RED = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_one(self): pass\n    def test_two(self): 1 / 0\n"


@pytest.mark.parametrize(
    "cheat",
    [
        "sed -i /test_two/d test_it.py",
        "sed -i 's/def test_two/def two/' test_it.py",
        "sed -i 's/    def test_two/    @unittest.skip(\"\")\\n    def test_two/' test_it.py",
        "rm test_it.py",
        "printf 'import unittest\\nclass T(unittest.TestCase):\\n    def test_x(self): pass\\n' > test_it.py",
    ],
    ids=["deleted", "renamed", "skipped", "all deleted", "replaced"],
)
@pytest.mark.parametrize("until", [UNITTEST, PYTEST], ids=["unittest", "pytest"])
def test_a_failing_test_that_is_made_to_vanish_does_not_pass(place: Place, cheat: str, until: str) -> None:
    place.write("test_it.py", RED)
    done = place.run("make the tests pass", place.script(cheat), until, "-n1")
    assert done.returncode == 4, done.stdout
    assert place.receipt().get("proof") is None
