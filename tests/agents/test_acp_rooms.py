"""Loops with an agent that speaks the Agent Client Protocol, in a room and without one."""

import json
import secrets
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.acp_scene import PROGRAM
from runtime.loops import Place

each_room = pytest.mark.parametrize("sandbox", ["overlay", "none"])
SCRIPT = "script.json"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def run(place: Place, sandbox: str, scripts: list[dict[str, Any]], *words: str) -> int:
    place.write(SCRIPT, json.dumps(scripts))
    agent = f"acp:{shlex.join([sys.executable, str(PROGRAM), SCRIPT])}"
    more = ("--until", "test -e made.txt", "--sandbox", sandbox, "--no-auto-test", *words)
    return place.ralph("run", "make it", "--agent", agent, *more).returncode


def observed(place: Place) -> list[dict[str, Any]]:
    return place.events("iteration.observed")


@each_room
def test_a_false_claim_is_not_believed_and_the_next_turn_goes_on_where_it_was(place: Place, sandbox: str) -> None:
    permission = {"toolCall": {"title": "Write"}, "options": [{"optionId": "yes", "kind": "allow_once"}]}
    made = {
        "update": {"sessionUpdate": "tool_call", "toolCallId": "1", "kind": "edit", "locations": [{"path": "made.txt"}]}
    }
    scripts: list[dict[str, Any]] = [
        {"steps": [{"say": "<promise>DONE</promise>"}]},
        {"steps": [{"ask": "session/request_permission", "params": permission}, made, {"write": "made.txt"}]},
    ]
    assert run(place, sandbox, scripts, "--promise", "DONE", "--context", "continue", "-n", "3") == 0
    first, second = observed(place)
    assert first["claim"] == "<promise>DONE</promise>"
    assert (first["session"], second["session"]) == ("session-1", "session-1")
    assert [(one["kind"], one["target"]) for one in second["actions"]] == [("write", "made.txt")]
    assert (place.root / "made.txt").exists()
    told = [json.loads(line) for line in (place.root / "script.heard").read_text().splitlines()]
    asked = [one["method"] for one in told if "method" in one]
    assert asked == [
        *("initialize", "session/new", "session/prompt"),
        *("initialize", "session/load", "session/prompt"),
    ]
    assert place.read()["status"] == "completed"


@each_room
def test_what_hangs_is_ended_with_all_that_it_started(place: Place, sandbox: str) -> None:
    seconds = f"1000.{secrets.randbelow(10**9)}"
    steps = [{"background": f"sleep {seconds}; touch late.txt"}, {"say": "up"}, {"hang": 1000}]
    assert run(place, sandbox, [{"steps": steps}], "--iteration-timeout", "3s", "-n", "1") == 4
    (only,) = observed(place)
    assert only["cut"] == "wall"
    assert not [one for one in Path("/proc").glob("[0-9]*/cmdline") if seconds.encode() in _read(one)]


@each_room
def test_a_file_outside_of_the_tree_is_not_written_for_it(place: Place, sandbox: str) -> None:
    outside = place.beside / "outside.txt"
    asked = {"ask": "fs/write_text_file", "params": {"path": str(outside), "content": "x"}}
    assert run(place, sandbox, [{"steps": [asked, {"write": "made.txt"}]}], "-n", "1") == 0
    assert not outside.exists()


def test_nobody_logged_in_ends_the_loop(place: Place) -> None:
    error = {"code": -32000, "message": "Authentication required"}
    assert run(place, "overlay", [{"errors": {"session/new": error}}], "-n", "5") == 6
    (only,) = observed(place)
    assert only["unable"].startswith("nobody is logged in: Authentication required")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
