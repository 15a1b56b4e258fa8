"""The JSON Schema of `ralph.toml`, for editors and for `ralph schema config`."""

from typing import Any

from untilproven.config import durations, values
from untilproven.model.settings import OPTIONS, SECTIONS, Kind, Option

_TEXT = {"type": "string", "pattern": r"\S"}


def json_schema() -> dict[str, Any]:
    top: dict[str, Any] = {option.key: _of(option) for option in OPTIONS if not option.section}
    for section in sorted(SECTIONS):
        inside = {
            option.key.removeprefix(f"{section}."): _of(option) for option in OPTIONS if option.section == section
        }
        top[section] = {"type": "object", "additionalProperties": False, "properties": inside}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ralph.toml",
        "description": "Settings of untilproven, also as [tool.untilproven] in pyproject.toml.",
        "type": "object",
        "additionalProperties": False,
        "properties": top,
    }


def _of(option: Option) -> dict[str, Any]:
    described = {"description": option.help, **_shape(option)}
    if option.default is not None:
        described["default"] = values.to_plain(option.default)
    if option.example is not None:
        described["examples"] = [values.to_plain(option.example)]
    return described


def _shape(option: Option) -> dict[str, Any]:
    match option.kind:
        case Kind.TEXT:
            return _TEXT
        case Kind.LIST:
            return {"type": "array", "items": _TEXT}
        case Kind.SWITCH:
            return {"type": "boolean"}
        case Kind.COUNT:
            return {"type": "integer", "minimum": option.minimum}
        case Kind.MONEY:
            return {"type": "number", "exclusiveMinimum": 0}
        case Kind.DURATION:
            return {"type": "string", "pattern": f"^(?=.*[1-9]){durations.PATTERN}$"}
        case Kind.CHOICE:
            return {"type": "string", "enum": list(option.choices)}
