"""What the wire formats have in common: a request as it was meant, an answer before it is written down."""

import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from models.script import Failure, Usage

Json = dict[str, Any]


class Message(NamedTuple):
    role: str
    """`user`, `assistant`, or `tool` for what a tool gave back."""
    text: str


class Asked(NamedTuple):
    model: str
    system: str
    messages: tuple[Message, ...]
    tools: Mapping[str, Json]
    """The JSON Schema of each tool's arguments, by its name."""
    stream: bool
    shape: Json | None = None
    """The JSON Schema that the answer has to have."""

    def words(self, role: str = "user") -> str:
        return "\n".join(message.text for message in self.messages if message.role == role)


class Called(NamedTuple):
    name: str
    arguments: Json

    @property
    def json(self) -> str:
        return json.dumps(self.arguments)


class Answer(NamedTuple):
    text: str
    calls: tuple[Called, ...] = ()
    refused: bool = False
    usage: Usage = Usage()


class Refusal(NamedTuple):
    status: int
    body: Json
    headers: Mapping[str, str] = {}


class Wire(Protocol):
    """One wire format. Each is a module of this package."""

    def asked(self, path: str, body: Json) -> Asked: ...

    def whole(self, asked: Asked, answer: Answer) -> Json: ...

    def stream(self, asked: Asked, answer: Answer) -> Iterator[bytes]:
        """The same as server-sent events."""

    def refusal(self, failure: Failure) -> Refusal: ...


def event(data: Json | str, name: str = "") -> bytes:
    text = data if isinstance(data, str) else json.dumps(data)
    return f"{f'event: {name}{chr(10)}' if name else ''}data: {text}\n\n".encode()


def new_id(prefix: str) -> str:
    return prefix + uuid.uuid4().hex[:24]


def pieces(text: str) -> list[str]:
    """A text as it arrives: never at once."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def text_of(content: Any) -> str:
    """All text in the content of a message, however it is nested."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(text for one in content if (text := text_of(one)))
        case {"text": str(text)}:
            return text
        case {"content": inner} | {"output": inner}:
            return text_of(inner)
    return ""


def retry_after(failure: Failure) -> dict[str, str]:
    return {} if failure.retry_after is None else {"retry-after": str(failure.retry_after)}
