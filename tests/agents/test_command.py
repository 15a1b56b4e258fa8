"""Any program can be the agent: what it is given, what is heard of it, and what its end means."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import UNSET

from agents.stage import Stage
from process.scenes import alive, pids_in
from untilproven.agents.command import CommandAgent
from untilproven.agents.listening import MOST_LINES
from untilproven.model.iteration import Continue, Failed
from untilproven.model.program import Limits, Stop

ODD = "{{PROMISE}} $& \0 \\1 %s é\n"
COUNT = f"{shlex.quote(sys.executable)} -c 'import sys; print(len(sys.stdin.buffer.read()))'"


def test_the_prompt_is_on_stdin_byte_by_byte(stage: Stage) -> None:
    stage.play(CommandAgent("cat > got"), prompt=ODD)
    assert (stage.root / "got").read_bytes() == ODD.encode()


def test_a_prompt_of_5_mb_arrives_either_way(stage: Stage) -> None:
    prompt = "x" * 5_000_000
    assert stage.play(CommandAgent(COUNT), prompt=prompt).said == "5000000\n"
    by_file = stage.play(CommandAgent("wc -c < {prompt_file}; wc -c"), prompt=prompt)
    assert by_file.said.split() == ["5000000", "0"]


def test_an_agent_that_never_reads_its_prompt_is_not_waited_for(stage: Stage) -> None:
    worked = stage.play(CommandAgent("exec <&-; echo done"), prompt="x" * 5_000_000)
    assert (worked.said, worked.result) == ("done\n", Continue(reason="exit 0"))


@pytest.mark.parametrize(
    "line",
    [
        "cat {prompt_file}",
        'cat "{prompt_file}"',
        "cat '{prompt_file}'",
        'printf %s "$(cat {prompt_file})"',
        'printf %s "$(cat "{prompt_file}")"',
        "printf %s \"`cat '{prompt_file}'`\"",
        "printf %s `cat {prompt_file}`",
        "echo '\\' > /dev/null; cat \"{prompt_file}\"",
        """echo 'a"b' "it's" \\" > /dev/null; cat "{prompt_file}" """,
    ],
)
def test_the_path_of_the_prompt_is_one_word_wherever_it_stands(stage: Stage, line: str) -> None:
    hostile = stage.directory / "a $(touch owned) `touch owned` \\ \" & it's"
    hostile.mkdir()
    stage.directory = hostile
    assert stage.play(CommandAgent(line), prompt="hello").said == "hello"
    assert list(stage.root.iterdir()) == []


def test_other_braces_and_the_arguments_stay_as_they_are(stage: Stage) -> None:
    agent = CommandAgent("printf '[%s]' '{x}' '{{PROMISE}}' {}", ("a b", "$HOME", "it's", "{prompt_file}"))
    assert stage.play(agent).said == "[{x}][{{PROMISE}}][{}][a b][$HOME][it's][{prompt_file}]"


def test_it_knows_which_iteration_it_works_on(stage: Stage) -> None:
    line = 'echo $RALPH_LOOP_ID $RALPH_ITERATION $RALPH_MODEL; cat "$RALPH_PROMPT_FILE"; echo $RALPH_RESULT_FILE; pwd'
    said = stage.play(CommandAgent(line, model="m1"), iteration=7, prompt="hi\n").said
    assert said.split("\n") == [
        "ralph-x-00000000 7 m1",
        "hi",
        str(stage.directory / "result.json"),
        str(stage.root),
        "",
    ]
    assert {event.iteration for event in stage.events} == {7}
    assert stage.play(CommandAgent('echo "${RALPH_MODEL-none}"')).said == "none\n"


