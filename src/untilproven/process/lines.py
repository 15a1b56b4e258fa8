"""Lines of text out of chunks of bytes, however long a line or short a chunk."""

import codecs
from collections.abc import Iterator

LONGEST_LINE = 1024 * 1024


class Lines:
    """Splits what a program prints. An over-long line is given once, cut; what follows up to its end is dropped."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._begun = bytearray()
        self._dropping = False

    def feed(self, chunk: bytes) -> Iterator[str]:
        """The lines that are complete now, without their newlines."""
        whole, newline, rest = chunk.rpartition(b"\n")
        if newline and not self._dropping and len(self._begun) + len(whole) <= self._longest:
            yield from decoded(bytes(self._begun + whole), cut=False).split("\n")
            self._begun.clear()
        elif newline:
            yield from self._one_by_one(whole)
        yield from self._add(rest)

    def _one_by_one(self, whole: bytes) -> Iterator[str]:
        for end in whole.split(b"\n"):
            yield from self._add(end)
            if not self._dropping:
                yield self._take()
            self._dropping = False

    def finish(self) -> Iterator[str]:
        """The last line, if it had no newline."""
        if self._begun:
            yield self._take()
        self._dropping = False

    def _add(self, piece: bytes) -> Iterator[str]:
        if self._dropping:
            return
        room = self._longest - len(self._begun)
        self._begun += piece[:room]
        if len(piece) > room:
            self._dropping = True
            yield self._take(cut=True)

    def _take(self, *, cut: bool = False) -> str:
        line = decoded(bytes(self._begun), cut=cut)
        self._begun.clear()
        return line


def decoded(data: bytes, *, cut: bool) -> str:
    """UTF-8, with a sign for what is none; at a cut, half a character is left out."""
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data, not cut)
