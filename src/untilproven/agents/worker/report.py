"""What the program prints: one JSON object a line, for the adapter."""

import sys
import time
from typing import Any, Literal

import msgspec

from untilproven.core.text import text

Ended = Literal["done", "turns", "length", "refused", "limit", "outage", "unable", "too_long", "error"]

_PULSE = 5.0
"""Seconds after which an answer that is still coming is mentioned, so that nobody takes it for a hang."""


class Report:
    def __init__(self) -> None:
        self._last = time.monotonic()
        self._answers = 0
        self._input = self._output = 0

    def began(self, session: str, model: str) -> None:
        self._line("session", id=session, model=model)

    def asks(self) -> None:
        """The model is asked: from now on it costs something."""
        self._line("request")

    def comes(self) -> None:
        """A piece of the answer has come."""
        if time.monotonic() - self._last > _PULSE:
            self._line("alive")

    def said(self, text: str) -> None:
        self._line("text", text=text)

    def used(self, told: dict[str, Any] | None) -> None:
        """By the answer to one request; None if the provider did not say."""
        self._answers += 1
        if told:
            self._input += told["input_tokens"]
            self._output += told["output_tokens"]
        self._line("usage", told=told)

    def acts(self, kind: str, target: str) -> None:
        self._line("action", kind=kind, target=target)

    def acted(self, outcome: str, *, refused: bool) -> None:
        self._line("outcome", outcome=outcome, refused=refused)

    def waits(self, seconds: float, status: int | None, message: str) -> None:
        self._line("retry", seconds=seconds, status=status, message=message)

    def result(
        self, ended: Ended, message: str = "", *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        """The last line. The sums show whether a line was somebody else's."""
        sums = {"answers": self._answers, "input_tokens": self._input, "output_tokens": self._output}
        self._line("result", ended=ended, message=message, status=status, retry_after=retry_after, sums=sums)

    def _line(self, line: str, /, **told: Any) -> None:
        self._last = time.monotonic()
        plain = {name: text(value) if isinstance(value, str) else value for name, value in told.items()}
        sys.stdout.buffer.write(msgspec.json.encode({"type": line, **plain}) + b"\n")
        sys.stdout.buffer.flush()
