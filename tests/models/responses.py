"""OpenAI Responses."""

import time
from collections.abc import Iterator

from models import chat
from models.script import Failure, Usage
from models.wire import Answer, Asked, Json, Message, Refusal, event, new_id, pieces, retry_after, text_of


def asked(path: str, body: Json) -> Asked:
    said = body.get("input", [])
    items: list[Json] = said if isinstance(said, list) else [{"role": "user", "content": said}]
    messages = [Message(_role(item), text_of(item)) for item in items]
    return Asked(
        model=body.get("model", ""),
        system="\n".join([body.get("instructions") or "", *(one.text for one in messages if one.role == "developer")]),
        messages=tuple(one for one in messages if one.role != "developer"),
        tools={
            tool["name"]: tool.get("parameters", {}) for tool in body.get("tools", []) if tool["type"] == "function"
        },
        stream=bool(body.get("stream")),
        shape=((body.get("text") or {}).get("format") or {}).get("schema"),
    )


def _role(item: Json) -> str:
    if item.get("type", "").endswith("_output"):
        return "tool"
    return str(item.get("role", "assistant"))


def whole(asked: Asked, answer: Answer) -> Json:
    return {
        "id": new_id("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "model": asked.model,
        "status": "completed",
        "error": None,
        "output": _items(answer),
        "usage": _usage(answer.usage),
    }


def _items(answer: Answer) -> list[Json]:
    items: list[Json] = []
    if answer.text:
        part = (
            {"type": "refusal", "refusal": answer.text}
            if answer.refused
            else {"type": "output_text", "text": answer.text, "annotations": []}
        )
        message = {"type": "message", "id": new_id("msg_"), "role": "assistant", "status": "completed"}
        items.append({**message, "content": [part]})
    items += [
        {
            "type": "function_call",
            "id": new_id("fc_"),
            "call_id": new_id("call_"),
            "name": call.name,
            "arguments": call.json,
            "status": "completed",
        }
        for call in answer.calls
    ]
    return items


def _usage(usage: Usage) -> Json:
    sent = usage.input + usage.cached + usage.written
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": sent + usage.output,
    }


def stream(asked: Asked, answer: Answer) -> Iterator[bytes]:
    for number, data in enumerate(_stream(whole(asked, answer))):
        yield event({**data, "sequence_number": number}, data["type"])


def _stream(response: Json) -> Iterator[Json]:
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(response["output"]):
        place = {"item_id": item["id"], "output_index": index}
        empty: Json = {"content": []} if item["type"] == "message" else {"arguments": ""}
        added = {**item, **empty, "status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": index, "item": added}
        yield from _message(item, place) if item["type"] == "message" else _call(item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": response}


def _message(item: Json, place: Json) -> Iterator[Json]:
    (part,) = item["content"]
    field = "refusal" if part["type"] == "refusal" else "text"
    name = f"response.{part['type']}"
    place = {**place, "content_index": 0}
    yield {"type": "response.content_part.added", **place, "part": {**part, field: ""}}
    for piece in pieces(part[field]):
        yield {"type": f"{name}.delta", **place, "delta": piece}
    yield {"type": f"{name}.done", **place, field: part[field]}
    yield {"type": "response.content_part.done", **place, "part": part}


def _call(item: Json, place: Json) -> Iterator[Json]:
    name = "response.function_call_arguments"
    for piece in pieces(item["arguments"]):
        yield {"type": f"{name}.delta", **place, "delta": piece}
    yield {"type": f"{name}.done", **place, "arguments": item["arguments"]}


def refusal(failure: Failure) -> Refusal:
    if failure.fail != "usage_limit":
        return chat.refusal(failure)
    error: Json = {"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus"}
    if failure.resets_at is not None:
        left = max(0, failure.resets_at - int(time.time()))
        error |= {"resets_at": failure.resets_at, "resets_in_seconds": left}
    return Refusal(429, {"error": error}, retry_after(failure))
