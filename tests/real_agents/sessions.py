"""Sessions of real agents with the installed plugin: what a user types in them, and what became of the loop."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from real_agents import clients
from real_agents.clients import CLIENTS, Place, Start
from real_agents.running import LONGEST, Ran, end_all, environment, run

RALPH = Path(sys.executable).with_name("ralph")
_ADDRESS = r"http://127\.0\.0\.1:\d+"


@contextmanager
def _with_hooks(name: str, words: tuple[str, ...]) -> Iterator[None]:
    """Codex calls hooks that nobody has looked at only when told to; the rest is as a user would start it."""
    plain = CLIENTS[name]

    def client(place: Place, session: str) -> Start:
        with _kept(place):
            command, env = plain(place, session)
        if name == "codex":
            command = [*command[:2], "--dangerously-bypass-hook-trust", *command[2:]]
        return Start([*command, *words], {**env, "PATH": path(name, place)})

    CLIENTS[name] = client
    try:
        yield
    finally:
        CLIENTS[name] = plain


@contextmanager
def _kept(place: Place) -> Iterator[None]:
    """A client writes its settings anew for every run; those that were installed into stay as they are."""
    before = {path: path.read_bytes() for path in place.home.glob(".*/*.json")}
    yield
    for path, data in before.items():
        path.write_bytes(data)


def path(name: str, place: Place) -> str:
    """Where programs are found by a user who has put ralph there, and nothing else of ours."""
    there = place.home / "bin"
    there.mkdir(exist_ok=True)
    if not (there / "ralph").is_symlink():
        (there / "ralph").symlink_to(RALPH)
    return f"{there}{os.pathsep}{environment(name, place)['PATH']}"


def install(name: str, place: Place, scope: str = "--user", *words: str) -> None:
    """As a user does it, whose settings are there already."""
    CLIENTS[name](place, "")
    subprocess.run(
        [RALPH, "install", name, scope, *words],
        cwd=place.root,
        env=environment(name, place),
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )


def said(
    name: str,
    place: Place,
    prompt: str,
    session: str = "",
    *,
    kill_after: Path | None = None,
    words: tuple[str, ...] = (),
) -> Ran:
    """One prompt in a session of the agent, until it stops."""
    with _with_hooks(name, words):
        return run(name, place, prompt, session, kill_after=kill_after)


def loops(place: Place) -> list[dict[str, Any]]:
    """Every loop of the project, with its state, the oldest first."""
    found = [json.loads(path.read_bytes()) for path in place.root.glob(".aiwg/ralph/loops/*/state.json")]
    return sorted(found, key=lambda state: str(state.get("started_at")))


def receipt(place: Place) -> dict[str, Any]:
    (path,) = place.root.glob(".aiwg/ralph/loops/*/receipt.json")
    told: dict[str, Any] = json.loads(path.read_bytes())
    return told


class Served:
    """A running `opencode serve`, spoken to as its own clients do."""

    def __init__(self, address: str) -> None:
        self._address = address

    def ask(self, path: str, body: object = None, method: str = "") -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._address + path, data, {"content-type": "application/json"}, method=method or None
        )
        with urllib.request.urlopen(request, timeout=LONGEST) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def session(self) -> str:
        return str(self.ask("/session", {})["id"])

    def say(self, session: str, text: str) -> Any:
        """Returns when the first turn is over; the loop goes on without us."""
        return self.ask(f"/session/{session}/message", {"parts": [{"type": "text", "text": text}]})

    def command(self, session: str, name: str, arguments: str = "") -> Any:
        return self.ask(f"/session/{session}/command", {"command": name, "arguments": arguments})


@contextmanager
def serving(place: Place) -> Iterator[Served]:
    _, env = clients.opencode(place, "")
    with tempfile.TemporaryFile() as printed:
        server = subprocess.Popen(
            ["opencode", "serve", "--hostname", "127.0.0.1", "--port", "0"],
            cwd=place.root,
            env={**environment("opencode", place), **env, "PATH": path("opencode", place)},
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            start_new_session=True,
        )
        try:

            def address() -> str:
                found = re.search(_ADDRESS, os.pread(printed.fileno(), 10_000, 0).decode())
                return found.group() if found else ""

            wait_for(address, "opencode listens")
            yield Served(address())
        finally:
            server.kill()
            server.wait()
            end_all(place)


def wait_for(true: Callable[[], object], what: str, seconds: float = LONGEST) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"it did not come to that: {what}"
        time.sleep(0.05)
