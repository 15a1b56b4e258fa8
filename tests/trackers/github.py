"""The issues of GitHub's REST API on loopback, as far as they are used, and what can go wrong on the way."""

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
PAGE = 100
Fault = Callable[["Handler"], bool]
"""What is done instead of, or before, an answer; true if there is no other answer any more."""


class GitHubServer:
    """One repository, octocat/hello. `faults` are used up, one for each request that they are meant for."""

    def __init__(self, repository: str = "octocat/hello", *, page: int = PAGE) -> None:
        self.repository = repository
        self.page = page
        self.issues: dict[int, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.faults: list[tuple[str, str, Fault]] = []
        self.lock = threading.RLock()
        self._clock = 1_770_000_000
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("_Handler", (Handler,), {"server_state": self}))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def add(self, title: str, *, body: str | None = "", labels: tuple[str, ...] = ("ralph",), **more: Any) -> int:
        """An issue that somebody else has written."""
        with self.lock:
            number = len(self.issues) + 1
            self.issues[number] = {
                "number": number,
                "title": title,
                "body": body,
                "state": "open",
                "state_reason": None,
                "html_url": f"https://github.example/{self.repository}/issues/{number}",
                "labels": [{"name": name} for name in labels],
                "user": {"login": "somebody", "type": "User"},
                "author_association": "NONE",
                "comments_list": [],
                "updated": self.now(),
                **more,
            }
            return number

    def close(self, number: int, reason: str = "completed") -> None:
        self.issues[number] |= {"state": "closed", "state_reason": reason}

    def reopen(self, number: int) -> None:
        self.issues[number] |= {"state": "open", "state_reason": "reopened"}

    def said(self, number: int) -> list[str]:
        return [one["body"] for one in self.issues[number]["comments_list"]]

    def writes(self) -> list[str]:
        return [one for one in self.asked if not one.startswith("GET")]

    def fails(self, method: str, part: str, fault: Fault, *, times: int = 1) -> None:
        self.faults += [(method, part, fault)] * times

    def now(self) -> int:
        return int(time.time())


def answers(status: int, message: str = "no", headers: dict[str, str] | None = None) -> Fault:
    def fault(handler: "Handler") -> bool:
        handler.reply(status, {"message": message}, headers)
        return True

    return fault


def cut(handler: "Handler") -> bool:
    """It is done, and the connection is cut before anybody is told."""
    handler.act(silent=True)
    handler.close_connection = True
    handler.connection.close()
    return True


def slow(seconds: float) -> Fault:
    def fault(_: "Handler") -> bool:
        time.sleep(seconds)
        return False

    return fault


def half(handler: "Handler") -> bool:
    """An answer that breaks off."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'[{"number"')
    handler.close_connection = True
    return True


def endless(handler: "Handler") -> bool:
    """An answer whose length is no number."""
    handler.send_response(200)
    handler.send_header("Content-Length", "much")
    handler.end_headers()
    handler.close_connection = True
    return True


def other(payload: object, headers: dict[str, str]) -> Fault:
    """Another answer than the right one."""

    def fault(handler: "Handler") -> bool:
        handler.reply(200, payload, headers)
        return True

    return fault


class Handler(BaseHTTPRequestHandler):
    server_state: GitHubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def reply(self, status: int, payload: Any, headers: dict[str, str] | None = None) -> None:
        if self._silent:
            return
        data = json.dumps(payload).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _serve(self) -> None:
        self._silent = False
        self._body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
        state = self.server_state
        with state.lock:
            state.asked.append(f"{self.command} {self.path}")
            meant = next((f for f in state.faults if f[0] == self.command and f[1] in self.path), None)
            if meant:
                state.faults.remove(meant)
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.reply(401, {"message": f"Bad credentials: {self.headers.get('Authorization')}"})
            return
        if meant and meant[2](self):
            return
        self.act()

    def act(self, *, silent: bool = False) -> None:
        self._silent = silent
        parts = urlsplit(self.path)
        words = parts.path.strip("/").split("/")
        state = self.server_state
        if "/".join(words[:4]) != f"repos/{state.repository}/issues":
            self.reply(404, {"message": "Not Found"})
            return
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        with state.lock:
            match self.command, words[4:]:
                case "GET", []:
                    self._list(query)
                case "POST", []:
                    self._create()
                case method, [number, *rest]:
                    self._about(method, int(number), rest, query)

    def _list(self, query: dict[str, str]) -> None:
        state = self.server_state
        found = [issue for issue in state.issues.values() if query.get("state", "open") in {issue["state"], "all"}]
        if "labels" in query:
            found = [one for one in found if query["labels"] in {label["name"] for label in one["labels"]}]
        self._paged([self._shown(one) for one in reversed(found)], query)

    def _paged(self, rows: list[Any], query: dict[str, str]) -> None:
        size, page = min(int(query.get("per_page", "30")), self.server_state.page), int(query.get("page", "1"))
        headers = {}
        if len(rows) > page * size:
            others = "&".join(f"{name}={value}" for name, value in query.items() if name != "page")
            where = f"{self.server_state.url}{urlsplit(self.path).path}?{others}&page={page + 1}"
            headers["Link"] = f'<{where}>; rel="next", <{where}9>; rel="last"'
        self.reply(200, rows[(page - 1) * size : page * size], headers)

    def _create(self) -> None:
        state = self.server_state
        if not self._body.get("title", "").strip() or len(self._body["title"]) > 256:
            self.reply(422, {"message": "Validation Failed"})
            return
        number = state.add(
            self._body["title"],
            body=self._body.get("body"),
            labels=tuple(self._body.get("labels", ())),
            author_association="OWNER",
        )
        self.reply(201, self._shown(state.issues[number]))

    def _about(self, method: str, number: int, rest: list[str], query: dict[str, str]) -> None:
        issue = self.server_state.issues.get(number)
        if issue is None:
            self.reply(404, {"message": "Not Found"})
        elif rest == ["comments"] and method == "GET":
            self._paged(issue["comments_list"], query)
        elif rest == ["comments"]:
            issue["comments_list"].append({"body": self._body["body"]})
            self.reply(201, issue["comments_list"][-1])
        elif method == "GET":
            self.reply(200, self._shown(issue))
        else:
            issue |= {
                name: self._body[name] for name in ("title", "body", "state", "state_reason") if name in self._body
            }
            self.reply(200, self._shown(issue))

    def _shown(self, issue: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in issue.items() if name not in {"comments_list", "updated"}}
