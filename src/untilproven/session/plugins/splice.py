"""Adding to a JSON text and taking out of it, with everything else as it was, to the byte."""

import json
import re
from typing import Any, NamedTuple

from untilproven.session.plugins.jsonc import Node, NotJson, parse

_UNIT = "  "


class Style(NamedTuple):
    """How this text is laid out."""

    newline: str
    unit: str
    """One step of indentation."""


def added(text: str, path: tuple[str, ...], value: Any) -> str:
    """The text with a value at the end of the array at this path; what is missing on the way is made."""
    node = parse(text)
    for depth, key in enumerate(path):
        if node.members is None:
            raise NotJson(text, node.start, f"{_named(path[:depth])} is not an object, so nothing can be added to it")
        inner = node.get(key)
        if inner is None:
            made: Any = [value]
            for name in reversed(path[depth + 1 :]):
                made = {name: made}
            return _insert(text, node, f"{json.dumps(key)}: ", made)
        node = inner
    if node.items is None:
        raise NotJson(text, node.start, f"{_named(path)} is not an array, so nothing can be added to it")
    return _insert(text, node, "", value)


def removed(text: str, container: Node, place: int) -> str:
    """The text without one member or item, its comma, and the blanks before it."""
    starts = [part.start for part in container.members or container.items or ()]
    ends = [part.end for part in container.inside]
    start = len(text[: starts[place]].rstrip())
    end = ends[place]
    last = place == len(starts) - 1
    if not last or container.comma:
        end = _comma(text, end) + 1
    elif place:
        comma = _comma(text, ends[place - 1])
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    text = text[:start] + text[end:]
    if len(starts) == 1 and (found := re.compile(r"[{\[]\s*[}\]]").match(text, container.start)):
        text = text[: container.start + 1] + text[found.end() - 1 :]
    return text


def _insert(text: str, container: Node, key: str, value: Any) -> str:
    style = _style(text)
    inside = container.inside
    after = "," if container.comma else ""  # who ends with a comma goes on to do so
    body = text[container.start : container.end]
    # Two places change, the later one first: the new part, then the comma after the one before it.
    if "\n" in body or (
        not inside and (container.start == len(text) - len(text.lstrip("\ufeff \t\r\n")) or "\n" in text)
    ):
        margin = _margin(text, container.start)
        step = _margin(text, inside[-1].start) if inside and _begins_line(text, container) else margin + style.unit
        piece = json.dumps(value, indent=style.unit, ensure_ascii=False).replace("\n", style.newline + step)
        close = "" if "\n" in text[container.tail : container.end] else style.newline + margin
        new = f"{style.newline}{step}{key}{piece}{after}{close}"
    else:
        new = f"{' ' if inside else ''}{key}{json.dumps(value, ensure_ascii=False)}{after}"
    text = text[: container.tail] + new + text[container.tail :]
    if inside and not container.comma:
        text = f"{text[: inside[-1].end]},{text[inside[-1].end :]}"
    return text


def _begins_line(text: str, container: Node) -> bool:
    """Whether the last part has a line of its own, whose indentation the next one takes."""
    start = (container.members or container.items or ())[-1].start
    return text[:start].rstrip(" \t").endswith("\n")


def _margin(text: str, at: int) -> str:
    """The blanks at the beginning of the line of this place."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _style(text: str) -> Style:
    indented = re.search(r"[{\[][ \t]*\r?\n([ \t]+)\S", text)
    return Style("\r\n" if "\r\n" in text else "\n", indented.group(1) if indented else _UNIT)


def _comma(text: str, after: int) -> int:
    """Where the comma is that follows a part; comments may be between."""
    found = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*[\s\S]*?\*/)*,").match(text, after)
    if not found:  # the parser saw one there
        raise NotJson(text, after, "there is no comma")
    return found.end() - 1


def _named(path: tuple[str, ...]) -> str:
    return f"`{'.'.join(path)}`" if path else "the whole file"
