"""One request to GitHub, over HTTP with a token or through the `gh` program, and what came back."""

import http.client
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, cast
from urllib.parse import urlsplit

import msgspec

from untilproven.core.redaction import Redaction
from untilproven.errors import ConfigError
from untilproven.queue.trackers import programs
from untilproven.queue.trackers.contract import Off, Unclear
from untilproven.store import files

API = "https://api.github.com"
LARGEST = 32 * files.MIB
SECONDS = 20.0
"""The most that one answer may take, from the first byte that is sent to the last that is read."""
_CHUNK = 64 * 1024
_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Answer(msgspec.Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""
    data: bytes


class Line(Protocol):
    """A way to GitHub. `send` raises `Off` if nothing was asked, and `Unclear` if the answer got lost."""

    @property
    def base(self) -> str: ...

    def send(self, method: str, path: str, body: bytes = b"") -> Answer: ...

    def clean(self, text: str) -> str:
        """A text of the server's without our token, should it say it."""


def base_of(env: Mapping[str, str]) -> str:
    """Where the API is. Never from a project's file: a token goes there."""
    base = (env.get("RALPH_GITHUB_URL") or env.get("GITHUB_API_URL") or API).rstrip("/")
    parts = urlsplit(base)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise ConfigError(
            "RALPH_GITHUB_URL must begin with https://", hint="for example: RALPH_GITHUB_URL=https://HOST/api/v3"
        )
    return base


def choose(env: Mapping[str, str], root: Path, seconds: float) -> Line:
    """With a token if there is one; else through `gh`, if it is logged in."""
    base = base_of(env)
    for name in ("RALPH_GITHUB_TOKEN", "GITHUB_TOKEN"):
        if token := env.get(name, "").strip():
            if not re.fullmatch(r"[\x21-\x7e]+", token):
                raise ConfigError(f"{name} is not a token: it has characters that none has", hint=f"set {name} again")
            return Web(base, token, seconds)
    gh = programs.located("gh", root)
    if gh:
        line = Gh(base, gh, root, seconds)
        if line.logged_in():
            return line
    raise Off(
        "nobody is logged in to GitHub here",
        hint="set RALPH_GITHUB_TOKEN, or log in with `gh auth login`" if gh else "set RALPH_GITHUB_TOKEN",
    )


def _opener() -> urllib.request.OpenerDirector:
    """It gives every answer as it is, and follows none elsewhere: a token must not be carried to another place."""
    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler, urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
        opener.add_handler(handler())
    return opener


class Web:
    """The REST API."""

    def __init__(self, base: str, token: str, seconds: float = SECONDS) -> None:
        self.base = base
        self._token = token
        self._redaction = Redaction({"token": token})
        self._seconds = seconds
        self._opener = _opener()

    def clean(self, text: str) -> str:
        return self._redaction.text(text).replace(self._token, "[token]")

    def send(self, method: str, path: str, body: bytes = b"") -> Answer:
        until = time.monotonic() + self._seconds
        request = urllib.request.Request(  # noqa: S310  base_of has looked at its scheme
            self.base + path, data=body or None, headers={**_HEADERS, "User-Agent": "untilproven"}, method=method
        )
        request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        if body:
            request.add_header("Content-Type", "application/json")
        try:
            opened = self._opener.open(request, timeout=self._seconds)
            with cast("http.client.HTTPResponse", opened) as response:
                data = self._read(response, until)
                headers = {name.lower(): value for name, value in response.headers.items()}
                return Answer(response.status, headers, data)
        except urllib.error.URLError as error:
            raise self._unreached(error.reason) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unclear(f"the answer of {self._host} got lost: {self._said(error)}", hint="sync again") from None

    def _read(self, response: http.client.HTTPResponse, until: float) -> bytes:
        parts, size = [], 0
        while part := response.read1(_CHUNK):  # what is there: a slow one must not hold us beyond its time
            parts.append(part)
            size += len(part)
            if size > LARGEST:
                raise Unclear(f"{self._host} sent more than {LARGEST // files.MIB} MiB", hint="sync again")
            if time.monotonic() > until:
                raise TimeoutError(f"it took longer than {self._seconds:g} s")
        if size < int(response.headers.get("Content-Length") or 0):
            raise ConnectionError("the connection was cut")
        return b"".join(parts)

    def _unreached(self, reason: object) -> Off | Unclear:
        """A connection that never came about has carried nothing."""
        said = f"{self._host} cannot be reached: {self._said(reason)}"
        if isinstance(reason, ConnectionRefusedError | socket.gaierror):
            return Off(said, hint="check the network, then sync again")
        return Unclear(said, hint="sync again")

    def _said(self, error: object) -> str:
        return self.clean(str(error) or type(error).__name__)

    @property
    def _host(self) -> str:
        return urlsplit(self.base).hostname or self.base


class Gh:
    """The `gh` program, which has its own login."""

    def __init__(self, base: str, program: str, root: Path, seconds: float = SECONDS) -> None:
        self.base = base
        self._program = program
        self._root = root
        self._seconds = seconds
        self._host = "github.com" if base == API else urlsplit(base).netloc

    def clean(self, text: str) -> str:
        return text

    def logged_in(self) -> bool:
        return self._run(["auth", "status", "--hostname", self._host]).code == 0

    def send(self, method: str, path: str, body: bytes = b"") -> Answer:
        words = ["api", "--include", "--hostname", self._host, "--method", method]
        words += [
            part for name, value in _HEADERS.items() if name != "User-Agent" for part in ("-H", f"{name}: {value}")
        ]
        words += ["--input", "-"] if body else []
        ended = self._run([*words, path.lstrip("/")], body)
        head, found, data = re.sub(rb"\r\n\r\n", b"\n\n", ended.output, count=1).partition(b"\n\n")
        status = re.match(rb"HTTP/[\d.]+ (\d{3})", head)
        if not (found and status):
            raise Unclear(f"gh gave no answer: {ended.said or f'it ended with {ended.code}'}", hint="gh auth status")
        pairs = (line.partition(b":") for line in head.splitlines()[1:])
        headers = {name.decode("latin-1").lower(): value.decode("latin-1").strip() for name, _, value in pairs}
        return Answer(int(status[1]), headers, data)

    def _run(self, words: list[str], stdin: bytes = b"") -> programs.Ended:
        env = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1", "GH_PAGER": "cat"}
        return programs.run(self._program, words, root=self._root, seconds=self._seconds, stdin=stdin, env=env)
