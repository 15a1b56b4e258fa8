"""JSON Schema 2020-12 of everything that is written, made from the records themselves."""

from collections.abc import Callable
from typing import Any

import msgspec

from untilproven.model import (
    analytics,
    cassette,
    checkpoint,
    events,
    hooks,
    iteration,
    learning,
    receipt,
    registry,
    session,
    state,
    task,
    tracker,
    wire,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ID = "urn:untilproven:schema:{}:1"

_RECORDS: dict[str, type[wire.Record]] = {
    "analytics": analytics.Analytics,
    "checkpoint": checkpoint.Checkpoint,
    "hook-log": hooks.HookCall,
    "iteration": iteration.IterationRecord,
    "receipt": receipt.Receipt,
    "registry": registry.Registry,
    "session": session.SessionLoopState,
    "state": state.LoopState,
    "task": task.Task,
}

_LINES: dict[str, Any] = {"event": events.Event, "learning": learning.Learnt, "progress": learning.Progress} | {
    "tracker-op": tracker.TrackerLine
}
"""Of these each line of a file is one of several kinds."""


def names() -> list[str]:
    return sorted([*_RECORDS, *_LINES, "cassette"])


def schema(name: str) -> dict[str, Any]:
    """The schema of one kind of file, or of a line of it."""
    if name == "cassette":
        made = _walk(_cassette(), _hide)
    else:
        made = _walk(_events() if name == "event" else msgspec.json.schema(_LINES.get(name) or _RECORDS[name]), _open)
    return {"$schema": DIALECT, "$id": _ID.format(name), **made}


def _events() -> dict[str, Any]:
    """One schema for each type of event, with the header's fields in each."""
    made = msgspec.json.schema(events.Event)
    header = msgspec.json.schema(events.Header)["$defs"]["Header"]
    fields = {key: value for key, value in header["properties"].items() if key != "type"}
    for option in made["anyOf"]:
        body = made["$defs"][option["$ref"].rpartition("/")[2]]
        body["properties"] = {**fields, **body["properties"]}
        body["required"] = [*fields, *body["required"]]
    return made


def _cassette() -> dict[str, Any]:
    """A step is one of its kinds, told by the field that has its name."""
    (made, *steps), defined = msgspec.json.schema_components(
        [cassette.Cassette, *cassette.STEPS.values()], ref_template="#/$defs/{name}"
    )
    return {**made, "$defs": {**defined, "Step": {"anyOf": steps}}}


def _walk(value: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    if isinstance(value, dict):
        return change({key: _walk(item, change) for key, item in value.items()})
    if isinstance(value, list):
        return [_walk(item, change) for item in value]
    return value


def _open(node: dict[str, Any]) -> dict[str, Any]:
    """Unknown keys are welcome, how they are carried is nobody's business, and `$` means the end of the text."""
    node = _hide(node)
    if isinstance(node.get("properties"), dict):
        node.pop("additionalProperties", None)
    if isinstance(node.get("pattern"), str):
        node = {**node, "pattern": node["pattern"].removesuffix(r"(?!\n)")}
    return node


def _hide(node: dict[str, Any]) -> dict[str, Any]:
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return node
    return {**node, "properties": {key: item for key, item in properties.items() if key != wire.RESERVED}}
