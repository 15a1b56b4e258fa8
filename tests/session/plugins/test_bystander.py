"""A session without a loop is let go at once, and by the same rule as everywhere else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from untilproven.cli import bystander
from untilproven.session import place

ID = "0b1c2d3e-1111-4222-8333-444455556666"


def hook(event: str, data: bytes, *words: str) -> "subprocess.CompletedProcess[bytes]":
    code = (
        "import sys; from untilproven.cli.main import run; code = run(sys.argv[1:]); "
        "sys.stderr.write('loaded ' + str('msgspec' in sys.modules)); sys.exit(code)"
    )
    return subprocess.run(
        [sys.executable, "-P", "-c", code, "hook", event, "--agent", "claude", *words],
        input=data,
        capture_output=True,
        check=False,
        timeout=60,
    )


def told(**more: object) -> bytes:
    return json.dumps({"session_id": ID, "hook_event_name": "Stop", **more}).encode()


@pytest.mark.parametrize("event", ["stop", "prompt", "deleted"])
def test_nothing_is_said_and_nothing_loaded(event: str) -> None:
    done = hook(event, told(prompt="hello"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"loaded False")


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ("prompt", told(prompt="/ralph-status")),
        ("prompt", told(prompt="/untilproven:ralph-status")),
        ("stop", b"{}"),
        ("stop", b"not json"),
        ("stop", b""),
        ("stop", json.dumps({"session_id": "../../x"}).encode()),
        ("stop", json.dumps({"session_id": "x" * 200}).encode()),
        ("stop", json.dumps({"session_id": ""}).encode()),
        ("stop", json.dumps({"last_assistant_message": '"session_id":"other"'}).encode()),
    ],
)
def test_whatever_is_not_plain_is_looked_at_in_full(event: str, data: bytes) -> None:
    done = hook(event, data)
    assert done.returncode == 0
    assert b"loaded True" in done.stderr


def test_a_session_with_a_loop_is_found_where_it_is_remembered(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for state in ("", "relative", str(own_home / "elsewhere")):
        monkeypatch.setenv("XDG_STATE_HOME", state)
        assert bystander._pointer(ID) == str(place._pointer(ID))
    place._pointer(ID).parent.mkdir(parents=True)
    place._pointer(ID).write_bytes(os.fsencode(own_home))
    assert b"loaded True" in hook("stop", told()).stderr


def test_what_was_read_can_be_read_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "event"
    path.write_bytes(b'{"session_id":"../x"}')
    with path.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert not bystander.is_nothing(["stop"])
        assert sys.stdin.buffer.read() == b'{"session_id":"../x"}'
