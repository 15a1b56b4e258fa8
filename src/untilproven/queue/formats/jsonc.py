"""JSON with comments and trailing commas: read with the place of every value, and changed only where it changes."""

import json
import re
from bisect import bisect_right
from typing import Any

from untilproven.core.naming import quoted
from untilproven.queue.formats.contract import Misread, newline_of
from untilproven.queue.formats.node import Node

DEEPEST = 64
MOST = 400_000
"""Values of one file."""
_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*[\s\S]*?\*/)*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_WORD = re.compile(r"[-+.\w]+")


def parse(text: str) -> Node:
    return _Reader(text).whole()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = len(text) - len(text.removeprefix("\ufeff"))
        self.values = 0
        self.breaks = [found.start() for found in re.finditer("\n", text)]

    def whole(self) -> Node:
        self.skip()
        if self.at == len(self.text):
            raise Misread("the file is empty")
        root = self.value(0)
        self.skip()
        if self.at < len(self.text):
            raise self.wrong("there is more after the end")
        return root

    def skip(self) -> str:
        """To the next piece; its first character, empty at the end."""
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise self.wrong(f"it is nested deeper than {DEEPEST} levels")
        self.values += 1
        if self.values > MOST:
            raise self.wrong(f"there are more than {MOST} values in it")
        start = self.at
        match self.skip():
            case "{":
                value: Any = self.members(depth)
            case "[":
                value = self.items(depth)
            case '"':
                value = self.string()
            case _:
                value = self.word()
        return Node(value, start, self.at, self.line(start))

    def members(self, depth: int) -> dict[str, Node]:
        found: dict[str, Node] = {}
        self.at += 1
        while self.skip() != "}":
            if self.skip() != '"':
                raise self.wrong("a key in double quotes, or }, belongs here")
            key_start = self.at
            key = self.string()
            if key in found:
                raise self.wrong(f"the key {quoted(key)} is there twice")
            if self.skip() != ":":
                raise self.wrong(f"a colon belongs after the key {quoted(key)}")
            self.at += 1
            self.skip()
            node = self.value(depth + 1)
            node.key_start = key_start
            found[key] = node
            self.comma("}")
        self.at += 1
        return found

    def items(self, depth: int) -> list[Node]:
        found = []
        self.at += 1
        while self.skip() != "]":
            found.append(self.value(depth + 1))
            self.comma("]")
        self.at += 1
        return found

    def comma(self, end: str) -> None:
        following = self.skip()
        if following == ",":
            self.at += 1
        elif following != end:
            raise self.wrong(f"a comma, or {end}, belongs here")

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if not found:
            raise self.wrong("a text in double quotes does not end on its line")
        return str(self.scalar(found[0]))

    def word(self) -> Any:
        found = _WORD.match(self.text, self.at)
        if not found:
            raise self.wrong("a value belongs here")
        return self.scalar(found[0])

    def scalar(self, piece: str) -> Any:
        try:
            value = json.loads(piece, parse_constant=_refuse)
        except ValueError:
            raise self.wrong(f"{quoted(piece)} is no JSON") from None
        self.at += len(piece)
        return value

    def wrong(self, why: str) -> Misread:
        return Misread(why, self.line(self.at))

    def line(self, at: int) -> int:
        return bisect_right(self.breaks, at - 1) + 1


def _refuse(word: str) -> None:
    raise ValueError(word)


class Editor:
    """Changes to a text that was read, collected and made at once. Everything else stays byte for byte."""

    def __init__(self, text: str) -> None:
        self.root = parse(text)
        self._text = text
        self._edits: list[tuple[int, int, str]] = []
        indented = re.search(r"\n([ \t]+)[^\s]", text)
        self._step = indented[1] if indented else "  "
        self._newline = newline_of(text)

    def set(self, entry: Node, key: str, value: Any) -> None:
        """Give a key another value; a key that is new comes before the last one, whose comment may follow it."""
        if not isinstance(entry.value, dict):
            raise TypeError("only an object has keys")
        if (old := entry.value.get(key)) is not None:
            if old.value != value or isinstance(old.value, bool) != isinstance(value, bool):
                self._edits.append((old.start, old.end, _dumped(value)))
            return
        member = f"{_dumped(key)}: {_dumped(value)}"
        if not entry.value:
            self._edits.append((entry.start, entry.end, f"{{{member}}}"))
            return
        last = [*entry.value.values()][-1].key_start
        before = self._text[self._text.rfind("\n", 0, last) + 1 : last]
        between = " " if before.strip() or "\n" not in self._text[:last] else f"{self._newline}{before}"
        self._edits.append((last, last, f"{member},{between}"))

    def append(self, items: Node, values: list[Any]) -> None:
        """Put values at the end of a list, laid out as the list is."""
        if not values:
            return
        if not isinstance(items.value, list):
            raise TypeError("only a list can be added to")
        if "\n" not in self._text[: items.end].rstrip() and "\n" not in self._text.strip():
            written = ", ".join(map(_dumped, values))
            place = items.value[-1].end if items.value else items.start + 1
            self._edits.append((place, place, f", {written}" if items.value else written))
            return
        indent = self._indent(items)
        written = f",{self._newline}{indent}".join(self._laid_out(value, indent) for value in values)
        if items.value:
            place = items.value[-1].end
            self._edits.append((place, place, f",{self._newline}{indent}{written}"))
        else:
            closing = indent[: len(indent) - len(self._step)]
            whole = f"[{self._newline}{indent}{written}{self._newline}{closing}]"
            self._edits.append((items.start, items.end, whole))

    def text(self) -> str:
        pieces, at = [], 0
        for start, end, written in sorted(self._edits, key=lambda edit: edit[:2]):
            pieces += [self._text[at:start], written]
            at = end
        return "".join(pieces) + self._text[at:]

    def _indent(self, items: Node) -> str:
        """That of the list's last entry, or one step more than that of the line on which the list begins."""
        at = items.value[-1].start if isinstance(items.value, list) and items.value else items.start
        line = self._text[self._text.rfind("\n", 0, at) + 1 : at]
        indent = line[: len(line) - len(line.lstrip())]
        return indent if items.value and not line.strip() else indent + self._step

    def _laid_out(self, value: Any, indent: str) -> str:
        return json.dumps(value, indent=self._step, ensure_ascii=False).replace("\n", f"{self._newline}{indent}")


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def fresh(value: Any) -> str:
    """A whole new file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
