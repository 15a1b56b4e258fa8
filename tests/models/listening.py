"""Who answers on the network: reads a request, has it answered from the script, and breaks off where it says so."""

import gzip
import json
import select
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import urlsplit

from models import anthropic, chat, gemini, responses, tools
from models.play import Play, Request
from models.script import Failure, Step, Turn
from models.wire import Answer, Asked, Json, Wire

_WIRES: Mapping[str, Wire] = {
    "/messages": anthropic,
    "/chat/completions": chat,
    "/responses": responses,
    ":generateContent": gemini,
    ":streamGenerateContent": gemini,
}


class Listener(ThreadingHTTPServer):
    daemon_threads = False  # they are waited for, so that nothing is left when the server has ended
    request_queue_size = 128

    def __init__(self, port: int, play: Play) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.play = play
        self.broken: list[str] = []
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        if not isinstance(sys.exception(), ConnectionError):  # clients may go at any time
            self.broken.append(traceback.format_exc())

    def end(self) -> None:
        self.shutdown()
        for one in list(self._open):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Listener

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        pass

    def do_HEAD(self) -> None:
        self._other()

    def do_GET(self) -> None:
        self._other()

    def do_POST(self) -> None:
        body = self._body()
        conversation, path = self._place()
        wire = next((wire for end, wire in _WIRES.items() if path.endswith(end)), None)
        if wire is None or not self.server.play.has(conversation):
            self._other(body)
            return
        asked = wire.asked(path, body)
        if not tools.wants_work(asked):
            self._remember(body, asked, note="on the side")
            text = "On the side" if asked.shape is None else json.dumps(tools.example(asked.shape))
            self._deliver(wire, asked, Answer(text))
            return
        steps = self.server.play.take(conversation, whole=tools.edits_text(asked))
        self._remember(body, asked, steps, note="" if steps else "the script had ended")
        self._play(wire, asked, steps)

    def _play(self, wire: Wire, asked: Asked, steps: Sequence[Step]) -> None:
        if not steps:
            self._json({"error": {"type": "script_ended", "message": "the script has ended"}}, HTTPStatus.BAD_REQUEST)
            return
        if isinstance(steps[-1], Failure):
            refusal = wire.refusal(steps[-1])
            self._json(refusal.body, refusal.status, refusal.headers)
            return
        turns = cast("Sequence[Turn]", steps)
        try:
            answer = tools.answer(asked, turns)
        except tools.NoTool as error:
            self.server.broken.append(str(error))
            self._json({"error": {"type": "script_does_not_fit", "message": str(error)}}, HTTPStatus.BAD_REQUEST)
        else:
            self._deliver(wire, asked, answer, turns[-1].fault)

    def _deliver(self, wire: Wire, asked: Asked, answer: Answer, fault: str = "") -> None:
        if fault in {"dropped", "silent"}:
            self._stop(quiet=fault == "silent")
            return
        parts = list(wire.stream(asked, answer)) if asked.stream else [json.dumps(wire.whole(asked, answer)).encode()]
        self.send_response(HTTPStatus.OK)
        self.send_header("content-type", "text/event-stream" if asked.stream else "application/json")
        if asked.stream:
            self.send_header("transfer-encoding", "chunked")
            parts = [b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""]]
        else:
            self.send_header("content-length", str(len(parts[0])))
            parts = [parts[0][: len(parts[0]) // 2], parts[0][len(parts[0]) // 2 :]]
        self.end_headers()
        for part in parts[: len(parts) // 2] if fault else parts:
            self.wfile.write(part)
            self.wfile.flush()
        if fault:
            self._stop(quiet=fault == "hung")

    def _stop(self, *, quiet: bool) -> None:
        """End the connection; or say nothing more until the client or the server has closed it."""
        self.close_connection = True
        if quiet:
            select.select([self.connection], [], [])  # a client that waits for an answer sends nothing else

    def _other(self, body: Any = None) -> None:
        """What clients ask for besides an answer."""
        conversation, path = self._place()
        self._remember(body, note="no question for the model")
        if not self.server.play.has(conversation):
            known = f"there is no conversation {conversation!r}"
            self._json({"error": {"type": "not_found", "message": known}}, HTTPStatus.NOT_FOUND)
        elif path.endswith("/count_tokens"):
            self._json({"input_tokens": 100})
        elif path.endswith(":countTokens"):
            self._json({"totalTokens": 100})
        elif path.endswith("/models"):
            self._json(_MODELS)
        elif self.command == "HEAD":
            self._json({})
        else:
            self._json({"error": {"type": "not_found", "message": f"nothing at {path}"}}, HTTPStatus.NOT_FOUND)

    def _place(self) -> tuple[str, str]:
        conversation, _, rest = urlsplit(self.path).path.removeprefix("/").partition("/")
        return conversation, f"/{rest}"

    def _remember(self, body: Any, asked: Asked | None = None, steps: tuple[Step, ...] = (), *, note: str) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        conversation, _ = self._place()
        self.server.play.remember(Request(conversation, self.command, self.path, headers, body, asked, steps, note))

    def _body(self) -> Any:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.headers.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        try:
            return json.loads(data or b"{}")
        except ValueError:
            return data.decode("latin-1")  # something of a client's own, such as telemetry

    def _json(self, body: Json, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {
            "content-type": "application/json",
            "content-length": str(len(data)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


_MODELS: Json = {
    "object": "list",
    "data": [{"id": "scripted", "object": "model", "display_name": "scripted"}],
    "models": [],  # where Gemini and codex look
}
