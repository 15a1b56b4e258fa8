"""Records and JSON: unknown is left out, null is accepted, keys we do not know are kept.

A record that holds keys this version does not know carries them in `extra`, at the level where they stood.
They are encoded under a reserved name first and moved up only when there are any, so the common case is
msgspec's own speed.
"""

from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

RESERVED = "+extra"
_RESERVED_KEY = f'"{RESERVED}"'.encode()
_SPELLINGS = (_RESERVED_KEY, b"u002b", b"u002B")

_type_info = cache(msgspec.inspect.type_info)
_SEQUENCES = (msgspec.inspect.ListType, msgspec.inspect.VarTupleType)

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A stored object. Fields that may be unknown default to UNSET and are then not written."""

    extra: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name=RESERVED)


R = TypeVar("R", bound=Record)


def decode(cls: type[R], data: bytes) -> R:
    """Read a record; raises one of UNREADABLE, whose text names the place that is wrong."""
    if not holds_reserved(data):
        try:
            return msgspec.json.decode(data, type=cls)
        except msgspec.ValidationError:
            pass  # a null, an unknown key, or really wrong: the slower way tells which
    return _read_slowly(cls, msgspec.json.decode(data))


def holds_reserved(data: bytes) -> bool:
    """Whether the reserved name may be in this JSON, so that it must be read the slower way."""
    return any(spelling in data for spelling in _SPELLINGS)


def encode(record: Record) -> bytes:
    """Write a record as one line of JSON."""
    data = msgspec.json.encode(record)
    if _RESERVED_KEY in data:
        return msgspec.json.encode(to_builtins(record))
    return data


def encode_pretty(record: Record) -> bytes:
    """Write a record for people to read."""
    return msgspec.json.format(encode(record), indent=2) + b"\n"


def from_builtins(cls: type[R], raw: Any) -> R:
    """Make a record of decoded JSON."""
    if _RESERVED_KEY not in msgspec.json.encode(raw):
        try:
            return msgspec.convert(raw, cls)
        except msgspec.ValidationError:
            pass
    return _read_slowly(cls, raw)


def _read_slowly(cls: type[R], raw: Any) -> R:
    """Set unknown keys aside and drop nulls where a record stands."""
    return msgspec.convert(_lift(raw, _type_info(cls)), cls)


def to_builtins(record: Record) -> dict[str, Any]:
    """Make plain JSON values of a record, with the keys it does not know back in their places."""
    config = record.__struct_config__
    plain: dict[str, Any] = {config.tag_field: config.tag} if config.tag_field else {}
    for name, key in zip(record.__struct_fields__, record.__struct_encode_fields__, strict=True):
        value = getattr(record, name)
        if value is not UNSET and key != RESERVED:
            plain[key] = _plain(value)
    return {**(record.extra or {}), **plain} if record.extra else plain


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return to_builtins(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return msgspec.to_builtins(value)


def _lift(value: Any, kind: msgspec.inspect.Type) -> Any:
    if isinstance(kind, msgspec.inspect.UnionType):
        kind = _member(value, kind)
    if isinstance(kind, msgspec.inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name: field.type for field in kind.fields}
        tag = {kind.tag_field} if kind.tag_field else set()
        known = {k: _lift(v, fields[k]) for k, v in value.items() if k in fields and k != RESERVED and v is not None}
        known |= {k: value[k] for k in tag & value.keys()}
        unknown = {k: v for k, v in value.items() if (k not in fields or k == RESERVED) and k not in tag}
        if unknown and RESERVED in fields:
            known[RESERVED] = unknown
        return known
    if isinstance(kind, _SEQUENCES) and isinstance(value, list):
        return [_lift(item, kind.item_type) for item in value]
    if isinstance(kind, msgspec.inspect.DictType) and isinstance(value, dict):
        return {key: _lift(item, kind.value_type) for key, item in value.items()}
    return value


def _member(value: Any, union: msgspec.inspect.UnionType) -> msgspec.inspect.Type:
    """The member of a union that this value is meant to be."""
    for member in union.types:
        if isinstance(member, _SEQUENCES) and isinstance(value, list):
            return member
        if isinstance(member, msgspec.inspect.DictType) and isinstance(value, dict):
            return member
        if isinstance(member, msgspec.inspect.StructType) and isinstance(value, dict):
            tag = member.tag_field
            if tag is None or value.get(tag) == member.tag:
                return member
    return union


class _Versioned(msgspec.Struct):
    version: str = ""


def later_version(data: bytes, major: int) -> str:
    """The version of a file that a later program wrote; empty if it is ours, or says nothing of the kind."""
    try:
        version = msgspec.json.decode(data, type=_Versioned).version
    except UNREADABLE:
        return ""
    number = version.partition(".")[0]
    return version if number.isascii() and number.isdigit() and int(number) > major else ""
