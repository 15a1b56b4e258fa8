"""Gemini generateContent."""

import re
from collections.abc import Iterator

from models.script import Failure, Usage
from models.wire import Answer, Asked, Json, Message, Refusal, event, new_id, pieces, retry_after

_FAILURES = {
    "unauthorized": (401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
    "rate_limit": (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    "usage_limit": (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    "too_long": (
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "broken": (500, "INTERNAL", "An internal error has occurred."),
    "overloaded": (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
}
_TYPES = "type.googleapis.com/google.rpc."
_QUOTAS = {
    "rate_limit": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
    "usage_limit": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
}


def asked(path: str, body: Json) -> Asked:
    found = re.search(r"models/([^/:]+):", path)
    functions = [one for tool in body.get("tools", []) for one in tool.get("functionDeclarations", [])]
    config = body.get("generationConfig", {})
    return Asked(
        model=found[1] if found else "",
        system="\n".join(part.get("text", "") for part in body.get("systemInstruction", {}).get("parts", [])),
        messages=tuple(_messages(body.get("contents", []))),
        tools={one["name"]: _schema(one) for one in functions},
        stream=":stream" in path,
        shape=config.get("responseJsonSchema") or config.get("responseSchema"),
    )


def _schema(function: Json) -> Json:
    """The service takes names in either spelling."""
    names = ("parametersJsonSchema", "parameters_json_schema", "parameters")
    return next((function[name] for name in names if name in function), {})


def _messages(contents: list[Json]) -> Iterator[Message]:
    for content in contents:
        for part in content.get("parts", []):
            if "functionResponse" in part:
                yield Message("tool", str(part["functionResponse"].get("response", "")))
            elif "text" in part:
                yield Message("assistant" if content.get("role") == "model" else "user", part["text"])


def whole(asked: Asked, answer: Answer) -> Json:
    return {**_response(asked, answer, _parts(answer), last=True), "responseId": new_id("")}


def _parts(answer: Answer) -> list[Json]:
    said = [{"text": piece} for piece in pieces(answer.text)]
    return said + [{"functionCall": {"name": call.name, "args": call.arguments}} for call in answer.calls]


def _response(asked: Asked, answer: Answer, parts: list[Json], *, last: bool) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        candidate["finishReason"] = "SAFETY" if answer.refused else "STOP"
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(answer.usage),
        "modelVersion": asked.model,
    }


def _usage(usage: Usage) -> Json:
    sent = usage.input + usage.cached + usage.written
    return {
        "promptTokenCount": sent,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": sent + usage.output,
        "cachedContentTokenCount": usage.cached,
    }


def stream(asked: Asked, answer: Answer) -> Iterator[bytes]:
    parts, number = _parts(answer) or [{"text": ""}], new_id("")
    for part in parts:
        yield event({**_response(asked, answer, [part], last=part is parts[-1]), "responseId": number})


def refusal(failure: Failure) -> Refusal:
    status, name, message = _FAILURES[failure.fail]
    error: Json = {"code": status, "message": message, "status": name}
    if quota := _QUOTAS.get(failure.fail):
        violation = {"quotaId": quota, "quotaMetric": "generativelanguage.googleapis.com/generate_requests"}
        error["details"] = [{"@type": f"{_TYPES}QuotaFailure", "violations": [violation]}]
        if failure.retry_after is not None:
            error["details"].append({"@type": f"{_TYPES}RetryInfo", "retryDelay": f"{failure.retry_after}s"})
    return Refusal(status, {"error": error}, retry_after(failure))
