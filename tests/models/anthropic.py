"""Anthropic Messages."""

from collections.abc import Iterator
from typing import Any

from models.script import Failure, Usage
from models.wire import Answer, Asked, Json, Message, Refusal, event, new_id, pieces, retry_after, text_of

_FAILURES = {
    "unauthorized": (401, "authentication_error", "invalid x-api-key"),
    "rate_limit": (429, "rate_limit_error", "This request would exceed your organization's rate limit."),
    "usage_limit": (429, "rate_limit_error", "This request would exceed your account's rate limit."),
    "too_long": (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "broken": (500, "api_error", "Internal server error"),
    "overloaded": (529, "overloaded_error", "Overloaded"),
}


def asked(path: str, body: Json) -> Asked:
    messages = list(_messages(body.get("messages", [])))  # claude has reminders of the role system among them
    return Asked(
        model=body.get("model", ""),
        system="\n".join([text_of(body.get("system")), *(one.text for one in messages if one.role == "system")]),
        messages=tuple(one for one in messages if one.role != "system"),
        tools={tool["name"]: tool.get("input_schema", {}) for tool in body.get("tools", [])},
        stream=bool(body.get("stream")),
        shape=(body.get("output_config") or {}).get("format", {}).get("schema"),
    )


def _messages(raw: list[Json]) -> Iterator[Message]:
    for one in raw:
        content: Any = one["content"]
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for block in blocks:
            role = "tool" if block["type"] == "tool_result" else one["role"]
            yield Message(role, text_of(block))


def whole(asked: Asked, answer: Answer) -> Json:
    return {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": _blocks(answer),
        "stop_reason": "refusal" if answer.refused else "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": _usage(answer.usage),
    }


def _blocks(answer: Answer) -> list[Json]:
    said = [{"type": "text", "text": answer.text}] if answer.text else []
    return said + [
        {"type": "tool_use", "id": new_id("toolu_"), "name": call.name, "input": call.arguments}
        for call in answer.calls
    ]


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input,
        "cache_read_input_tokens": usage.cached,
        "cache_creation_input_tokens": usage.written,
        "output_tokens": usage.output,
    }


def stream(asked: Asked, answer: Answer) -> Iterator[bytes]:
    return (event(data, data["type"]) for data in _stream(asked, answer))


def _stream(asked: Asked, answer: Answer) -> Iterator[Json]:
    message = whole(asked, answer)
    begun = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    yield {"type": "ping"}
    calls = iter(answer.calls)
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty = {**block, "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        else:
            empty = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(next(calls).json)]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": message["usage"]}
    yield {"type": "message_stop"}


def refusal(failure: Failure) -> Refusal:
    status, kind, message = _FAILURES[failure.fail]
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": new_id("req_")}
    headers = retry_after(failure)
    if failure.fail == "usage_limit":
        headers |= {
            "anthropic-ratelimit-unified-status": "rejected",
            "anthropic-ratelimit-unified-representative-claim": "five_hour",
        }
        if failure.resets_at is not None:
            headers["anthropic-ratelimit-unified-reset"] = str(failure.resets_at)
    return Refusal(status, body, headers)
