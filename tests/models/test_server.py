"""The server: who gets which turn, what it remembers, how it is started and how it ends."""

import gzip
import http.client
import json
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from models.asking import FORMATS, TOOLS, Format, Json, ask, heard, send
from models.script import Bash, Failure, Read, Step, Tool, Turn, Write, load
from models.server import ModelServer

ANTHROPIC, CHAT, RESPONSES, GEMINI = FORMATS
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "score": {"type": "integer", "minimum": 1},
        "kind": {"enum": ["x", "y"]},
        "other": {"type": "string"},
    },
    "required": ["title", "score", "kind"],
}


def test_each_conversation_has_its_own_turns() -> None:
    with ModelServer({"a": [Turn(say="A1"), Turn(say="A2")], "b": [Turn(say="B1")]}) as server:
        assert heard(CHAT, server.url("a")).text == "A1"
        assert heard(GEMINI, server.url("b")).text == "B1"
        assert server.left("a") == [Turn(say="A2")]
        assert heard(ANTHROPIC, server.url("a")).text == "A2"
        server.extend("b", Turn(say="B2"))
        assert heard(CHAT, server.url("b")).text == "B2"
        assert [request.path for request in server.turns("a")] == [
            "/a/v1/chat/completions?",
            "/a/v1/messages?beta=true",
        ]


def test_a_script_that_has_ended_is_an_error_and_says_so() -> None:
    with ModelServer({"a": []}) as server:
        reply = ask(CHAT, server.url("a"))
        assert reply.status == 400
        assert "script has ended" in reply.text
        assert [request.note for request in server.requests] == ["the script had ended"]
        assert server.turns("a") == []


def test_what_is_asked_on_the_side_takes_no_turn() -> None:
    with ModelServer({"a": [Turn(say="A1")]}) as server:
        for form in FORMATS:
            reply = ask(form, server.url("a"), tools={})
            assert form.hear(reply.events).text == "On the side"
        assert server.left("a") == [Turn(say="A1")]
        assert {request.note for request in server.requests} == {"on the side"}


