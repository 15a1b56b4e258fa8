"""Check boxes and headings of a Markdown text: not those in its code blocks and comments."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from untilproven.model.task import Task

_BOX = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[(?P<mark>[ xX/])\][ \t]+(?P<text>\S.*)")
_HEADING = re.compile(r"(#{1,6})[ \t](.*)")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_OWN_ID = re.compile(
    r"(?:\*\*|`)?([A-Z][A-Z0-9]{0,20}-\d{1,9})(?:\*\*|`)?(?:[ \t]*[:.)\u2013\u2014-][ \t]*|[ \t]+)(\S.*)"
)


class Line(NamedTuple):
    number: int
    """From 1."""
    text: str
    code: bool
    """In a code block, or its fence."""
    comment: bool


class Box(NamedTuple):
    indent: int
    mark: str
    text: str


def lines(text: str) -> Iterator[Line]:
    fence, commented = "", False
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.rstrip("\r")
        if number == 1:
            line = line.removeprefix("\ufeff")
        found = _FENCE.match(line)
        if fence:
            yield Line(number, line, code=True, comment=False)
            if found and found[1].startswith(fence) and not line[found.end() :].strip():
                fence = ""
        elif commented or line.lstrip().startswith("<!--"):
            commented = "-->" not in line
            yield Line(number, line, code=False, comment=True)
        elif found:
            fence = found[1]
            yield Line(number, line, code=True, comment=False)
        else:
            yield Line(number, line, code=False, comment=False)


def box(line: Line) -> Box | None:
    if line.code or line.comment or "[" not in line.text:
        return None
    found = _BOX.fullmatch(line.text)
    return Box(len(found["indent"].expandtabs(4)), found["mark"].lower(), found["text"].strip()) if found else None


def heading(line: Line) -> tuple[int, str] | None:
    """Its level and its words."""
    if line.code or line.comment or not line.text.startswith("#"):
        return None
    found = _HEADING.fullmatch(line.text)
    if not found:
        return None
    words = found[2].strip()
    closed = words.rstrip("#")  # `## Words ##`, and not `## About C#`
    return len(found[1]), closed.rstrip() if closed != closed.rstrip() or not closed else words


def named(text: str) -> tuple[str, str]:
    """The id that an entry begins with, if it does, and the rest: `US-001: Add a login`."""
    found = _OWN_ID.fullmatch(text)
    return (found[1], found[2].strip()) if found else ("", text)


def labelled(task: Task) -> str:
    """The words of an entry for a task of ours: its title, and its id where `named` finds it again."""
    title = " ".join(task.title.split())
    with_id = f"{task.id}: {title}"
    return with_id if named(with_id)[0] == task.id else title


def contained(text: str) -> list[str]:
    """The lines of a description; as a quotation, if a code block or comment in it would not end where it ends."""
    found = [*lines(f"{text}\n- [ ] the next")]
    broken = box(found[-1]) is None or any(heading(one) for one in found)
    return [f"> {one}".rstrip() if broken else one.rstrip() for one in text.split("\n")]


def marked(line: str, mark: str) -> str:
    """The line with another mark in its box, which is the first thing on it."""
    at = line.index("[") + 1
    return line[:at] + mark + line[at + 1 :]


def dedented(block: list[str]) -> str:
    """A block of lines without what all of them are indented by, and without blank lines around it."""
    widths = [len(line) - len(line.lstrip()) for line in block if line.strip()]
    by = min(widths, default=0)
    return "\n".join(line[by:].rstrip() for line in block).strip("\n")
