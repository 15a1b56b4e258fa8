"""The part of YAML that lists of tasks are written in: blocks of mappings and lists, scalars, block scalars.

Everything else (anchors, tags, values over several lines, nested flow collections) is refused with its line: a list of
tasks that is read half is worse than one that is not read.
"""

import json
import re
from typing import Any, NamedTuple

from untilproven.core.naming import quoted
from untilproven.queue.formats.contract import Misread
from untilproven.queue.formats.node import Node

DEEPEST = 16
MOST = 200_000
"""Lines of one file."""
_KEY = re.compile(
    r"""("[^"\\]*+(?:\\.[^"\\]*+)*+"|'(?:[^']|'')*+'|[^\s"'\[\]{}#&*!|>%@`,?:-][^:#]*+|-[^\s:#][^:#]*+) *:(?= |$)"""
)
_SPACES = re.compile(" *")
_DOUBLE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"')
_SINGLE = re.compile(r"'((?:[^']|'')*)'")
_FLOWN = re.compile(r"[^\s,\[\]{}\"'&*!|>%@`#][^,\[\]{}#]*")
_INTEGER = re.compile(r"[-+]?\d{1,300}")
_FLOAT = re.compile(r"[-+]?(?:\.\d+|\d+\.\d*)(?:[eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+")
_BLOCK = re.compile(r"([|>])([-+]?)(?: +#.*| *)")
_STRANGE = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|\r(?!\n)"
)
"""Control characters, and line ends that only some take for one."""
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)


class _Line(NamedTuple):
    number: int
    start: int
    """Where it begins in the text."""
    indent: int
    text: str
    """Without indentation and line end."""

    @property
    def blank(self) -> bool:
        return not self.text or self.text.startswith("#")


def parse(text: str) -> Node:
    if strange := _STRANGE.search(text, text.startswith("\ufeff")):
        raise Misread(
            f"there is {quoted(strange[0])} in it, which is not read", text.count("\n", 0, strange.start()) + 1
        )
    if text.count("\n") > MOST:
        raise Misread(f"there are more than {MOST} lines in it", MOST + 1)
    reader = _Reader(text)
    first = reader.peek()
    if first is None:
        raise Misread("the file is empty")
    root = reader.block(first.indent, 0)
    if rest := reader.peek():
        raise Misread("this line is indented in a way that does not fit what is above it", rest.number)
    return root