def test_what_is_asked_on_the_side_has_the_shape_that_is_asked_for() -> None:
    shaped: dict[Format, Json] = {
        ANTHROPIC: {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        CHAT: {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}},
        RESPONSES: {"text": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        GEMINI: {"generationConfig": {"responseJsonSchema": SCHEMA}},
    }
    with ModelServer({"a": []}) as server:
        for form, more in shaped.items():
            reply = send(server.url("a") + form.path(False), {**form.body("go", {}, False), **more})
            assert json.loads(form.whole(reply.json).text) == {"title": "scripted", "score": 1, "kind": "x"}


def test_what_clients_ask_for_at_their_start() -> None:
    with ModelServer({"a": []}) as server:
        url = server.url("a")
        assert send(f"{url}/v1/models", method="GET").json["data"][0]["id"] == "scripted"
        assert send(url, method="HEAD").status == 200
        assert send(f"{url}/v1/messages/count_tokens", {}).json == {"input_tokens": 100}
        assert send(f"{url}/v1beta/models/m:countTokens", {}).json == {"totalTokens": 100}
        assert send(f"{url}/api/whatever", method="GET").status == 404
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{url}/telemetry", b"\xff no JSON", timeout=20)
        assert send(server.url("b") + "/v1/messages", {}).status == 404
        assert [request.method for request in server.requests] == ["GET", "HEAD", "POST", "POST", "GET", "POST", "POST"]


def test_a_body_may_be_compressed_or_in_chunks() -> None:
    body = json.dumps(CHAT.body("squeezed", TOOLS, False)).encode()
    with ModelServer({"a": [Turn(say="A1"), Turn(say="A2")]}) as server:
        url = server.url("a") + CHAT.path(False)
        packed = urllib.request.Request(url, gzip.compress(body), {"content-encoding": "gzip"})
        chunked = urllib.request.Request(url, iter([body[:9], body[9:]]), {"transfer-encoding": "chunked"})
        for request in (packed, chunked):
            with urllib.request.urlopen(request, timeout=20) as response:
                assert response.status == 200
        assert [request.prompt for request in server.turns("a")] == ["squeezed", "squeezed"]


def test_many_clients_at_once_get_one_turn_each() -> None:
    said: list[str] = []
    with ModelServer({"a": [Turn(say=str(number)) for number in range(40)]}) as server:
        threads = [threading.Thread(target=lambda: said.append(heard(CHAT, server.url("a")).text)) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(int, said)) == list(range(40))
        assert len(server.turns("a")) == 40


def test_a_bug_of_the_server_fails_the_test_that_uses_it() -> None:
    with (
        pytest.raises(AssertionError, match=r"(?s)the model server failed:.*KeyError"),
        ModelServer({"a": [Turn(say="A1")]}) as server,
        pytest.raises(ConnectionError),
    ):
        send(server.url("a") + "/v1/messages", {"messages": [{"no": "role"}], "tools": []})


SHELL = {"type": "object", "properties": {"cmd": {"type": "string"}}}


def calls(tools: dict[str, object], *steps: Write | Read | Bash | Tool, prompt: str = "go") -> object:
    with ModelServer({"a": [Turn(calls=steps)]}) as server:
        reply = ask(CHAT, server.url("a"), prompt, tools=tools, stream=False)  # type: ignore[arg-type]  # any JSON
        return CHAT.whole(reply.json).calls


def test_who_has_only_a_shell_writes_and_reads_with_it(tmp_path: Path) -> None:
    content = "it's\n$HOME `x`\n"
    made = calls({"exec_command": SHELL}, Write(write="a b/c.txt", content=content), Read(read="a b/c.txt"))
    assert isinstance(made, list)
    printed = [
        subprocess.run(["bash", "-c", call[1]["cmd"]], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for call in made
    ]
    assert (tmp_path / "a b" / "c.txt").read_text() == content
    assert printed == ["", content]


def test_a_shell_may_take_a_list_and_needs_may_be_filled_in() -> None:
    many = {"type": "object", "properties": {"command": {"type": "array"}}}
    assert calls({"shell": many}, Bash(bash="ls")) == [("shell", {"command": ["bash", "-c", "ls"]})]
    properties = {"command": {"type": "string"}, "is_background": {"type": "boolean"}, "note": {"type": "string"}}
    needy = {"type": "object", "properties": properties, "required": ["command", "is_background"]}
    assert calls({"run_shell_command": needy}, Bash(bash="ls")) == [
        ("run_shell_command", {"command": "ls", "is_background": False})
    ]


def test_who_wants_a_whole_path_gets_the_one_of_where_it_works() -> None:
    path = {"type": "string", "description": "an absolute path"}
    write = {"type": "object", "properties": {"file_path": path, "content": {"type": "string"}}}
    prompt = "I'm currently working in the directory: /some/where\nDo it."
    made = calls({"write_file": write}, Write(write="a.txt"), Write(write="/b.txt"), prompt=prompt)
    assert made == [
        ("write_file", {"file_path": "/some/where/a.txt", "content": ""}),
        ("write_file", {"file_path": "/b.txt", "content": ""}),
    ]


def test_a_tool_can_be_named_as_the_client_names_it() -> None:
    named = Tool(tool="todo", arguments={"items": [1]})
    assert calls({"shell": SHELL, "todo": {}}, named) == [("todo", {"items": [1]})]


@pytest.mark.parametrize(
    ("tools", "step", "message"),
    [
        ({"read_file": {}}, Bash(bash="ls"), "no tool to run a command; it has read_file"),
        ({"shell": SHELL}, Tool(tool="todo"), "no tool todo; it has shell"),
        (
            {"write": {"properties": {"path": {"description": "absolute"}}}},
            Write(write="a"),
            "does not say where it works",
        ),
    ],
)
def test_a_script_that_does_not_fit_the_client_fails_the_test(
    tools: dict[str, object], step: Write | Bash | Tool, message: str
) -> None:
    replies = []
    with pytest.raises(AssertionError, match=message), ModelServer({"a": [Turn(calls=(step,))]}) as server:
        replies.append(ask(CHAT, server.url("a"), tools=tools))  # type: ignore[arg-type]  # any JSON
    assert [reply.status for reply in replies] == [400]
    assert message in replies[0].text


@pytest.mark.parametrize(
    ("system", "edit"),
    [
        ("Use *SEARCH/REPLACE* blocks.", "a.txt\n```\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n```"),
        ("Return a *file listing*.", "a.txt\n```\nx\n```"),
    ],
)
def test_who_has_no_tools_finds_all_edits_in_one_answer(system: str, edit: str) -> None:
    turns = [Turn(calls=(Write(write="a.txt", content="x\n"),)), Turn(say="Done."), Turn(say="Next.")]
    body = {**CHAT.body("go", {}, False), "messages": [{"role": "system", "content": system}]}
    with ModelServer({"a": turns}) as server:
        reply = send(server.url("a") + CHAT.path(False), body)
        assert CHAT.whole(reply.json).text == f"{edit}\n\nDone."
        assert server.left("a") == turns[2:]


def test_who_has_no_tools_still_gets_one_failure_at_a_time() -> None:
    turns: list[Step] = [Turn(calls=(Write(write="a.txt"),)), Failure(fail="broken")]
    body = {**CHAT.body("go", {}, False), "messages": [{"role": "system", "content": "a *file listing*"}]}
    with ModelServer({"a": turns}) as server:
        assert [send(server.url("a") + CHAT.path(False), body).status for _ in range(3)] == [200, 500, 400]
        assert [request.note for request in server.requests] == ["", "", "the script had ended"]


SCRIPT = """
[[fix]]
say = "I do."
calls = [{ write = "a", content = "1" }, { bash = "ls" }, { read = "a" }, { tool = "t", arguments = { x = 1 } }]
usage = { input = 5, output = 6 }
[[fix]]
fail = "rate_limit"
retry_after = 1
[[fix]]
say = "half"
fault = "cut"
"""


def test_a_script_can_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCRIPT)
    first, second, third = load(tmp_path / "s.toml")["fix"]
    assert isinstance(first, Turn)
    assert first.calls == (
        Write(write="a", content="1"),
        Bash(bash="ls"),
        Read(read="a"),
        Tool(tool="t", arguments={"x": 1}),
    )
    assert (first.usage.input, first.usage.output) == (5, 6)
    assert (second, third) == (Failure(fail="rate_limit", retry_after=1), Turn(say="half", fault="cut"))
    (tmp_path / "s.json").write_text(json.dumps({"x": [{"say": "hi"}]}))
    assert load(tmp_path / "s.json") == {"x": [Turn(say="hi")]}


@pytest.mark.parametrize("turn", ['sya = "x"', 'fail = "often"', "calls = [{ fly = 1 }]", 'fault = "bent"'])
def test_a_script_with_a_mistake_is_refused(tmp_path: Path, turn: str) -> None:
    (tmp_path / "s.toml").write_text(f"[[x]]\n{turn}\n")
    with pytest.raises(SystemExit, match=r"s\.toml: "):
        load(tmp_path / "s.toml")


def test_it_can_be_started_outside_of_a_test(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('[[x]]\nsay = "From a file."\n')
    program = [sys.executable, "-m", "models", "s.toml", "--log", "log"]
    path = str(Path(__file__).parents[1])
    with subprocess.Popen(
        program, cwd=tmp_path, env={"PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            name, url = process.stdout.readline().split()
            assert name == "x"
            assert heard(CHAT, url).text == "From a file."
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    (line,) = (tmp_path / "log").read_text().splitlines()
    remembered = json.loads(line)
    assert remembered["path"] == "/x/v1/chat/completions?"
    assert remembered["body"]["messages"][-1]["content"] == "go"
    assert remembered["steps"] == [{"say": "From a file."}]


def test_idle_connections_do_not_keep_it_from_ending() -> None:
    with ModelServer({"a": []}) as server:
        host = server.url("a").removeprefix("http://").partition("/")[0]
        connection = http.client.HTTPConnection(host, timeout=20)
        connection.request("GET", "/a/v1/models")
        connection.getresponse().read()
        ending = time.monotonic()
    assert time.monotonic() - ending < 10
    connection.close()
