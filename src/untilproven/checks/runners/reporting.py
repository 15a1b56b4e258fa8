"""How a runner is asked for a report, without changing what the user's line means."""

import shlex
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import msgspec

from untilproven.checks.inside import SMALL
from untilproven.checks.line import Line
from untilproven.checks.wrappers import base
from untilproven.contract import Room, TestResult


def text_in(room: Room, path: PurePosixPath) -> str | None:
    """What a small file of the tree says; None if there is none."""
    found = room.read(path, SMALL)
    return None if found is None else found.decode("utf-8", "replace")


class Also(msgspec.Struct, frozen=True):
    """What a run is given besides what the user typed: words for the runner, and some of its own that are left out."""

    words: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()


class Call(msgspec.Struct, frozen=True):
    """A known runner in a line: which word it is, and where it will look for its files."""

    line: Line
    at: int
    room: Room | None = None
    """None while the line is only looked at."""
    directory: PurePosixPath = PurePosixPath()
    """Where it runs, from the tree's root on."""

    @property
    def root(self) -> Path:
        """The same as a program in the room sees it."""
        return self.room.root / self.directory if self.room else Path("/")

    @property
    def runner(self) -> str:
        return base(self.line.words[self.at].text)

    def text_of(self, name: str) -> str | None:
        """What a small file of the tree says, named from where the runner runs."""
        return text_in(self.room, self.directory / name) if self.room else None

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.line.words[self.at + 1 :])


class Reporting(msgspec.Struct, frozen=True, kw_only=True):
    """What is added to a line, and how the report is read afterwards."""

    read: Callable[[], list[TestResult]]
    files: tuple[tuple[str, bytes], ...] = ()
    """What must lie in the scratch directory first, by name."""
    first: str = ""
    """Options that must stand right behind the runner's own words, of which there are `behind` more than one."""
    behind: int = 0
    last: str = ""
    """Options at the end, before a `--`; there they win over the user's."""
    before: str = ""
    """A variable set for the runner alone."""
    instead: str = ""
    """A program with its options in place of the words up to and with the runner's."""
    dropped: frozenset[str] = frozenset()
    """Options of the user's that only make it say less."""
    printed: Path | None = None
    """Where the output goes when the report can only be had from there."""
    shown: Callable[[], str] | None = None
    """What the user would have seen of it."""

    @property
    def only_adds(self) -> bool:
        """Whether a script runner such as `npm test` can pass it on."""
        return not (self.first or self.instead or self.dropped or self.printed)

    def with_also(self, also: Also) -> "Reporting":
        last = " ".join(part for part in (self.last, shlex.join(also.words)) if part)
        return msgspec.structs.replace(self, last=last, dropped=self.dropped | also.without)


def apply(call: Call, asked: Reporting) -> str:
    """The line with the request in it; everything else stays as it was typed."""
    text, words = call.line.text, call.line.words
    given = words[call.at + 1 :]
    begin = words[0].start
    end = next((word.start for word in given if word.text == "--"), len(text))
    behind = words[call.at + asked.behind].end
    edits = [(begin, begin, asked.before), (end, end, asked.last), (behind, behind, asked.first)]
    edits += [(word.start, word.end, "") for word in given if word.text in asked.dropped]
    if asked.instead:
        edits.append((begin, words[call.at].end, asked.instead))
    for start, stop, put in sorted(edits, reverse=True):
        if put or stop > start:
            text = " ".join(part for part in (text[:start].rstrip(), put, text[stop:].lstrip()) if part)
    return f"{text} >{shlex.quote(str(asked.printed))} 2>&1" if asked.printed else text