class _Reader:
    def __init__(self, text: str) -> None:
        self.lines: list[_Line] = []
        self.at = 0
        start = len(text) - len(text.removeprefix("\ufeff"))
        for number, raw in enumerate(text[start:].split("\n"), start=1):
            body = raw.rstrip("\r")
            head = len(body) - len(body.lstrip(" "))
            self.lines.append(_Line(number, start, head, body[head:]))
            start += len(raw) + 1
        self.unfinished = bool(raw)
        """Whether the file ends without a line end."""
        if not raw:
            self.lines.pop()
        while self.at < len(self.lines) and self.lines[self.at].blank:
            self.at += 1
        if (
            self.at < len(self.lines)
            and not self.lines[self.at].indent
            and self.lines[self.at].text.rstrip(" ") == "---"
        ):
            self.at += 1

    def peek(self) -> _Line | None:
        """The next line that says something."""
        while self.at < len(self.lines) and self.lines[self.at].blank:
            self.at += 1
        if self.at == len(self.lines):
            return None
        line = self.lines[self.at]
        if "\t" in line.text:
            raise Misread("a tab is only read in a block of text; write spaces", line.number)
        if line.indent == 0 and re.match(r"(?:---|\.\.\.)(?:\s|$)|%", line.text):
            raise Misread("more than one document, or a directive, is not read", line.number)
        return line

    def block(self, indent: int, depth: int) -> Node:
        line = self.peek()
        if line is None:
            raise Misread("something is missing at the end", len(self.lines))
        if depth > DEEPEST:
            raise Misread(f"it is nested deeper than {DEEPEST} levels", line.number)
        return self.items(indent, depth) if _is_item(line.text) else self.members(line, indent, depth)

    def items(self, indent: int, depth: int) -> Node:
        found: list[Node] = []
        first = line = self.peek()
        while line and line.indent == indent and _is_item(line.text):
            rest = line.text[1:].lstrip(" ")
            inner = indent + len(line.text) - len(rest)
            if not rest or rest.startswith("#"):
                self.at += 1
                found.append(self.nested(line, indent, depth))
            elif _is_item(rest):
                raise Misread("a list in a list is not read", line.number)
            elif _KEY.match(rest):
                self.lines[self.at] = line = _Line(line.number, line.start, inner, rest)
                found.append(self.members(line, inner, depth + 1))
            else:
                self.at += 1
                found.append(self.scalar(rest, line, line.start + inner, indent))
            line = self.peek()
        start = first.start if first else 0
        return Node(found, start, self.end(), first.number if first else 1, indent)

    def members(self, first: _Line, indent: int, depth: int) -> Node:
        found: dict[str, Node] = {}
        line: _Line | None = first
        while line and line.indent == indent and not _is_item(line.text):
            key = _KEY.match(line.text)
            if not key:
                raise Misread(f"{quoted(line.text)} is not `key: value`", line.number)
            name = str(_unquoted(key[1], line.number)) if key[1][0] in "\"'" else key[1].rstrip(" ")
            if name in found:
                raise Misread(f"the key {quoted(name)} is there twice", line.number)
            rest = line.text[key.end() :].lstrip()
            place = line.start + indent + len(line.text) - len(rest)
            self.at += 1
            node = (
                self.nested(line, indent, depth)
                if not rest or rest[0] == "#"
                else self.scalar(rest, line, place, indent)
            )
            node.key_start = line.start + indent
            found[name] = node
            line = self.peek()
        if line and line.indent > indent:
            raise Misread("a value over several lines needs a | or > after its key", line.number)
        return Node(found, first.start, self.end(), first.number, indent)

    def nested(self, line: _Line, indent: int, depth: int) -> Node:
        """What stands under a key, or under the dash of a list, that has nothing beside it."""
        following = self.peek()
        if following and (
            following.indent > indent
            or (_is_item(following.text) and following.indent == indent and not _is_item(line.text))
        ):
            return self.block(following.indent, depth + 1)
        end = line.start + line.indent + len(line.text)
        return Node(None, end, end, line.number, indent)

    def scalar(self, rest: str, line: _Line, place: int, indent: int) -> Node:
        if rest[0] in "|>":
            return self.block_scalar(rest, line, place, indent)
        if rest[0] in "&*!%@`?]},":
            raise Misread(f"{quoted(rest)} begins with {rest[0]}, which is not read; put it in quotes", line.number)
        if _is_item(rest):
            raise Misread("a list begins on a line of its own", line.number)
        if rest[0] == "[":
            return self.flow(rest, line, place)
        if rest[0] == "{":
            if re.fullmatch(r"\{\s*\}\s*(?:#.*)?", rest):
                return Node({}, place, place + len(rest), line.number)
            raise Misread("a mapping in braces is not read; give each key its own line", line.number)
        written = _piece(rest, line.number)
        return Node(_unquoted(written, line.number), place, place + len(written), line.number)

    def flow(self, rest: str, line: _Line, place: int) -> Node:
        """`[a, "b"]`, on one line, and nothing nested in it."""
        found: list[Node] = []
        at = 1
        while True:
            at = _after_spaces(rest, at)
            if rest[at : at + 1] == "]":
                break
            piece = _DOUBLE.match(rest, at) or _SINGLE.match(rest, at) or _FLOWN.match(rest, at)
            if not piece:
                raise Misread("only a list of plain values, closed on its line, can stand in brackets", line.number)
            if piece[0][0] in "-?:" or (piece[0][0] not in "\"'" and re.search(r":(?: |$)", piece[0])):
                raise Misread("only a list of plain values, closed on its line, can stand in brackets", line.number)
            value = _unquoted(piece[0].strip(), line.number)
            found.append(Node(value, place + at, place + piece.end(), line.number))
            at = _after_spaces(rest, piece.end())
            if rest[at : at + 1] == ",":
                at += 1
            elif rest[at : at + 1] != "]":
                raise Misread("only a list of plain values, closed on its line, can stand in brackets", line.number)
        if rest[at + 1 :].strip() and not re.match(r"\s+#", rest[at + 1 :]):
            raise Misread("there is more after the bracket", line.number)
        return Node(found, place, place + at + 1, line.number)

    def block_scalar(self, rest: str, line: _Line, place: int, indent: int) -> Node:
        head = _BLOCK.fullmatch(rest)
        if not head:
            raise Misread(f"{quoted(rest)} is not read; write | or >, perhaps with a - or +", line.number)
        block: list[_Line] = []
        while self.at < len(self.lines):
            one = self.lines[self.at]
            if one.text and one.indent <= indent:
                break
            block.append(one)
            self.at += 1
        body = _body(block)
        blanks = len(block) - len(body) if body else len(block)
        text = "\n".join(body) if head[1] == "|" else _folded(body)
        ends = "\n" * (bool(body) + (blanks if head[2] == "+" else 0))
        if self.unfinished and block and block[-1] is self.lines[-1] and (head[2] == "+" or not blanks):
            ends = ends[1:]
        return Node(text if head[2] == "-" else text + ends, place, self.end(), line.number)

    def end(self) -> int:
        """Where the last line that was read ends."""
        at = self.at - 1
        while at > 0 and self.lines[at].blank:
            at -= 1
        one = self.lines[at]
        return one.start + one.indent + len(one.text)


