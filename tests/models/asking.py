"""Plain clients of the wire formats: they ask, and put together what streams back."""

import http.client
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

Json = dict[str, Any]
TOOLS: Mapping[str, Json] = {
    "write_file": {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}},
    "shell": {"type": "object", "properties": {"command": {"type": "string"}}},
}


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def events(self) -> list[Json]:
        blocks = [block.splitlines() for block in self.text.split("\n\n") if block]
        data = [line.removeprefix("data: ") for block in blocks for line in block if line.startswith("data: ")]
        return [json.loads(one) for one in data if one != "[DONE]"]


def send(url: str, body: Json | None = None, method: str = "POST") -> Reply:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    try:
        data = None if body is None else json.dumps(body)
        connection.request(method, f"{parts.path}?{parts.query}", data, {"X-Api-Key": "k"})
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, headers, response.read().decode())
    finally:
        connection.close()


class Heard(NamedTuple):
    text: str
    calls: list[tuple[str, Json]]
    usage: Json
    ended: str


class Format(NamedTuple):
    name: str
    path: Callable[[bool], str]
    body: Callable[[str, Mapping[str, Json], bool], Json]
    hear: Callable[[list[Json]], Heard]
    whole: Callable[[Json], Heard]


def _anthropic_body(prompt: str, tools: Mapping[str, Json], stream: bool) -> Json:
    return {
        "model": "m",
        "system": [{"type": "text", "text": "be good"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": prompt}]}],
        "tools": [{"name": name, "input_schema": schema} for name, schema in tools.items()],
        "stream": stream,
    }


def _anthropic_hear(events: list[Json]) -> Heard:
    blocks: list[Json] = []
    inputs: dict[int, str] = {}
    for event in events:
        match event:
            case {"type": "content_block_start", "content_block": block}:
                blocks.append(block)
            case {"type": "content_block_delta", "index": at, "delta": {"text": text}}:
                blocks[at]["text"] += text
            case {"type": "content_block_delta", "index": at, "delta": {"partial_json": piece}}:
                inputs[at] = inputs.get(at, "") + piece
    for at, text in inputs.items():
        blocks[at]["input"] = json.loads(text)
    assert events[0]["type"] == "message_start"
    assert events[-1] == {"type": "message_stop"}
    assert events[-2]["type"] == "message_delta"
    return _anthropic_whole(
        {"content": blocks, "usage": events[-2]["usage"], "stop_reason": events[-2]["delta"]["stop_reason"]}
    )


def _anthropic_whole(message: Json) -> Heard:
    text = "".join(block["text"] for block in message["content"] if block["type"] == "text")
    calls = [(block["name"], block["input"]) for block in message["content"] if block["type"] == "tool_use"]
    return Heard(text, calls, message["usage"], message["stop_reason"])


def _chat_body(prompt: str, tools: Mapping[str, Json], stream: bool) -> Json:
    return {
        "model": "m",
        "messages": [{"role": "system", "content": "be good"}, {"role": "user", "content": prompt}],
        "tools": [{"type": "function", "function": {"name": n, "parameters": s}} for n, s in tools.items()],
        "stream": stream,
    }


def _chat_hear(events: list[Json]) -> Heard:
    message: Json = {"content": "", "refusal": "", "tool_calls": []}
    *chunks, last = events
    for chunk in chunks:
        delta = chunk["choices"][0]["delta"]
        for field in ("content", "refusal"):
            message[field] += delta.get(field, "")
        for call in delta.get("tool_calls", []):
            if "id" in call:
                assert call["index"] == len(message["tool_calls"])
                message["tool_calls"].append(call)
            else:
                message["tool_calls"][call["index"]]["function"]["arguments"] += call["function"]["arguments"]
    reason = chunks[-1]["choices"][0]["finish_reason"]
    return _chat_whole({"choices": [{"message": message, "finish_reason": reason}], "usage": last["usage"]})


def _chat_whole(response: Json) -> Heard:
    (choice,) = response["choices"]
    message = choice["message"]
    calls = [
        (call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message.get("tool_calls", [])
    ]
    ended = "refusal" if message.get("refusal") else choice["finish_reason"]
    return Heard(message["content"] or message.get("refusal") or "", calls, response["usage"], ended)


def _responses_body(prompt: str, tools: Mapping[str, Json], stream: bool) -> Json:
    return {
        "model": "m",
        "instructions": "be good",
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}],
        "tools": [{"type": "function", "name": name, "parameters": schema} for name, schema in tools.items()],
        "stream": stream,
    }


def _responses_hear(events: list[Json]) -> Heard:
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    assert events[-1]["type"] == "response.completed"
    heard = _responses_whole(events[-1]["response"])
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == events[-1]["response"]["output"]
    deltas = ("response.output_text.delta", "response.refusal.delta")
    assert "".join(event["delta"] for event in events if event["type"] in deltas) == heard.text
    return heard


def _responses_whole(response: Json) -> Heard:
    parts = [part for item in response["output"] if item["type"] == "message" for part in item["content"]]
    text = "".join(part.get("text", part.get("refusal", "")) for part in parts)
    calls = [(i["name"], json.loads(i["arguments"])) for i in response["output"] if i["type"] == "function_call"]
    ended = "refusal" if any(part["type"] == "refusal" for part in parts) else response["status"]
    return Heard(text, calls, response["usage"], ended)


def _gemini_body(prompt: str, tools: Mapping[str, Json], stream: bool) -> Json:
    declared = [{"name": name, "parametersJsonSchema": schema} for name, schema in tools.items()]
    return {
        "systemInstruction": {"parts": [{"text": "be good"}]},
        "contents": [{"role": "user", "parts": [{"text": prompt}]}],
        "tools": [{"functionDeclarations": declared}] if declared else [],
    }


def _gemini_hear(events: list[Json]) -> Heard:
    parts = [part for event in events for part in event["candidates"][0]["content"]["parts"]]
    assert [event["candidates"][0].get("finishReason") for event in events[:-1]] == [None] * (len(events) - 1)
    text = "".join(part.get("text", "") for part in parts)
    calls = [(part["functionCall"]["name"], part["functionCall"]["args"]) for part in parts if "functionCall" in part]
    return Heard(text, calls, events[-1]["usageMetadata"], events[-1]["candidates"][0]["finishReason"])


FORMATS = [
    Format("anthropic", lambda _: "/v1/messages?beta=true", _anthropic_body, _anthropic_hear, _anthropic_whole),
    Format("chat", lambda _: "/v1/chat/completions", _chat_body, _chat_hear, _chat_whole),
    Format("responses", lambda _: "/v1/responses", _responses_body, _responses_hear, _responses_whole),
    Format(
        "gemini",
        lambda stream: "/v1beta/models/m:" + ("streamGenerateContent?alt=sse" if stream else "generateContent"),
        _gemini_body,
        _gemini_hear,
        lambda whole: _gemini_hear([whole]),
    ),
]


def ask(form: Format, url: str, prompt: str = "go", *, tools: Mapping[str, Json] = TOOLS, stream: bool = True) -> Reply:
    return send(url + form.path(stream), form.body(prompt, tools, stream))


def heard(form: Format, url: str, *, stream: bool = True) -> Heard:
    reply = ask(form, url, stream=stream)
    assert reply.status == 200, reply.text
    return form.hear(reply.events) if stream else form.whole(reply.json)


CONVERSATIONS: dict[str, Json] = {
    "anthropic": {
        "messages": [
            {"role": "user", "content": "the task"},
            {"role": "system", "content": "a reminder"},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t", "name": "shell", "input": {"command": "ls"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a.txt"}]}
                ],
            },
        ]
    },
    "chat": {
        "messages": [
            {"role": "developer", "content": "a reminder"},
            {"role": "user", "content": [{"type": "text", "text": "the task"}]},
            {"role": "assistant", "content": "I look.", "tool_calls": []},
            {"role": "tool", "tool_call_id": "t", "content": "a.txt"},
        ]
    },
    "responses": {
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "a reminder"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "the task"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "t", "name": "shell", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "t", "output": "a.txt"},
        ]
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "a reminder"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "the task"}]},
            {"role": "model", "parts": [{"text": "I look."}, {"functionCall": {"name": "shell", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "shell", "response": {"output": "a.txt"}}}]},
        ],
    },
}
"""The same in each format, as a client sends it when a tool has run."""
