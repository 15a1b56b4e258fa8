"""On which line each key of a TOML file stands: `tomllib` does not say, and an error without a line is half an error.

Strings, of all four kinds, and comments are read as one piece each, so nothing inside them is taken for a key. It also
measures how deep the file goes, because `tomllib` needs hours for a key of 500,000 parts and recurses for each bracket.
"""

import re
from collections.abc import Iterator

DEEPEST = 32
_MARKS = frozenset("=.,{}[]\n")
# No possessive quantifiers, although they would read better: Python 3.11 before 3.11.5 gets them wrong.
_PIECE = r"""(?x)
      (?P<blank> [ \t\r]+ | \#[^\n]* )
    | (?P<piece> \"{3} [^"\\]* (?: (?: \\[\s\S] | "(?!") | ""(?!") ) [^"\\]* )* "{3,5}
               | '{3}  [^']*   (?: (?: '(?!') | ''(?!') ) [^']* )* '{3,5}
               | " [^"\\\n]* (?: \\[^\n] [^"\\\n]* )* "
               | ' [^'\n]* '
               | [A-Za-z0-9_+:-]+
               | [=.,{}\[\]\n] )
    | (?P<wrong> [\s\S] )
"""
KeyPath = tuple[str, ...]


class TooDeep(Exception):
    def __init__(self, line: int) -> None:
        super().__init__(f"nested deeper than {DEEPEST} levels")
        self.line = line


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line of every key and table of a valid file; of an invalid one, of those before the mistake."""
    reader = _Reader()
    for piece, line in _pieces(text):
        reader.take(piece, line)
    return reader.lines


def _pieces(text: str) -> Iterator[tuple[str, int]]:
    """Stops at the first thing that TOML does not have; `tomllib` will say what it is."""
    line = 1
    for found in re.finditer(_PIECE, text):
        piece = found.group()
        if found.lastgroup == "piece":
            yield piece, line
            line += piece.count("\n")
        elif found.lastgroup == "wrong":
            return


class _Reader:
    """Follows the marks of the grammar: whether a key, a table's header or a value is being read, and inside what."""

    def __init__(self) -> None:
        self.lines: dict[KeyPath, int] = {}
        self.take = self._in_key
        self._table: KeyPath = ()
        self._parts: list[str] = []
        self._path: KeyPath = ()
        # The open brackets of a value: the key an inline table belongs to, or None for a list.
        self._open: list[KeyPath | None] = []

    def _in_key(self, piece: str, line: int) -> None:
        if piece not in _MARKS:
            self._add_part(piece, line)
        elif piece == "=":
            inside = self._open[-1] if self._open else self._table
            self._path = self._record(inside or (), line)
            self.take = self._in_value
        elif piece == "[" and not self._parts:
            self.take = self._in_header
        elif piece == "}":
            self._close()

    def _in_header(self, piece: str, line: int) -> None:
        if piece not in _MARKS:
            self._add_part(piece, line)
        elif piece == "]" and self._parts:
            self._table = self._record((), line)
        elif piece == "\n":
            self._next_key()

    def _in_value(self, piece: str, line: int) -> None:
        if piece not in _MARKS:
            return
        if piece == ",":
            if self._open and self._open[-1] is not None:
                self._next_key()
        elif piece == "\n":
            if not self._open:
                self._next_key()
        elif piece in "]}":
            self._close()
        elif piece in "[{":
            if len(self._open) == DEEPEST:
                raise TooDeep(line)
            self._open.append(self._path if piece == "{" else None)
            if piece == "{":
                self._next_key()

    def _add_part(self, piece: str, line: int) -> None:
        if len(self._parts) == DEEPEST:
            raise TooDeep(line)
        self._parts.append(_unquoted(piece))

    def _record(self, inside: KeyPath, line: int) -> KeyPath:
        path = (*inside, *self._parts)
        if len(path) > DEEPEST:
            raise TooDeep(line)
        for length in range(len(inside) + 1, len(path) + 1):
            self.lines.setdefault(path[:length], line)
        self._parts = []
        return path

    def _next_key(self) -> None:
        self._parts = []
        self.take = self._in_key

    def _close(self) -> None:
        if self._open:
            self._open.pop()
        self.take = self._in_value


def _unquoted(text: str) -> str:
    if text[0] == '"' and "\\" in text:
        import tomllib  # noqa: PLC0415  hardly anybody escapes a key

        try:
            return str(tomllib.loads(f"key = {text}")["key"])
        except tomllib.TOMLDecodeError:
            return text
    return text[1:-1] if text[0] in "\"'" else text
