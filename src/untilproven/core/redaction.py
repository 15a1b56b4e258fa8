"""Secrets are not kept: where the value of a secret variable would stand, its name does."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from untilproven.model.wire import UNREADABLE

_SHORTEST, _LONG = 8, 12
"""A shorter value stands in too many words that are no secret; a long one hardly in any."""
_OF_PROVIDERS = ("sk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghs_", "glpat-", "xox", "hf_", "AKIA", "ASIA", "AIza")
_WORDS = re.compile(r"[a-z]+(?:[-_. ][a-z]+)*")
_KINDS = (re.compile(r"[^\W\d_]"), re.compile(r"\d"), re.compile(r"[\W_]"))
_SECRET_LEAF = re.compile(r"(?!.*(?:ur[il]|endpoint|host)).*(?:token|access|refresh|key|secret)", re.IGNORECASE)
_PATHS = frozenset({"path", "previous_path", "snapshot_path", "paths", "only_with"})
"""Fields by which files are found again: they stay as they are."""

_Told = TypeVar("_Told", bound=msgspec.Struct)


def looks_secret(value: str) -> bool:
    """Whether it can hardly be meant as a word where it stands: not `postgres`, though that be a password."""
    if len(value) >= _LONG:
        return True
    if len(value) < _SHORTEST:
        return False
    mixed = sum(bool(kind.search(value)) for kind in _KINDS) > 1
    return value.startswith(_OF_PROVIDERS) or (mixed and not _WORDS.fullmatch(value))


def leaves(name: str, document: str | bytes) -> dict[str, str]:
    """What is secret in a JSON document by what it is called there; nothing if it is no JSON."""
    try:
        return {f"{name} {'.'.join(way)}": value for way, value in _leaves(msgspec.json.decode(document))}
    except UNREADABLE:
        return {}


def _leaves(value: Any, *way: str) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, *way, key)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(item, *way[:-1], f"{''.join(way[-1:])}.{number}")
    elif isinstance(value, str) and way and _SECRET_LEAF.match(way[-1]):
        yield way, value


class Redaction:
    """Of the variables given, by name. Longer values go first, for one may hold another."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._kept: dict[str, str] = {}
        self._texts: list[tuple[str, str]] = []
        self._bytes: list[tuple[bytes, bytes]] = []
        self._encoded: list[bytes] = []
        self.add(secrets)

    def add(self, secrets: Mapping[str, str]) -> None:
        """From now on, these too."""
        new = {value: name for name, value in sorted(secrets.items()) if looks_secret(value)}
        if new.keys() <= self._kept.keys():
            return
        self._kept = {**new, **self._kept}
        words = {form: f"[{name}]" for value, name in self._kept.items() for form in (value, _in_json(value))}
        self._texts = [(value, words[value]) for value in sorted(words, key=len, reverse=True)]
        self._bytes = [(value.encode("utf-8", "surrogateescape"), word.encode()) for value, word in self._texts]
        self._encoded = [_in_json(value).encode() for value in self._kept]

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

    def begun(self, data: bytes) -> int:
        """Where at the end of the data one may begin; the length of the data if none does."""
        first = len(data)
        for value, _ in self._bytes:
            at = data.find(value[:1], max(len(data) - len(value) + 1, 0))
            while -1 < at < first:
                if value.startswith(data[at:]):
                    first = at
                at = data.find(value[:1], at + 1)
        return first

    def record(self, told: _Told) -> _Told:
        """The same record without them, whatever text they are in; numbers and paths stay."""
        if not self._encoded:
            return told
        encoded = msgspec.json.encode(told)
        return self._cleaned(told) if any(value in encoded for value in self._encoded) else told

    def _cleaned(self, value: Any) -> Any:
        if type(value) is str:  # and no member of an enumeration
            return self.text(value)
        if isinstance(value, msgspec.Struct):
            fields = [name for name in value.__struct_fields__ if name not in _PATHS]
            return msgspec.structs.replace(value, **{name: self._cleaned(getattr(value, name)) for name in fields})
        if isinstance(value, dict):
            return {self._cleaned(key): item if key in _PATHS else self._cleaned(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self._cleaned, value))
        return value


def _in_json(value: str) -> str:
    """As it stands in JSON: agents print their lines so."""
    return msgspec.json.encode(value.encode("utf-8", "replace").decode())[1:-1].decode()


class Redacted:
    """A stream of bytes without them, although one may come in two pieces."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """What is certain by now; what could be the beginning of a secret is held back."""
        clean = self._redaction.data(self._held + chunk)
        safe = self._redaction.begun(clean)
        self._held = clean[safe:]
        return clean[:safe]

    def finish(self) -> bytes:
        held, self._held = self._held, b""
        return held
