"""What a provider's error says, and that an answer that takes long is mentioned."""

from typing import Any

import msgspec
import pytest
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError

from untilproven.agents.worker import report
from untilproven.agents.worker.asking import Refusal, refusal_of
from untilproven.agents.worker.report import Report


def google(delay: object) -> dict[str, Any]:
    details = ["odd", {"@type": "QuotaFailure"}, {"@type": "RetryInfo", "retryDelay": delay}]
    return {"error": {"message": "Used up.", "details": details}}


def test_how_long_to_wait_is_in_a_header_or_in_the_body() -> None:
    headers = {"Retry-After": "7"}
    assert refusal_of(ModelHTTPError(429, "m", google("33.5s"), headers=headers)) == Refusal(429, 7.0, "Used up.")
    assert refusal_of(ModelHTTPError(429, "m", google("33.5s"))) == Refusal(429, 33.5, "Used up.")
    for odd in ("soon", "-1s", "1e9s", 5, None):
        assert refusal_of(ModelHTTPError(429, "m", google(odd))).retry_after is None


def test_what_happened_is_said_with_its_first_cause() -> None:
    error = ModelConnectionError("m", "Connection error.")
    assert refusal_of(error) == Refusal(None, None, "Connection error")
    error.__cause__ = RuntimeError("All failed")
    error.__cause__.__cause__ = OSError("refused")
    assert refusal_of(error).message == "Connection error: refused"


def test_an_answer_that_takes_long_is_mentioned(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    told = Report()
    told.comes()
    assert capfdbinary.readouterr().out == b""
    monkeypatch.setattr(report, "_PULSE", 0.0)
    told.comes()
    assert msgspec.json.decode(capfdbinary.readouterr().out) == {"type": "alive"}
