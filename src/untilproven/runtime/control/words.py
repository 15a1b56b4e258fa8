"""What is said at the bell: one line of JSON each way."""

import msgspec
from msgspec import UNSET, UnsetType

LONGEST = 4096
"""Bytes of a line; whoever sends more is not listened to."""


class Knock(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody left a request. What it asks for is in the file; this only says that it is there."""

    request: str


class Reply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the loop stands, and the request that it has found and will obey."""

    loop_id: str
    seen: str | None
    status: str | UnsetType = UNSET
    iteration: int | UnsetType = UNSET


def line(said: Knock | Reply) -> bytes:
    return msgspec.json.encode(said) + b"\n"
