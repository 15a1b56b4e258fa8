"""XML from strangers: no document type, no entities, no tree in memory.

The standard library's expat is used directly: with DOCTYPE refused it has nothing left to expand or to fetch, and
events keep a report of 64 MiB from becoming a tree of a gigabyte.
"""

from typing import Protocol
from xml.parsers import expat

from untilproven.checks.reports.results import Report, Unreadable, opened

_DEPTH = 200
_CHUNK = 1024 * 1024


class Listener(Protocol):
    def start(self, tag: str, attributes: dict[str, str]) -> None: ...

    def end(self, tag: str) -> None: ...

    def data(self, text: str) -> None: ...


def listen(report: Report, listener: Listener) -> None:
    """Tell the listener every element; tags come without their namespace."""
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEPTH:
            raise Unreadable(f"the report is nested more than {_DEPTH} deep")
        listener.start(tag.rpartition(" ")[2], attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        listener.end(tag.rpartition(" ")[2])

    def refuse(*_: object) -> None:
        raise Unreadable("the report has a DOCTYPE, which no test runner writes")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = listener.data
    parser.StartDoctypeDeclHandler = refuse
    try:
        with opened(report) as file:
            while chunk := file.read(_CHUNK):
                parser.Parse(chunk, False)
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise Unreadable(f"the report is not XML: {error}") from error
