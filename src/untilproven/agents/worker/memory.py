"""A conversation that is kept, so that another run can go on with it."""

import contextlib
import os
import re
import uuid
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_core import PydanticSerializationError

from untilproven.core.text import text

_INTERRUPTED = "it was interrupted; what it has done is not known"
_ID = re.compile(r"[0-9a-f]{32}")


class Memory:
    def __init__(self, home: Path, session: str) -> None:
        """With the session that is named, if it is here; else with a new one."""
        self._directory = home / "sessions"
        self.messages: list[ModelMessage] = []
        self.session = session if _ID.fullmatch(session) and self._load(session) else uuid.uuid4().hex

    def hear(self, prompt: str) -> None:
        """The user's next words, after an answer to each call of a tool that has none."""
        last = self.messages[-1] if self.messages else None
        calls = last.tool_calls if isinstance(last, ModelResponse) else []
        parts: list[ModelRequestPart] = [
            ToolReturnPart(call.tool_name, _INTERRUPTED, call.tool_call_id, outcome="interrupted") for call in calls
        ]
        self.add(ModelRequest(parts=[*parts, UserPromptPart(prompt)]))

    def add(self, message: ModelMessage) -> None:
        """Kept at once: the program may be killed at any time."""
        self.messages.append(_storable(message))
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._directory / f".{self.session}"
        with open(draft, "wb", opener=_private) as file:
            file.write(ModelMessagesTypeAdapter.dump_json(self.messages))
        draft.replace(self._path(self.session))

    def forget(self) -> None:
        """It has become too long for the model: whoever wants to go on with it begins anew."""
        self._path(self.session).unlink(missing_ok=True)

    def _load(self, session: str) -> bool:
        with contextlib.suppress(OSError, ValidationError):
            self.messages = ModelMessagesTypeAdapter.validate_json(self._path(session).read_bytes())
        return bool(self.messages)

    def _path(self, session: str) -> Path:
        return self._directory / f"{session}.json"


def _storable(message: ModelMessage) -> ModelMessage:
    """A model can say what is no character, which can neither be kept nor be sent back: that becomes `?`."""
    try:
        ModelMessagesTypeAdapter.dump_json([message])
    except PydanticSerializationError:
        return ModelMessagesTypeAdapter.validate_python(_texts(ModelMessagesTypeAdapter.dump_python([message])))[0]
    return message


def _texts(value: Any) -> Any:
    match value:
        case str():
            return text(value)
        case list():
            return [_texts(one) for one in value]
        case dict():
            return {_texts(name): _texts(one) for name, one in value.items()}
    return value


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
