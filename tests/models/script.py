"""What a scripted model answers, in one form for all clients and wire formats.

A script is a list of turns for each conversation. Every request that wants the model to work takes the next turn.
In a file it is TOML or JSON:

    [[fix]]
    calls = [{ write = "answer.txt", content = "42" }]
    [[fix]]
    fail = "rate_limit"
    retry_after = 1
    [[fix]]
    say = "Done."
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Write(Record, frozen=True):
    write: str
    content: str = ""


class Read(Record, frozen=True):
    read: str


class Bash(Record, frozen=True):
    bash: str


class Tool(Record, frozen=True):
    """A tool by the name that the client has for it, with the client's own arguments."""

    tool: str
    arguments: Mapping[str, Any] = {}


Call = Write | Read | Bash | Tool


class Usage(Record, frozen=True):
    """Tokens. What came from a cache, or went into it, is not in the input; reasoning is in the output."""

    input: int = 1000
    cached: int = 0
    written: int = 0
    output: int = 50
    reasoning: int = 0


class _Words(Record, frozen=True):
    say: str = ""
    refused: bool = False
    """The model declines to go on, for reasons of its own."""
    usage: Usage = Usage()
    fault: Literal["", "dropped", "cut", "silent", "hung"] = ""
    """The connection is closed before a byte or in the middle of the answer; or there it stays open, and quiet."""


class Turn(_Words, frozen=True):
    """The model says something, calls tools, or both."""

    calls: tuple[Call, ...] = ()


class Failure(Record, frozen=True):
    """The service refuses the request, as this provider would."""

    fail: Literal["unauthorized", "rate_limit", "usage_limit", "too_long", "broken", "overloaded"]
    retry_after: int | None = None
    resets_at: int | None = None
    """When a usage limit ends, in seconds since 1970."""


Step = Turn | Failure
Script = Mapping[str, Sequence[Step]]


def load(path: Path) -> Script:
    data = path.read_bytes()
    raw = msgspec.json.decode(data) if path.suffix == ".json" else tomllib.loads(data.decode())
    try:
        return {name: [_step(one) for one in turns] for name, turns in msgspec.convert(raw, _Raw).items()}
    except msgspec.ValidationError as error:
        raise SystemExit(f"{path}: {error}") from None


_Raw = dict[str, list[dict[str, Any]]]


def _step(raw: dict[str, Any]) -> Step:
    if "fail" in raw:
        return msgspec.convert(raw, Failure)
    words = msgspec.convert({name: value for name, value in raw.items() if name != "calls"}, _Words)
    return Turn(calls=tuple(_call(one) for one in raw.get("calls", [])), **msgspec.structs.asdict(words))


def _call(raw: dict[str, Any]) -> Call:
    kinds: tuple[type[Call], ...] = (Write, Read, Bash, Tool)
    for kind in kinds:
        if kind.__struct_fields__[0] in raw:
            return msgspec.convert(raw, kind)
    raise msgspec.ValidationError(f"a call is one of write, read, bash and tool, not {raw}")
