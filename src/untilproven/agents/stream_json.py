"""JSON lines as Claude Code prints them, and whoever took them over: system, assistant, user, result."""

from typing import Any

import msgspec

from untilproven.agents import acting
from untilproven.agents.listening import Telling
from untilproven.agents.reporting import is_too_long, session, tail, tokens
from untilproven.agents.reporting import name as named
from untilproven.model.iteration import Continue, Failed, IterationResult, Usage
from untilproven.model.program import Ending

_CAPS = {"error_max_turns": "its limit of turns is reached", "error_max_budget_usd": "its limit of money is reached"}
_SHOWN = 500
_NOBODY = "<synthetic>"
"""Whose words the program's own are: they tell of an error, and no model said them."""


class StreamJson:
    """What was heard so far of one run."""

    inputs: tuple[str, ...] = ("input_tokens",)
    """Names that together are the input."""

    def __init__(self, telling: Telling) -> None:
        self.telling = telling
        self.session = ""
        self.model = ""
        self.last_words = ""
        self.results: list[dict[str, Any]] = []
        self._counted: set[str] = set()

    def hear(self, line: dict[str, Any]) -> None:
        match line:
            case {"type": "system", "subtype": "init"}:
                self.session = self.session or session(line.get("session_id"))
                self.model = self.model or named(line.get("model"))
            case {"type": "assistant", "message": dict() as message}:
                self._assistant(message)
            case {"type": "user", "message": {"content": list() as parts}}:
                self._answered(parts)
            case {"type": "result"}:
                self.results.append(line)

    @property
    def last(self) -> dict[str, Any]:
        """The last result: it ends when it has printed its own."""
        return self.results[-1] if self.results else {}

    @property
    def words(self) -> str:
        """What the result says."""
        error, errors = self.last.get("error"), self.last.get("errors")
        told = self.last.get("result") or (error.get("message") if isinstance(error, dict) else error)
        return str(told or (errors[0] if isinstance(errors, list) and errors else ""))

    @property
    def said(self) -> str:
        """Its own last words; those of an error are not."""
        if self.last.get("is_error"):
            return "" if self.last_words == self.words else self.last_words
        return self.words or self.last_words

    @property
    def cap(self) -> str:
        """Which of its own limits it met."""
        return _CAPS.get(str(self.last.get("subtype") or ""), "")

    @property
    def is_exhausted(self) -> bool:
        """Whether that is why it failed."""
        return bool(self.last.get("is_error")) and is_too_long(f"{self.last.get('terminal_reason')} {self.words}")

    def used(self, told: Any) -> Usage:
        return tokens(told, self.inputs, ("output_tokens",), "cache_read_input_tokens")

    def result(self, ending: Ending, chatter: str) -> IterationResult | None:
        """How it went, whatever its exit code says."""
        last = self.last
        if not last:
            return None if ending.stopped_because else Failed(error=f"it ended without a result: {tail(chatter)}")
        if denied := last.get("permission_denials"):
            tools = denied if isinstance(denied, list) else [denied]
            names = sorted({str(one.get("tool_name")) for one in tools if isinstance(one, dict)})
            return Failed(error=f"it was refused permission for {', '.join(names) or 'something'}"[:_SHOWN])
        if last.get("is_error"):
            why = [str(last.get("terminal_reason") or last.get("subtype") or ""), self.words]
            return Failed(error=": ".join(filter(None, why))[:_SHOWN])
        return Continue(reason="it came to its end")

    def _assistant(self, message: dict[str, Any]) -> None:
        content = message.get("content")
        for part in content if isinstance(content, list) else []:
            match part:
                case {"type": "text", "text": str() as text} if message.get("model") == _NOBODY:
                    self.telling.event("error", text)
                case {"type": "text", "text": str() as text}:
                    self.last_words = text
                    self.telling.event("text", text)
                case {"type": "tool_use", "name": str() as name}:
                    self.telling.event("action", name, acting.action(name, part.get("input")))
        number = str(message.get("id") or "")
        used = self.used(message.get("usage"))
        if used.total_tokens and number not in self._counted:
            self._counted.add(number)  # every part of one answer carries the same
            self.telling.event("usage", data=msgspec.to_builtins(used))

    def _answered(self, parts: list[Any]) -> None:
        for part in parts:
            match part:
                case {"type": "tool_result", "is_error": True}:
                    self.telling.event("error", _text(part.get("content"))[:_SHOWN], {"role": "tool"})


def _text(content: Any) -> str:
    if isinstance(content, list):
        return " ".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content or "")
