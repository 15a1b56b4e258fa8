"""Every wire format says the same, whole and in pieces."""

import http.client
import json
import socket
import time
from urllib.parse import urlsplit

import pytest

from models.asking import CONVERSATIONS, FORMATS, TOOLS, Format, ask, heard, send
from models.script import Bash, Failure, Turn, Usage, Write
from models.server import ModelServer

each = pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
both = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
BUSY = Turn(
    say="I write, then look.",
    calls=(Write(write="a/ü.txt", content='"q"\n'), Bash(bash="ls -l")),
    usage=Usage(input=10, cached=200, written=3000, output=40, reasoning=5),
)
USAGE = {
    "anthropic": {
        "input_tokens": 10,
        "cache_read_input_tokens": 200,
        "cache_creation_input_tokens": 3000,
        "output_tokens": 40,
    },
    "chat": {
        "prompt_tokens": 3210,
        "completion_tokens": 40,
        "total_tokens": 3250,
        "prompt_tokens_details": {"cached_tokens": 200},
        "completion_tokens_details": {"reasoning_tokens": 5},
    },
    "responses": {
        "input_tokens": 3210,
        "input_tokens_details": {"cached_tokens": 200},
        "output_tokens": 40,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 3250,
    },
    "gemini": {
        "promptTokenCount": 3210,
        "candidatesTokenCount": 35,
        "thoughtsTokenCount": 5,
        "totalTokenCount": 3250,
        "cachedContentTokenCount": 200,
    },
}
ENDED = {
    "anthropic": ("tool_use", "end_turn", "refusal"),
    "chat": ("tool_calls", "stop", "refusal"),
    "responses": ("completed", "completed", "refusal"),
    "gemini": ("STOP", "STOP", "SAFETY"),
}


@each
@both
def test_words_calls_and_usage_arrive(form: Format, stream: bool) -> None:
    with ModelServer({"x": [BUSY, Turn(say="Done."), Turn(say="No.", refused=True)]}) as server:
        first, second, third = (heard(form, server.url("x"), stream=stream) for _ in range(3))
    calling, ending, refusing = ENDED[form.name]
    assert first.text == "I write, then look."
    assert first.calls == [
        ("write_file", {"path": "a/ü.txt", "content": '"q"\n'}),
        ("shell", {"command": "ls -l"}),
    ]
    assert first.usage == USAGE[form.name]
    assert first.ended == calling
    assert (second.text, second.calls, second.ended) == ("Done.", [], ending)
    assert (third.text, third.calls, third.ended) == ("No.", [], refusing)


@each
def test_a_request_is_remembered_as_what_it_means(form: Format) -> None:
    with ModelServer({"x": [Turn(say="Yes.")]}) as server:
        ask(form, server.url("x"), "fix the ünicode")
        (request,) = server.turns("x")
    assert request.prompt == "fix the ünicode"
    assert request.asked
    assert request.asked.model == "m"
    assert request.asked.system.strip() == "be good"
    assert list(request.asked.tools) == ["write_file", "shell"]
    assert request.headers["x-api-key"] == "k"
    assert request.steps == (Turn(say="Yes."),)


@each
def test_a_conversation_is_understood_by_its_roles(form: Format) -> None:
    with ModelServer({"x": [Turn(say="Yes.")]}) as server:
        send(server.url("x") + form.path(True), {**form.body("", TOOLS, True), **CONVERSATIONS[form.name]})
        (request,) = server.turns("x")
    assert request.asked
    assert "a reminder" in request.asked.system
    assert request.asked.words("user").strip() == "the task"
    assert request.asked.words("assistant").strip() == "I look."
    assert "a.txt" in request.asked.words("tool")
    assert {message.role for message in request.asked.messages} == {"user", "assistant", "tool"}


KINDS = {
    "anthropic": "authentication_error",
    "chat": "invalid_request_error",
    "responses": "invalid_request_error",
    "gemini": "UNAUTHENTICATED",
}


