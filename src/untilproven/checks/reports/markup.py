"""XML from strangers: no declarations, no entities, no tree in memory.

The standard library's expat is used directly: with DOCTYPE refused it has nothing left to expand or to fetch, and
events keep a report of 64 MiB from becoming a tree of a gigabyte. One that only names a document type elsewhere
declares nothing, and expat does not fetch it.
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


def listen(report: Report, listener: Listener, *, names_its_type: bool = False) -> None:
    """Tell the listener every element; tags come without their namespace. Tools that write a DOCTYPE only name one."""
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

    def doctype(_name: str, _system: str | None, _public: str | None, declares: bool) -> None:
        if declares or not names_its_type:
            raise Unreadable("the report has a DOCTYPE, which the tool that should have written it does not write")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = listener.data
    parser.StartDoctypeDeclHandler = doctype
    try:
        with opened(report) as file:
            while chunk := file.read(_CHUNK):
                parser.Parse(chunk, False)
            parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # the last two for an encoding that is none
        raise Unreadable(f"the report is not XML: {error}") from error
