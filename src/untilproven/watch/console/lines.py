"""A line on the console: pieces of text with a color each, cut to the width of whoever reads it."""

from typing import NamedTuple

from untilproven.core.text import printable
from untilproven.watch.color import DIM, painted

_BELIEVED = 10_000
_ELLIPSIS = "…"
_ROOMY = 40

WIDEST = 400
"""How many columns a line may have where nobody says how many there are."""


class Piece(NamedTuple):
    text: str
    color: int = 0


class Line(NamedTuple):
    pieces: tuple[Piece, ...]
    loud: bool = False
    """Shown to somebody who asked for quiet, too, and never cut: it may be what to type next."""
    stamp: str = ""
    """When it was; left out where there is little room."""

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


def line(*parts: str | Piece, loud: bool = False) -> Line:
    """A line of these parts; text from outside has been through `one_line` before."""
    return Line(tuple(part if isinstance(part, Piece) else Piece(part) for part in parts if part), loud)


def rendered(shown: Line, *, room: int, colored: bool) -> str:
    """The line in at most so many columns, with escape sequences only if they are wanted."""
    stamp = (Piece(shown.stamp, DIM),) if shown.stamp and room >= _ROOMY else ()
    room = WIDEST if shown.loud else room
    made = []
    for text, color in (*stamp, *shown.pieces):
        cut = fitted(text, room)
        made.append(painted(cut, color) if color and colored else cut)
        room -= width(text)
        if room <= 0:
            break
    return "".join(made)


def one_line(raw: str) -> str:
    """Text from outside as one harmless line: no control, no escape sequence, nothing that turns the direction."""
    flat = " ".join(printable(raw[:_BELIEVED]).split())
    return flat if flat.isprintable() else "".join(filter(str.isprintable, flat))


def first_line(raw: str) -> str:
    """The first line that says anything."""
    lines = (one_line(part) for part in printable(raw[:_BELIEVED]).splitlines())
    return next(filter(None, lines), "")


def width(text: str) -> int:
    """How many columns a terminal gives it, as far as that can be known."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def fitted(text: str, room: int) -> str:
    """As much of the text as fits, with a sign where it was cut."""
    if room <= 0:
        return ""
    if width(text) <= room:
        return text
    kept, left = [], room - 1
    for character in text:
        left -= _columns(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept) + _ELLIPSIS


def _columns(character: str) -> int:
    if character.isascii():
        return 1
    import unicodedata  # noqa: PLC0415  most text is ASCII

    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
