"""What the built-in agent's tools do, and what they refuse."""

import os
import re
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from real_agents.install import NODE
from untilproven.agents.worker import tools
from untilproven.agents.worker.running import LONGEST_OUTPUT
from untilproven.agents.worker.tools import Done, Place, Refused

NODE_BIN = NODE.bin


@pytest.fixture
def place(tmp_path: Path) -> Place:
    root = tmp_path / "project"
    root.mkdir()
    return Place(root, dict(os.environ), 60)


def do(place: Place, name: str, **arguments: Any) -> Done:
    return tools.act(tools.understood(name, arguments), place)


def refusal(words: str) -> Done:
    """The record has the words that the model is told."""
    return Done(words, words, refused=True)


def test_what_is_written_is_read(place: Place) -> None:
    assert do(place, "write", path="a/b.txt", content="é\n\nend") == Done("7 bytes", "7 bytes written")
    assert (place.root / "a/b.txt").read_bytes() == "é\n\nend".encode()
    assert do(place, "read", path="a/b.txt") == Done("3 lines", "é\n\nend")


def test_a_part_of_a_file_says_which(place: Place) -> None:
    do(place, "write", path="a", content="".join(f"{number}\n" for number in range(1, 11)))
    assert do(place, "read", path="a", offset=3, limit=2).text == "3\n4\n\n[lines 3 to 4 of 10]"
    assert do(place, "read", path="a", offset=10).text == "10\n\n[lines 10 to 10 of 10]"
    assert do(place, "read", path="a", offset=11).outcome == "0 lines"


def test_a_file_keeps_its_mode(place: Place) -> None:
    (place.root / "run").touch(mode=0o755)
    do(place, "write", path="run", content="x")
    assert (place.root / "run").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("name", ["read", "write"])
@pytest.mark.parametrize("path", ["../out", "/etc/passwd", "a/../../out", "link", "link/x", "", "."])
def test_a_path_outside_of_the_project_is_refused(place: Place, name: str, path: str) -> None:
    outside = place.root.parent / "out"
    outside.write_text("theirs")
    (place.root / "link").symlink_to(outside if path == "link" else outside.parent)
    done = do(place, name, path=path, **({"content": "mine"} if name == "write" else {}))
    assert done == refusal(f"refused: {path} is outside of the project")
    assert outside.read_text() == "theirs"


def test_a_path_that_comes_back_into_the_project_is_none(place: Place) -> None:
    assert not do(place, "write", path=str(place.root / "x" / ".." / "a"), content="1").refused
    (place.root / "link").symlink_to("a")
    assert do(place, "read", path="link").text == "1"


def test_what_cannot_be_read_as_text_is_refused(place: Place) -> None:
    (place.root / "null").write_bytes(b"a\0b")
    (place.root / "latin").write_bytes(b"\xe9\xe8")
    (place.root / "directory").mkdir()
    os.mkfifo(place.root / "pipe")
    with (place.root / "large").open("wb") as file:
        file.truncate(9 * 1024 * 1024)
    assert do(place, "read", path="null").outcome == "refused: null is binary"
    assert do(place, "read", path="latin").outcome == "refused: latin is binary"
    assert do(place, "read", path="large").outcome.startswith("refused: large has 9437184 bytes, more than 8388608")
    assert do(place, "read", path="directory").outcome.startswith("refused: directory is no file")
    assert do(place, "read", path="pipe").outcome.startswith("refused: pipe is no file")
    assert do(place, "read", path="absent") == refusal("failed: No such file or directory")
    assert do(place, "read", path="a\0b").refused


def test_what_cannot_be_written_is_refused(place: Place) -> None:
    (place.root / "directory").mkdir()
    os.mkfifo(place.root / "pipe")
    assert do(place, "write", path="directory", content="").outcome == "refused: directory is no file"
    assert do(place, "write", path="pipe", content="x").outcome == "refused: pipe is no file"
    assert "UTF-8" in do(place, "write", path="a", content="\ud800").outcome
    assert "more than 8388608" in do(place, "write", path="a", content="x" * (8 * 1024 * 1024 + 1)).outcome
    assert not (place.root / "a").exists()


def test_long_text_is_cut_in_the_middle_and_that_is_said(place: Place) -> None:
    do(place, "write", path="a", content="begin" + "x" * LONGEST_OUTPUT + "end")
    done = do(place, "read", path="a")
    assert done.outcome == f"1 lines, {LONGEST_OUTPUT + 8} bytes cut"
    assert re.fullmatch(r"beginx+\n\[\.\.\. 8 bytes cut \.\.\.\]\nx+end", done.text)


def test_a_line_of_shell_runs_in_the_project(place: Place) -> None:
    done = do(place, "bash", command="pwd; echo wrong >&2; [[ a == a ]] && exit 3")
    assert done == Done("exit 3", f"exit 3\n{place.root}\nwrong\n")
    assert do(place, "bash", command="kill -9 $$").outcome == "ended by signal 9"


def test_nobody_answers_a_program_that_asks(place: Place) -> None:
    assert do(place, "bash", command="read line; echo $?; cat").text == "exit 0\n1\n"


