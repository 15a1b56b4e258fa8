"""The words of each agent: what its events say, and how it is answered."""

from collections.abc import Mapping
from typing import Any

import msgspec

from untilproven.core.text import printable
from untilproven.errors import UsageError
from untilproven.model.session import SessionLoopState
from untilproven.session.engine import Answer

AGENTS = ("claude", "codex", "qwen", "gemini", "opencode")
_REFUSAL = {"gemini": "deny"}
_BEFORE = {"gemini": "BeforeAgent"}


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent says of its session, whatever it calls it."""

    session_id: str
    cwd: str = ""
    transcript: str = ""
    said: str | None = None
    """The assistant's last words; None where only the transcript has them."""
    prompt: str = ""
    background: bool = False
    messages: tuple[dict[str, Any], ...] = ()
    turn: str = ""
    """What the agent calls the answer that it has ended with, where it says so."""
    error: str = ""
    """The name of the error that the session reports."""

    def words(self, state: SessionLoopState) -> str:
        """What was said last; where the event does not tell, the agent's own record of the session does."""
        if self.said is not None:
            return self.said
        if not self.transcript:
            return ""
        from untilproven.session.transcripts import last_words  # noqa: PLC0415  most events bring the words along

        return last_words(self.transcript, state.started_at.isoformat())


def read_event(agent: str, data: bytes) -> Event:
    """An event as it came on stdin; what is not there is left empty."""
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"what came on stdin is not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise UsageError("what came on stdin is not an event: a JSON object is needed")
    session = _text(raw, "session_id", "sessionID", "sessionId")
    if not session.strip():
        raise UsageError(f"the event of {agent} names no session, so nothing is done about it")
    transcript = _text(raw, "transcript_path")
    said = raw.get("prompt_response" if agent == "gemini" else "last_assistant_message")
    if agent == "gemini" and transcript:
        said = None  # the event has the words of every turn, pieces of them twice; the record as they were said
    failure = raw.get("error")
    return Event(
        session_id=session,
        cwd=_text(raw, "cwd", "directory"),
        transcript=transcript,
        said=said if isinstance(said, str) else None,
        prompt=_text(raw, "prompt"),
        background=bool(raw.get("background_tasks") or raw.get("background")),
        messages=tuple(map(_message, raw["messages"])) if isinstance(raw.get("messages"), list) else (),
        turn=_text(raw, "turn"),
        error=_text(failure, "name") if isinstance(failure, dict) else "",
    )


def _text(raw: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := raw.get(name), str)), "")


def _message(raw: object) -> dict[str, Any]:
    """OpenCode has role and parts beside each other."""
    if not isinstance(raw, dict):
        return {}
    info = raw.get("info")
    if isinstance(info, dict):
        return {"role": info.get("role"), "content": raw.get("parts")}
    return raw


def stop_answer(agent: str, answer: Answer) -> dict[str, Any]:
    """What a Stop hook prints; nothing at all lets the agent stop."""
    told = printable(answer.note) or (answer.toast.message if answer.toast else "")
    message = {"systemMessage": told} if told else {}
    if answer.kind == "prompt":
        return {"decision": _REFUSAL.get(agent, "block"), "reason": answer.prompt, **message}
    return message if answer.kind == "stop" or answer.note else {}


def idle_answer(answer: Answer) -> dict[str, Any]:
    """What a plugin is told that delivers prompts itself."""
    told: dict[str, Any] = {"action": "prompt" if answer.kind == "prompt" else "none"}
    if answer.kind == "prompt":
        told["prompt"] = answer.prompt
    if answer.toast:
        told["toast"] = {**answer.toast.as_json(), "message": printable(answer.toast.message)}
    if answer.note:
        told["note"] = printable(answer.note)
    return told


def context_answer(agent: str, context: str, note: str) -> dict[str, Any]:
    """What is added to the user's own prompt."""
    name = _BEFORE.get(agent, "UserPromptSubmit")
    told = {"hookEventName": name, "additionalContext": context}
    return {"hookSpecificOutput": told, "systemMessage": printable(note)}


def refusal(agent: str, why: str) -> dict[str, Any]:
    """A prompt that was for us, and is not passed on."""
    shown = printable(why)
    return {"decision": _REFUSAL.get(agent, "block"), "reason": shown, "systemMessage": shown}