@each
def test_failures_have_their_status_and_the_providers_body(form: Format) -> None:
    steps = [Failure(fail="unauthorized"), Failure(fail="broken"), Failure(fail="overloaded"), Failure(fail="too_long")]
    with ModelServer({"x": steps}) as server:
        replies = [ask(form, server.url("x")) for _ in steps]
    overloaded = 529 if form.name == "anthropic" else 503
    assert [reply.status for reply in replies] == [401, 500, overloaded, 400]
    error = replies[0].json["error"]
    assert KINDS[form.name] in {error.get("type"), error.get("status")}
    assert all(reply.json["error"]["message"] for reply in replies)


@each
def test_a_rate_limit_says_when_to_come_back(form: Format) -> None:
    with ModelServer({"x": [Failure(fail="rate_limit", retry_after=7), Turn(say="Now.")]}) as server:
        reply = ask(form, server.url("x"))
        assert (reply.status, reply.headers["retry-after"]) == (429, "7")
        assert heard(form, server.url("x")).text == "Now."


def test_a_usage_limit_says_when_it_ends_in_the_providers_way() -> None:
    at = int(time.time()) + 3600
    with ModelServer({"x": [Failure(fail="usage_limit", resets_at=at)] * 4}) as server:
        claude, chat, codex, gemini = (ask(form, server.url("x")) for form in FORMATS)
    assert {claude.status, chat.status, codex.status, gemini.status} == {429}
    assert claude.headers["anthropic-ratelimit-unified-status"] == "rejected"
    assert claude.headers["anthropic-ratelimit-unified-reset"] == str(at)
    assert chat.json["error"]["code"] == "insufficient_quota"
    assert codex.json["error"]["type"] == "usage_limit_reached"
    assert codex.json["error"]["resets_at"] == at
    assert 3590 <= codex.json["error"]["resets_in_seconds"] <= 3600
    assert "PerDay" in gemini.json["error"]["details"][0]["violations"][0]["quotaId"]


@each
@both
def test_a_cut_answer_breaks_in_the_middle(form: Format, stream: bool) -> None:
    with (
        ModelServer({"x": [Turn(say="These words are not all said.", fault="cut")]}) as server,
        pytest.raises(http.client.IncompleteRead) as caught,
    ):
        ask(form, server.url("x"), stream=stream)
    assert caught.value.partial


@each
def test_a_dropped_connection_says_nothing(form: Format) -> None:
    with ModelServer({"x": [Turn(fault="dropped")]}) as server, pytest.raises(http.client.RemoteDisconnected):
        ask(form, server.url("x"))


@each
@pytest.mark.parametrize("fault", ["silent", "hung"])
def test_a_hang_lasts_until_the_client_has_gone(form: Format, fault: str) -> None:
    with ModelServer({"x": [Turn(say="Some words, later.", fault=fault), Turn(say="Next.")]}) as server:  # type: ignore[arg-type]  # a parameter is no literal
        connection = _begun(form, server.url("x"))
        received = _all_that_comes_in(connection, 0.5)
        connection.close()
        assert (b"200 OK" in received) == (fault == "hung")
        assert heard(form, server.url("x")).text == "Next."


def test_a_hang_ends_with_the_server() -> None:
    with ModelServer({"x": [Turn(fault="silent")]}) as server:
        connection = _begun(FORMATS[0], server.url("x"))
        deadline = time.monotonic() + 20
        while not server.turns("x"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    connection.settimeout(5)
    assert connection.recv(1) == b""
    connection.close()


def _begun(form: Format, url: str) -> socket.socket:
    """A connection over which a question has been sent, and nothing been read."""

    parts = urlsplit(url + form.path(True))
    data = json.dumps(form.body("go", TOOLS, True)).encode()
    connection = socket.create_connection((parts.hostname, parts.port or 0), timeout=20)
    head = f"POST {parts.path}?{parts.query} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(data)}\r\n\r\n"
    connection.sendall(head.encode() + data)
    return connection


def _all_that_comes_in(connection: socket.socket, quiet: float) -> bytes:
    """What arrives until nothing has for a while. The connection must still be open then."""
    connection.settimeout(quiet)
    received = b""
    while True:
        try:
            more = connection.recv(65536)
        except TimeoutError:
            return received
        assert more, "the connection was closed"
        received += more
