"""Secrets are not kept: where the value of a secret variable would stand, its name does."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

SHORTEST = 8
"""A shorter value stands in too many words that are no secret."""

_Told = TypeVar("_Told", bound=msgspec.Struct)


class Redaction:
    """Of the variables given, by name. Longer values go first, for one may hold another."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        kept = {value: name for name, value in sorted(secrets.items()) if len(value) >= SHORTEST}
        self._texts = [(value, f"[{kept[value]}]") for value in sorted(kept, key=len, reverse=True)]
        self._bytes = [(value.encode("utf-8", "surrogateescape"), word.encode()) for value, word in self._texts]
        self._encoded = [(_encoded(value), word.encode()) for value, word in self._texts]
        self.longest = max((len(value) for value, _ in self._bytes), default=0)

    def text(self, text: str) -> str:
        for value, word in self._texts:
            if value in text:
                text = text.replace(value, word)
        return text

    def data(self, data: bytes) -> bytes:
        for value, word in self._bytes:
            if value in data:
                data = data.replace(value, word)
        return data

    def may_begin(self, end: bytes) -> bool:
        """Whether one begins like this."""
        return any(value.startswith(end) for value, _ in self._bytes)

    def record(self, told: _Told) -> _Told:
        """The same record without them, whatever field they are in."""
        if not self._encoded:
            return told
        encoded = cleaned = msgspec.json.encode(told)
        for value, word in self._encoded:
            if value in cleaned:
                cleaned = cleaned.replace(value, word)
        return told if cleaned is encoded else msgspec.json.decode(cleaned, type=type(told))


def _encoded(value: str) -> bytes:
    """As it stands in JSON."""
    return msgspec.json.encode(value.encode("utf-8", "replace").decode())[1:-1]


class Redacted:
    """A stream of bytes without them, although one may come in two pieces."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """What is certain by now; what could be the beginning of a secret is held back."""
        if not self._redaction.longest:
            return chunk
        clean = self._redaction.data(self._held + chunk)
        safe = self._safe(clean)
        self._held = clean[safe:]
        return clean[:safe]

    def finish(self) -> bytes:
        held, self._held = self._held, b""
        return held

    def _safe(self, clean: bytes) -> int:
        """Up to where nothing can become a secret by what follows."""
        for begun in range(max(len(clean) - self._redaction.longest + 1, 0), len(clean)):
            if self._redaction.may_begin(clean[begun:]):
                return begun
        return len(clean)