def _is_item(text: str) -> bool:
    return text.startswith("- ") or text == "-"


def _after_spaces(text: str, at: int) -> int:
    found = _SPACES.match(text, at)
    return found.end() if found else at


def _piece(rest: str, number: int) -> str:
    """A scalar as it is written, without the comment after it."""
    quoted_one = _DOUBLE.match(rest) or _SINGLE.match(rest)
    if quoted_one:
        if rest[quoted_one.end() :].strip() and not re.match(r"\s+#", rest[quoted_one.end() :]):
            raise Misread("there is more after the closing quote", number)
        return quoted_one[0]
    if rest[0] in "\"'":
        raise Misread("a text in quotes does not end on its line", number)
    plain = re.split(r"\s#", rest, maxsplit=1)[0].rstrip()
    if re.search(r":(?:\s|$)", plain):
        raise Misread(f"{quoted(plain)} has a colon in it; put it in quotes", number)
    return plain


def _unquoted(piece: str, number: int) -> Any:
    if piece.startswith('"'):
        try:
            return json.loads(piece, strict=False)
        except ValueError:
            raise Misread(f"{quoted(piece)} has an escape that is not read", number) from None
    if piece.startswith("'"):
        return piece[1:-1].replace("''", "'")
    if piece in _WORDS:
        return _WORDS[piece]
    if _INTEGER.fullmatch(piece):
        return int(piece)
    return float(piece) if _FLOAT.fullmatch(piece) else piece


def _body(block: list[_Line]) -> list[str]:
    """The lines of a block of text without what its first one is indented by, and without the blank ones at its end."""
    inner = next((one.indent for one in block if one.text), max((one.indent for one in block), default=0))
    found: list[str] = []
    begun = False
    for one in block:
        begun = begun or bool(one.text)
        if one.text and one.indent < inner:
            raise Misread("this line is indented less than the first line of its text", one.number)
        if not one.text and one.indent > inner and not begun:
            raise Misread("this blank line is indented more than the text under it", one.number)
        found.append(" " * (one.indent - inner) + one.text)
    while found and not found[-1]:
        found.pop()
    return found


def _folded(texts: list[str]) -> str:
    """Lines of one paragraph become one; a line that is indented more stays a line."""
    body, blanks = "", 0
    before = ""
    for text in texts:
        if not text:
            blanks += 1
            continue
        if not before:
            body += "\n" * blanks
        elif before[0] in " \t" or text[0] in " \t":
            body += "\n" * (blanks + 1)
        else:
            body += "\n" * blanks if blanks else " "
        body += text
        before, blanks = text, 0
    return body


def written(text: str) -> str:
    """A text as a scalar on one line."""
    return json.dumps(text, ensure_ascii=False)
