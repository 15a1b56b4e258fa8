"""Four loops with one login whose tokens can be used once: afterwards the user is still logged in."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agents.actor import Actor, lend

LOOPS = 4
TURNS = 4
USES = 3
"""How often a token can be used before it has expired."""

AGENT = """#!PYTHON
import json, os, pathlib, sys, time, urllib.error, urllib.request

path = pathlib.Path(os.environ["CLAUDE_CONFIG_DIR"], ".credentials.json")

def ask(what, token):
    try:
        with urllib.request.urlopen("http://127.0.0.1:PORT/" + what, data=token.encode(), timeout=20) as answer:
            return json.load(answer)
    except urllib.error.HTTPError:
        return None

def turn():
    until = time.monotonic() + 50
    while time.monotonic() < until:
        try:
            login = json.loads(path.read_text())
        except ValueError:
            continue
        if ask("use", login["oauth"]["accessToken"]) is not None:
            return
        renewed = ask("renew", login["oauth"]["refreshToken"])
        if renewed:
            with path.open("w") as file:  # as the agents do: first it is empty, then it is there
                time.sleep(0.01)
                json.dump({**login, "oauth": renewed}, file)
        time.sleep(0.02)
    sys.exit("logged out")

for _ in range(TURNS):
    turn()
print(json.dumps({"type": "system", "subtype": "init", "session_id": "s", "model": "m"}))
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "worked"}))
"""

LOOP = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from agents.stage import Stage
from untilproven.agents.adapter import Asked
from untilproven.agents.factory import adapter_of
from untilproven.agents.known import KnownAgent

directory = Path(sys.argv[2])
directory.mkdir()
stage = Stage(directory)
print(stage.play(KnownAgent(adapter_of("claude"), Asked(), stage.root)).said)
"""


class _Provider(BaseHTTPRequestHandler):
    """Knows one pair of tokens; whoever renews gets the next, and the one before is worth nothing."""

    server: "_Server"

    def do_POST(self) -> None:
        token = self.rfile.read(int(self.headers["content-length"])).decode()
        with self.server.lock:
            answer = self.server.answer(self.path, token)
        body = json.dumps(answer).encode()
        self.send_response(200 if answer is not None else 401)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  so it is called there
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Provider)
        self.lock = threading.Lock()
        self.number, self.uses = 1, 0

    @property
    def pair(self) -> dict[str, object]:
        return {"accessToken": f"a{self.number}", "refreshToken": f"r{self.number}", "expiresAt": self.number}

    def answer(self, path: str, token: str) -> dict[str, object] | None:
        if path == "/use" and token == f"a{self.number}" and self.uses < USES:
            self.uses += 1
            return {}
        if path == "/renew" and token == f"r{self.number}":
            self.number, self.uses = self.number + 1, 0
            return self.pair
        return None


@pytest.fixture
def provider() -> Iterator[_Server]:
    with _Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_four_loops_do_not_log_each_other_or_the_user_out(
    provider: _Server, actor: Actor, own_home: Path, tmp_path: Path
) -> None:
    users = lend(own_home / ".claude/.credentials.json", json.dumps({"account": "me", "oauth": provider.pair}))
    program = actor.plays("claude")
    script = AGENT.replace("PYTHON", sys.executable).replace("PORT", str(provider.server_port))
    program.write_text(script.replace("TURNS", str(TURNS)))
    tests = str(Path(__file__).parents[1])
    loops = [
        subprocess.Popen(
            [sys.executable, "-c", LOOP, tests, str(tmp_path / f"loop{number}")], stdout=subprocess.PIPE, text=True
        )
        for number in range(LOOPS)
    ]
    said = [loop.communicate(timeout=60)[0] for loop in loops]
    assert said == ["worked\n"] * LOOPS
    assert provider.number > LOOPS * TURNS // USES - 1
    assert json.loads(users.read_text()) == {"account": "me", "oauth": provider.pair}
    assert not list(own_home.rglob(".local/**/.credentials.json"))
