"""What an agent that speaks the Agent Client Protocol tells while it works, as events."""

from typing import Any

from untilproven.agents import acting
from untilproven.agents.acp_usage import Spending
from untilproven.agents.listening import Telling
from untilproven.agents.reporting import tail
from untilproven.process.spool import Excerpt

_WRITING = frozenset({"edit", "delete", "move"})
_READING = frozenset({"read", "search", "fetch"})
_LONGEST = 500


class Updates:
    """Of one prompt."""

    def __init__(self, telling: Telling, spending: Spending) -> None:
        self._telling, self._spending = telling, spending
        self._saying: Excerpt | None = None
        self._message = ""
        self._calls: dict[str, dict[str, Any]] = {}
        """Calls of tools of which too little is known yet."""
        self._told: set[str] = set()
        self.said = ""
        """Its last words."""

    def hear(self, update: dict[str, Any]) -> None:
        match update:
            case {"sessionUpdate": "agent_message_chunk"}:
                self._chunk(update)
            case {"sessionUpdate": "tool_call" | "tool_call_update", "toolCallId": str() as number}:
                self._spoken()
                self._call(number, update)
            case {"sessionUpdate": "agent_thought_chunk"}:
                self._spoken()
            case {"sessionUpdate": "usage_update"}:
                self._spending.cost_is(update.get("cost"))

    def finish(self) -> None:
        self._spoken()
        for number, call in self._calls.items():
            self._tell(number, call)

    def _chunk(self, update: dict[str, Any]) -> None:
        """It speaks piece by piece; what it says is told when it has said it."""
        match update.get("_meta"):
            case {"usage": dict() as used}:
                self._spending.step(used)
        message = str(update.get("messageId") or "")
        match update.get("content"):
            case {"type": "text", "text": str() as text} if text:
                if message != self._message:
                    self._spoken()
                self._message = message
                self._saying = self._saying or Excerpt()
                self._saying.write(text.encode("utf-8", "replace"))

    def _spoken(self) -> None:
        if self._saying:
            self.said, self._saying = self._saying.text(), None
            self._telling.event("text", self.said)

    def _call(self, number: str, update: dict[str, Any]) -> None:
        """It is told once, as soon as it is known what the tool was given, or when it has ended."""
        status = update.get("status")
        if number not in self._told:
            known = {name: value for name in _OF_A_CALL if (value := update.get(name))}
            call = {**self._calls.pop(number, {}), **known}
            if _target(call) or status in {"completed", "failed"}:
                self._tell(number, call)
            else:
                self._calls[number] = call
        if status == "failed":
            self._telling.event("error", tail(_words(update)), {"role": "tool"})

    def _tell(self, number: str, call: dict[str, Any]) -> None:
        self._told.add(number)
        self._telling.event("action", _title(call), action(call))


_OF_A_CALL = ("name", "title", "kind", "rawInput", "locations")


def action(call: dict[str, Any]) -> dict[str, str]:
    """A call of a tool in the five words of source 002."""
    kind, target = call.get("kind"), _target(call) or _title(call)
    if kind == "execute":
        return acting.ran(target)
    if kind in _WRITING or kind in _READING:
        return {"kind": "write" if kind in _WRITING else "read", "target": target[:_LONGEST]}
    return acting.action(str(call.get("name") or _title(call)), call.get("rawInput"))


def _target(call: dict[str, Any]) -> str:
    """What it is done to, a command or a path; empty as long as that is not known."""
    given = call.get("rawInput")
    if call.get("kind") == "execute":
        return acting.action("", given)["target"]
    match call.get("locations"):
        case [{"path": str() as path}, *_]:
            return path
    return acting.action("read", given)["target"]


def _title(call: dict[str, Any]) -> str:
    return str(call.get("title") or call.get("name") or "").strip("`")[:_LONGEST]


def _words(update: dict[str, Any]) -> str:
    """Why a tool failed, as far as it says so."""
    content = update.get("content")
    said = [
        str(inner["text"])
        for part in (content if isinstance(content, list) else [])
        if isinstance(part, dict) and isinstance(inner := part.get("content"), dict) and inner.get("text")
    ]
    return " ".join(said) or str(update.get("rawOutput") or "")