def test_its_words_are_stdout_and_everything_is_told_line_by_line(stage: Stage) -> None:
    worked = stage.play(CommandAgent(r"printf 'one\n\nt\377wo'; echo chatter >&2"))
    assert worked.said == "one\n\nt\ufffdwo"
    own = [event.text for event in stage.events if event.data is UNSET]
    assert own == ["one", "", "t\ufffdwo"]
    (chatter,) = [event for event in stage.events if event.data is not UNSET]
    assert (chatter.kind, chatter.text, chatter.data) == ("text", "chatter", {"stream": "stderr"})


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("no-such-agent", "exited with 127 (command not found)"),
        ("./plain", "exited with 126 (found, but not executable)"),
        ("exit 127", "exited with 127 (command not found)"),
        ("exit 3", "exited with 3"),
        ("kill -KILL $$", "ended by signal 9"),
        ("kill -TERM $$", "ended by signal 15"),
    ],
)
def test_a_program_that_fails_is_no_success(stage: Stage, line: str, error: str) -> None:
    (stage.root / "plain").write_text("echo hello")
    assert stage.play(CommandAgent(line)).result == Failed(error=error)


def test_what_cannot_be_started_says_why(stage: Stage) -> None:
    result = stage.play(CommandAgent("echo \0")).result
    assert isinstance(result, Failed)
    assert result.error.startswith("cannot be started: /bin/sh: a NUL byte")


def test_one_that_was_stopped_did_not_fail(stage: Stage) -> None:
    stage.room.limits = Limits(wall=0.2)
    assert stage.play(CommandAgent("sleep 1000")).result == Continue(reason="stopped: wall")
    stage.room.limits = Limits(output=10)
    assert stage.play(CommandAgent("yes")).result == Continue(reason="stopped: output")


def test_stopping_it_leaves_nothing_running(stage: Stage) -> None:
    stage.room.until = lambda: Stop("abort", now=True) if len(pids_in(stage.root)) == 2 else None
    line = "setsid sh -c \"trap '' TERM INT; echo \\$\\$ > a.pid; sleep 1000\" & echo $$ > b.pid; wait"
    worked = stage.play(CommandAgent(line))
    assert worked.ending.stopped_because == "asked: abort"
    assert not any(alive(pid) for pid in pids_in(stage.root))


def test_a_flood_is_told_up_to_a_point_and_kept_at_both_ends(stage: Stage) -> None:
    worked = stage.play(CommandAgent("echo head; yes | head -c 3000000; echo tail"))
    assert len(stage.events) == MOST_LINES + 1
    assert stage.events[-1].text == "output goes on; all of it is kept under outputs/"
    assert worked.said.startswith("head\n")
    assert worked.said.endswith("y\ntail\n")
    assert len(worked.said) < 300_000


MEMORY = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from agents.stage import Stage
from untilproven.agents.command import CommandAgent

def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))

stage = Stage(Path("."). absolute())
stage.play(CommandAgent("echo"))
before = peak()
worked = stage.play(CommandAgent(sys.argv[2]))
print(worked.ending.exit_code, worked.said.split()[-1], (peak() - before) // 1024)
"""


@pytest.mark.parametrize(
    "line",
    ["yes | head -c 200000000; echo end", "head -c 50000000 /dev/zero | tr '\\0' x; echo; echo end"],
    ids=["200 MB", "one line of 50 MB"],
)
def test_much_output_costs_little_memory(tmp_path: Path, line: str) -> None:
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, tests, line],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    code, last, mebibytes = done.stdout.split()
    assert (code, last) == ("0", "end")
    assert int(mebibytes) < 64


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no-such-agent --yes", "no-such-agent is not on PATH"),
        ("X=1 no-such-agent", "no-such-agent is not on PATH"),
        ("./absent", "./absent is not there"),
        ("./plain", "./plain is not executable"),
        ("./folder/", "./folder/ is not a program"),
        (" ", "its command is empty"),
        ("./fine {prompt_file}", ""),
        ("sh -c true", ""),
        ("cd sub && ./absent", ""),
        ("cat | no-such-agent", ""),
        ("$AGENT", ""),
        ("~/absent", ""),
        ("while true; do x; done", ""),
    ],
)
def test_what_is_plainly_missing_is_said_beforehand(stage: Stage, line: str, why: str) -> None:
    (stage.root / "plain").write_text("echo hello")
    (stage.root / "folder").mkdir()
    (stage.root / "fine").write_text("#!/bin/sh\n")
    (stage.root / "fine").chmod(0o755)
    assert CommandAgent(line).missing(stage.root) == why
