"""OpenAI Chat Completions."""

import time
from collections.abc import Iterator

from models.script import Failure, Usage
from models.wire import Answer, Asked, Json, Message, Refusal, event, new_id, pieces, retry_after, text_of

_FAILURES = {
    "unauthorized": (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    "rate_limit": (429, "requests", "rate_limit_exceeded", "Rate limit reached for requests per minute."),
    "usage_limit": (
        429,
        "insufficient_quota",
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "too_long": (
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
    ),
    "broken": (500, "server_error", None, "The server had an error while processing your request."),
    "overloaded": (503, "server_error", None, "The engine is currently overloaded, please try again later."),
}


def asked(path: str, body: Json) -> Asked:
    messages = [Message(one["role"], text_of(one.get("content"))) for one in body.get("messages", [])]
    functions = [tool["function"] for tool in body.get("tools", []) if tool["type"] == "function"]
    return Asked(
        model=body.get("model", ""),
        system="\n".join(one.text for one in messages if one.role in {"system", "developer"}),
        messages=tuple(one for one in messages if one.role not in {"system", "developer"}),
        tools={function["name"]: function.get("parameters", {}) for function in functions},
        stream=bool(body.get("stream")),
        shape=(body.get("response_format") or {}).get("json_schema", {}).get("schema"),
    )


def whole(asked: Asked, answer: Answer) -> Json:
    message: Json = {"role": "assistant", "content": None if answer.refused else answer.text or None}
    if answer.refused:
        message["refusal"] = answer.text
    if answer.calls:
        message["tool_calls"] = _calls(answer)
    return {
        **_envelope(asked, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": _reason(answer)}],
        "usage": _usage(answer.usage),
    }


def _envelope(asked: Asked, kind: str) -> Json:
    return {"id": new_id("chatcmpl-"), "object": kind, "created": int(time.time()), "model": asked.model}


def _calls(answer: Answer) -> list[Json]:
    return [
        {"id": new_id("call_"), "type": "function", "function": {"name": call.name, "arguments": call.json}}
        for call in answer.calls
    ]


def _reason(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _usage(usage: Usage) -> Json:
    sent = usage.input + usage.cached + usage.written
    return {
        "prompt_tokens": sent,
        "completion_tokens": usage.output,
        "total_tokens": sent + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def stream(asked: Asked, answer: Answer) -> Iterator[bytes]:
    envelope = _envelope(asked, "chat.completion.chunk")
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += [{"refusal" if answer.refused else "content": piece} for piece in pieces(answer.text)]
    for index, call in enumerate(_calls(answer)):
        first, *rest = pieces(call["function"]["arguments"])
        function = {**call["function"], "arguments": first}
        deltas.append({"tool_calls": [{**call, "index": index, "function": function}]})
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in rest]
    for delta in deltas:
        yield event({**envelope, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield event({**envelope, "choices": [{"index": 0, "delta": {}, "finish_reason": _reason(answer)}]})
    yield event({**envelope, "choices": [], "usage": _usage(answer.usage)})
    yield event("[DONE]")


def refusal(failure: Failure) -> Refusal:
    status, kind, code, message = _FAILURES[failure.fail]
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return Refusal(status, body, retry_after(failure))
