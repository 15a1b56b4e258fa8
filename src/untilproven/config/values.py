"""What a setting may hold: read from TOML or from plain text, and written back so that it reads the same."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from untilproven.config import durations
from untilproven.core.naming import quoted
from untilproven.model.settings import Kind, Option

_LARGEST = 2**63 - 1
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off"})


def from_toml(option: Option, raw: Any) -> Any:
    """The value, or a ValueError that says what is wrong with it."""
    match option.kind:
        case Kind.TEXT:
            return _text(raw)
        case Kind.LIST:
            return _texts(raw, option.choices)
        case Kind.SWITCH:
            return _switch(raw)
        case Kind.COUNT:
            return _count(raw, option.minimum)
        case Kind.MONEY:
            return _money(raw)
        case Kind.DURATION:
            return _duration(raw)
        case Kind.CHOICE:
            return _choice(raw, option.choices)


def from_text(option: Option, text: str) -> Any:
    """The same from a variable or a flag; a list has one item a line."""
    match option.kind:
        case Kind.LIST:
            return from_toml(option, text.splitlines())
        case Kind.SWITCH:
            return switch(text)
        case Kind.COUNT if _WHOLE.fullmatch(text):
            return from_toml(option, int(text))
        case Kind.MONEY:
            return from_toml(option, _number(text))
    return from_toml(option, text)


def switch(text: str) -> bool:
    word = text.lower()
    if word not in _YES | _NO:
        raise ValueError(f"{quoted(text)} is neither yes nor no; write 1 or 0")
    return word in _YES


def to_plain(value: Any) -> Any:
    """The value as JSON has it."""
    match value:
        case timedelta():
            return durations.show(value)
        case tuple():
            return list(value)
    return value


def to_toml(value: Any) -> str:
    """The value as it is written in a file: on one line, with nothing in it that a terminal would obey or hide."""
    match to_plain(value):
        case bool(word):
            return "true" if word else "false"
        case str(text):
            return f'"{"".join(map(_escaped, text))}"'
        case list(items):
            return f"[{', '.join(map(to_toml, items))}]"
        case number:
            return repr(number)


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _text(raw: Any) -> str:
    if not isinstance(raw, str):
        raise ValueError(f"{_seen(raw)} is not text")  # noqa: TRY004  every wrong value is the same kind of error
    if not raw.strip():
        raise ValueError("it is empty; leave the setting out instead")
    if "\0" in raw or not _encodes(raw):
        raise ValueError("it has a character that no command or file can hold")
    return raw


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _texts(raw: Any, choices: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(raw, Sequence) or isinstance(raw, str):
        instead = f"; write [{_seen(raw)}]" if isinstance(raw, str) else ""
        raise ValueError(f"{_seen(raw)} is not a list{instead}")  # noqa: TRY004
    return tuple(_choice(item, choices) if choices else _text(item) for item in raw)


def _switch(raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise ValueError(f"{_seen(raw)} is neither true nor false")  # noqa: TRY004
    return raw


def _count(raw: Any, minimum: int) -> int:
    if not isinstance(raw, int) or isinstance(raw, bool):
        raise ValueError(f"{_seen(raw)} is not a whole number")  # noqa: TRY004
    if not minimum <= raw <= _LARGEST:
        raise ValueError(f"{_seen(raw)} is not a number from {minimum} to {_LARGEST}")
    return raw


def _money(raw: Any) -> float:
    if not isinstance(raw, int | float) or isinstance(raw, bool):
        raise ValueError(f"{_seen(raw)} is not an amount of dollars")  # noqa: TRY004
    if not 0 < raw <= _LARGEST:
        raise ValueError(f"{_seen(raw)} is not an amount of dollars above 0")
    return float(raw)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _duration(raw: Any) -> timedelta:
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        raise durations.unitless(_seen(raw))
    return durations.parse(_text(raw))


def _choice(raw: Any, choices: tuple[str, ...]) -> str:
    if not isinstance(raw, str) or raw not in choices:
        raise ValueError(f"{_seen(raw)} is not one of {', '.join(choices)}")
    return raw


def _seen(raw: Any) -> str:
    match raw:
        case bool():
            return str(raw).lower()
        case str():
            return quoted(raw)
        case int() if abs(raw) > _LARGEST:
            return "a number this large"
        case int() | float():
            return str(raw)
        case list():
            return "a list"
        case dict():
            return "a table"
    return "a date or time"