def test_what_no_program_can_be_given_is_refused(place: Place) -> None:
    for command in ("echo a\0b", "echo \ud800"):
        assert do(place, "bash", command=command).outcome.startswith("failed: ")


def test_endless_output_is_cut_and_does_not_grow(place: Place) -> None:
    done = do(place, "bash", command="echo begin; yes | head -c 20000000; echo end")
    assert done.outcome == "exit 0, output of 20000010 bytes cut"
    assert len(done.text) < LONGEST_OUTPUT + 100
    assert done.text.startswith("exit 0, output of 20000010 bytes cut\nbegin\n")
    assert done.text.endswith("y\nend\n")


def test_what_takes_too_long_is_ended_with_its_whole_group(place: Place) -> None:
    begun = time.monotonic()
    done = do(place._replace(seconds=0.5), "bash", command="trap '' TERM; echo up; sleep 300 & echo $! > pid; wait")
    assert time.monotonic() - begun < 30
    assert done.outcome == "refused: it took more than 0.5 s and was ended"
    assert done.refused
    assert done.text.endswith("ended\nup\n")
    assert gone(int((place.root / "pid").read_text()))


def test_what_a_command_leaves_in_the_background_ends_with_it(place: Place) -> None:
    begun = time.monotonic()
    assert do(place, "bash", command="sleep 300 & echo $! > pid; echo done").text == "exit 0\ndone\n"
    assert time.monotonic() - begun < 30
    assert gone(int((place.root / "pid").read_text()))


def test_a_program_that_closes_its_output_is_waited_for(place: Place) -> None:
    assert do(place, "bash", command="exec >&- 2>&-; sleep 0.3; exit 7").outcome == "exit 7"


def gone(pid: int) -> bool:
    """A zombie that nobody has buried yet is."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def test_git_gets_its_arguments_as_they_are(place: Place) -> None:
    do(place, "git", arguments=["init", "-q"])
    do(place, "write", path="it's $HOME", content="x")
    done = do(place, "git", arguments=["add", "-v", "it's $HOME"])
    assert done == Done("exit 0", "exit 0\nadd 'it's $HOME'\n")
    assert tools.understood("git", {"arguments": ["log", "-1"]}).target == "git log -1"


def test_git_shows_no_pages_and_asks_nobody(place: Place) -> None:
    done = do(place, "git", arguments=["var", "GIT_PAGER"])
    assert done.text == "exit 0\ncat\n"


def test_python_is_run_in_the_project(place: Place) -> None:
    do(place, "write", path="mine.py", content="ANSWER = 42")
    assert do(place, "eval", code="import mine; print(mine.ANSWER)").text == "exit 0\n42\n"
    done = do(place, "eval", code="1 / 0", language="python")
    assert done.outcome == "exit 1"
    assert "ZeroDivisionError" in done.text


@pytest.mark.skipif(not (NODE_BIN / "node").exists(), reason="node is not installed: make test-agents")
def test_typescript_is_run_by_node(place: Place) -> None:
    with_node = place._replace(env={**place.env, "PATH": f"{NODE_BIN}:{place.env['PATH']}"})
    do(place, "write", path="mine.ts", content="export const answer: number = 42")
    code = 'import { answer } from "./mine.ts"; const twice: number = answer * 2; console.log(twice)'
    assert do(with_node, "eval", code=code, language="typescript") == Done("exit 0", "exit 0\n84\n")
    assert do(with_node, "eval", code="throw new Error('x')", language="typescript").outcome == "exit 1"


def test_without_node_or_git_that_is_said(place: Place) -> None:
    bare = place._replace(env={"PATH": "/nowhere"})
    assert do(bare, "eval", code="1", language="typescript").outcome == "refused: node is not on PATH"
    assert do(bare, "git", arguments=["status"]).outcome == "refused: git is not on PATH"


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("fly", {}, "there is no tool 'fly'; there are read, write, bash, git, eval"),
        ("read", {}, "missing required field `path`"),
        ("read", {"path": 1}, "Expected `str`, got `int`"),
        ("read", {"path": "a", "offset": 0}, ">= 1"),
        ("read", {"path": "a", "lines": 1}, "unknown field `lines`"),
        ("eval", {"code": "1", "language": "ruby"}, "Invalid enum value 'ruby'"),
        ("bash", '{"command": "ls', "truncated"),
        ("bash", "[]", "Expected `object`"),
        ("git", {"arguments": "status"}, "Expected `array`"),
    ],
)
def test_a_call_that_is_not_right_is_refused(name: str, arguments: Any, why: str) -> None:
    with pytest.raises(Refused, match=re.escape(why)):
        tools.understood(name, arguments)


@pytest.mark.parametrize("name", tools.TOOLS)
def test_what_a_model_is_told_of_a_tool(name: str) -> None:
    told = tools.schema(tools.TOOLS[name])
    assert told["type"] == "object"
    assert set(told["required"]) <= set(told["properties"])
    assert "$ref" not in str(told)
    assert tools.TOOLS[name].about
