"""What agents do, in five words."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.agents.acting import action, ran

KINDS = {"read", "write", "bash", "git", "eval"}


@pytest.mark.parametrize(
    ("tool", "given", "kind", "target"),
    [
        ("Write", {"file_path": "/a"}, "write", "/a"),
        ("Edit", {"file_path": "/a"}, "write", "/a"),
        ("NotebookEdit", {"notebook_path": "/n"}, "write", "/n"),
        ("apply_patch", {}, "write", ""),
        ("replace", {"file_path": "a"}, "write", "a"),
        ("Read", {"file_path": "/a"}, "read", "/a"),
        ("Grep", {"pattern": "x", "path": "src"}, "read", "src"),
        ("read_many_files", {}, "read", ""),
        ("WebFetch", {"url": "http://x"}, "read", "http://x"),
        ("Bash", {"command": "ls"}, "bash", "ls"),
        ("shell", {"command": ["ls", "-l"]}, "bash", "ls -l"),
        ("run_shell_command", {"command": "git push"}, "git", "git push"),
        ("MultiEdit", {"file_path": "/a"}, "write", "/a"),
        ("LS", {"path": "/a"}, "read", "/a"),
        ("TodoWrite", {"todos": []}, "eval", "TodoWrite"),
        ("update_goal", {}, "eval", "update_goal"),
        ("Task", {"prompt": "x"}, "eval", "Task"),
        ("mcp__x__do", None, "eval", "mcp__x__do"),
    ],
)
def test_a_tool_is_known_by_its_name_and_what_it_was_given(tool: str, given: Any, kind: str, target: str) -> None:
    assert action(tool, given) == {"kind": kind, "target": target}


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("git status", "git"),
        (" git", "git"),
        ("cd /x && git log", "git"),
        ("GIT_PAGER=cat git log", "git"),
        ("github", "bash"),
        ("echo git status", "bash"),
        ("python3 -c 'x'", "eval"),
        ("node -e 1", "eval"),
        ("python3 script.py", "bash"),
        ("", "bash"),
    ],
)
def test_a_command_is_known_by_its_first_word(command: str, kind: str) -> None:
    assert ran(command)["kind"] == kind


def test_a_long_command_is_cut() -> None:
    assert len(ran("x" * 10_000_000)["target"]) == 500
    assert len(action("Write", {"path": "x" * 10_000_000})["target"]) == 500


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["command", "path", "code", "x"]), inner),
)


@given(tool=st.text(), given_to_it=ANYTHING)
def test_whatever_it_is_given_it_is_one_of_the_five(tool: str, given_to_it: Any) -> None:
    found = action(tool, given_to_it)
    assert found["kind"] in KINDS
    assert isinstance(found["target"], str)
