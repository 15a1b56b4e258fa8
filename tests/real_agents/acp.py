"""A plain client of the Agent Client Protocol: JSON-RPC, one message a line, every permission given."""

import json
import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from real_agents.clients import CLIENTS, Place
from real_agents.install import TOOLS
from real_agents.running import LONGEST, end_all, environment

Json = dict[str, Any]
COMMANDS = {
    "claude": ["claude-agent-acp"],
    "codex": ["codex-acp"],
    "opencode": ["opencode", "acp"],
    "gemini": ["gemini", "--acp", "--yolo", "-m", "gemini-2.5-flash"],
    "qwen": ["qwen", "--acp", "--yolo"],
}
"""How each agent is started to speak it: by itself, or by an adapter that brings its own copy of the agent."""


class Connection:
    """One agent that speaks the protocol, and all that it has told."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._said: queue.Queue[Json | None] = queue.Queue()
        self._last = 0
        self.told: list[Json] = []
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._said.put(json.loads(line))
        self._said.put(None)

    def close(self) -> None:
        self._thread.join()

    def call(self, method: str, **params: Any) -> Any:
        """The result of a call. What the agent tells or asks meanwhile is kept or answered."""
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        while (message := self._said.get(timeout=LONGEST)) is not None:
            if message.get("id") == self._last and "method" not in message:
                assert "result" in message, message
                return message["result"]
            self.told.append(message)
            if "id" in message:
                self._answer(message)
        raise AssertionError(f"the agent has ended instead of answering {method}")

    def _answer(self, message: Json) -> None:
        if message["method"] != "session/request_permission":
            error = {"code": -32601, "message": f"there is no {message['method']} here"}
            self._send({"id": message["id"], "error": error})
            return
        options = message["params"]["options"]
        allowed = next(option for option in options if option["kind"].startswith("allow"))
        outcome = {"outcome": "selected", "optionId": allowed["optionId"]}
        self._send({"id": message["id"], "result": {"outcome": outcome}})

    def _send(self, message: Json) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    @property
    def words(self) -> str:
        chunks = [one["params"]["update"] for one in self.told if one["method"] == "session/update"]
        return "".join(one["content"]["text"] for one in chunks if one["sessionUpdate"] == "agent_message_chunk")


@contextmanager
def connected(name: str, place: Place) -> Iterator[Connection]:
    _, env = CLIENTS[name](place, "")
    program, *words = COMMANDS[name]
    process = subprocess.Popen(
        [str(TOOLS[program].command), *words],
        cwd=place.root,
        env={**environment(name, place), **env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    with process:
        connection = Connection(process)
        try:
            yield connection
        finally:
            process.kill()
            end_all(place)
            connection.close()
