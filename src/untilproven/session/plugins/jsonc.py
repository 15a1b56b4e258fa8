"""Settings of other programs, read so that they can be changed in place: JSON with comments, and where each value is.

Nothing is written anew but what we add; comments, order, indentation and unknown keys stay as the user has them.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from untilproven.errors import ConfigError

DEEPEST = 200
_GAP = r"(?:[ \t\r\n]+|//[^\n]*|/\*[\s\S]*?\*/)"
_STRING = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
_SCALAR = rf"{_STRING}|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null"
BOM = "\ufeff"


class Node(NamedTuple):
    """A value, and the part of the text that says it."""

    start: int
    end: int
    value: Any = None
    """Of what is neither an object nor an array."""
    members: "tuple[Member, ...] | None" = None
    """Of an object."""
    items: "tuple[Node, ...] | None" = None
    """Of an array."""
    tail: int = 0
    """Where an object or array could go on: after the last value, comma or comment in it."""
    comma: bool = False
    """Whether a comma follows the last value already."""

    @property
    def inside(self) -> "tuple[Node, ...]":
        return tuple(member.node for member in self.members) if self.members is not None else self.items or ()

    def get(self, key: str) -> "Node | None":
        """What this object says for a key; the last one counts if there are several, as for every reader."""
        return next((member.node for member in reversed(self.members or ()) if member.key == key), None)

    def plain(self) -> Any:
        """The value as Python has it."""
        if self.members is not None:
            return {member.key: member.node.plain() for member in self.members}
        return [item.plain() for item in self.items] if self.items is not None else self.value


class Member(NamedTuple):
    key: str
    start: int
    node: Node


class NotJson(ConfigError):
    """The text is not what its program could read."""

    def __init__(self, text: str, at: int, what: str) -> None:
        self.line = line_of(text, at)
        super().__init__(f"line {self.line}: {what}")


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def parse(text: str) -> Node:
    """The one value of a text; comments and a comma after the last member are allowed."""
    reader = _Reader(text)
    reader.skip()
    if reader.at == len(text):
        raise NotJson(text, reader.at, "the file is empty")
    root = reader.value(0)
    reader.skip()
    if reader.at != len(text):
        raise NotJson(text, reader.at, "there is something after the end of the settings")
    return root


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = len(BOM) if text.startswith(BOM) else 0
        self._gap, self._scalar, self._string = re.compile(_GAP), re.compile(_SCALAR), re.compile(_STRING)

    def skip(self) -> int:
        """Past what means nothing; where the last comment ended, or where it began to look."""
        after = self.at
        while found := self._gap.match(self.text, self.at):
            self.at = found.end()
            if not found.group().isspace():
                after = self.at
        return after

    def value(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise NotJson(self.text, self.at, f"nested deeper than {DEEPEST} levels")
        match self.text[self.at : self.at + 1]:
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
        start = self.at
        return Node(start, self.at, self._read(self._scalar, "a value"))._replace(end=self.at)

    def _read(self, pattern: "re.Pattern[str]", wanted: str) -> Any:
        found = pattern.match(self.text, self.at)
        if not found:
            raise NotJson(self.text, self.at, f"{self._here()} instead of {wanted}")
        self.at = found.end()
        return json.loads(found.group())

    def _here(self) -> str:
        return repr(self.text[self.at]) if self.at < len(self.text) else "the end of the file"

    def _object(self, depth: int) -> Node:
        start = self.at
        members: list[Member] = []

        def member() -> None:
            at = self.at
            key = self._read(self._string, "a key")
            self.skip()
            self._mark(":")
            self.skip()
            members.append(Member(key, at, self.value(depth + 1)))

        tail, comma = self._parts("}", member)
        return Node(start, self.at, members=tuple(members), tail=tail, comma=comma)

    def _array(self, depth: int) -> Node:
        start = self.at
        items: list[Node] = []
        tail, comma = self._parts("]", lambda: items.append(self.value(depth + 1)))
        return Node(start, self.at, items=tuple(items), tail=tail, comma=comma)

    def _parts(self, end: str, read: Callable[[], None]) -> tuple[int, bool]:
        """Read every part up to the end; where the container could go on, and whether a comma is there already."""
        self.at += 1
        empty = may_follow = True
        while True:
            tail = self.skip()
            if self.text[self.at : self.at + 1] == end:
                self.at += 1
                return tail, may_follow and not empty
            if may_follow:
                read()
                empty = may_follow = False
            else:
                self._mark(",", f"`,` or `{end}`")
                may_follow = True

    def _mark(self, mark: str, wanted: str = "") -> None:
        if self.text[self.at : self.at + 1] != mark:
            raise NotJson(self.text, self.at, f"{self._here()} instead of {wanted or f'`{mark}`'}")
        self.at += 1
