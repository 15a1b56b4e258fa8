"""Loops with the built-in agent, in a room and without one."""

import contextlib
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.api_scene import KEY, TALK, WIRES, keys
from models.script import Bash, Failure, Turn, Write
from models.server import ModelServer
from runtime.loops import Place

__all__ = ["keys"]
each_room = pytest.mark.parametrize("sandbox", ["overlay", "none"])


@pytest.fixture
def place(tmp_path: Path, keys: None) -> Place:
    return Place(tmp_path)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer({TALK: []}) as server:
        yield server


def run(place: Place, server: ModelServer, sandbox: str, wire: str, *words: str) -> int:
    chosen = WIRES[wire]
    agent = ("--agent", "api", "--model", chosen.model, "--sandbox", sandbox, "--no-auto-test")
    address = ("--", "--base-url", server.url(TALK) + chosen.path)
    done = place.ralph("run", "make it", "--until", "grep -q right made.txt", *agent, *words, *address)
    return done.returncode


def observed(place: Place) -> list[dict[str, Any]]:
    return place.events("iteration.observed")


@each_room
@pytest.mark.parametrize("wire", ["chat", "anthropic", "gemini"])
def test_a_false_claim_is_not_believed_and_the_fix_is_proven(
    place: Place, server: ModelServer, sandbox: str, wire: str
) -> None:
    server.extend(
        TALK,
        Turn(calls=(Write(write="made.txt", content="wrong\n"),)),
        Turn(say="<promise>DONE</promise>"),
        Turn(calls=(Bash(bash="cat made.txt"), Write(write="made.txt", content="right\n"))),
        Turn(say="<promise>DONE</promise>"),
    )
    more = ("--promise", "DONE", "--context", "continue" if sandbox == "overlay" else "fresh", "-n", "3")
    assert run(place, server, sandbox, wire, *more) == 0
    first, second = observed(place)
    assert first["claim"] == second["claim"] == "<promise>DONE</promise>"
    assert [(one["kind"], one["target"], one["outcome"]) for one in second["actions"]] == [
        ("bash", "cat made.txt", "exit 0"),
        ("write", "made.txt", "6 bytes"),
    ]
    assert second["usage"]["total_tokens"] == 2100
    assert second["usage"]["cost_usd"] > 0
    assert (first["session"] == second["session"]) == (sandbox == "overlay")
    assert place.events("loop.started")[0]["state"]["plan"]["billed"] == f"the key in {WIRES[wire].key}"
    assert (place.root / "made.txt").read_text() == "right\n"
    assert place.read()["status"] == "completed"
    kept = [path for path in place.directory().rglob("*") if path.is_file()]
    assert not [path for path in kept if KEY.encode() in path.read_bytes()]


def test_a_key_that_is_refused_ends_the_loop(place: Place, server: ModelServer) -> None:
    server.extend(TALK, Failure(fail="unauthorized"))
    assert run(place, server, "overlay", "anthropic", "-n", "5") == 6
    (only,) = observed(place)
    assert only["unable"] == "the provider does not let it in (401): invalid x-api-key"


@each_room
def test_a_file_outside_of_the_project_is_not_written(place: Place, server: ModelServer, sandbox: str) -> None:
    outside = place.beside / "outside.txt"
    server.extend(
        TALK,
        Turn(calls=(Write(write=str(outside), content="x"), Write(write="made.txt", content="right\n"))),
        Turn(say="Done."),
    )
    assert run(place, server, sandbox, "chat", "-n", "1") == 0
    assert not outside.exists()
    assert observed(place)[0]["actions"][0]["outcome"].startswith("refused: ")


@each_room
def test_what_hangs_is_ended_with_all_that_it_started(place: Place, server: ModelServer, sandbox: str) -> None:
    seconds = f"1000.{secrets.randbelow(10**9)}"
    server.extend(TALK, Turn(calls=(Bash(bash=f"setsid sleep {seconds} & sleep {seconds}; touch made.txt"),)))
    assert run(place, server, sandbox, "chat", "--iteration-timeout", "15s", "-n", "1") == 4
    (only,) = observed(place)
    assert only["cut"] == "wall"
    assert only["actions"][0]["target"].startswith("setsid sleep")
    assert running_with(seconds) == []


def running_with(word: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found += [str(path)] if word.encode() in path.read_bytes() else []
    return found
