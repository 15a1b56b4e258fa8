"""What the queue of another tool is to us: tasks in its own words, and what it says about all of them."""

import hashlib
from collections.abc import Sequence
from pathlib import PurePath
from typing import Protocol

import msgspec

from untilproven.model.task import Task

MOST = 10_000
"""Entries of one file."""


class Misread(Exception):
    """The text is not in its format; `line` is counted from 1."""

    def __init__(self, why: str, line: int = 1) -> None:
        super().__init__(why)
        self.why = why
        self.line = line


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it was read. The ids of its tasks are its own, and `done` is what it claims."""

    tasks: tuple[Task, ...] = ()
    checks: tuple[str, ...] = ()
    """Commands that must pass for every task."""
    never_touch: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def refuse_too_many(entries: Sequence[object], line: int = 1) -> None:
    if len(entries) > MOST:
        raise Misread(f"there are more than {MOST} entries", line)


class Reader(Protocol):
    """A format, which is a module. `recognises` is asked with an empty text for a file that is still to be written."""

    NAME: str
    ABOUT: str

    def recognises(self, path: PurePath, text: str) -> bool: ...

    def read(self, text: str) -> Imported: ...


class Writer(Reader, Protocol):
    """A format that we also write. The ids of the tasks are those that `read` gives, or new."""

    HOLDS: frozenset[str]
    """The fields of a task that survive, beyond its id, title and status."""

    def write(self, tasks: Sequence[Task], original: str) -> str: ...


class Keys:
    """What an entry is known by when the file is read again: its own id, or its title if it has none."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def of(self, own: str, title: str, line: int) -> str:
        if own:
            if own in self._seen:
                raise Misread(f"{own} is there twice", line)
            self._seen[own] = 1
            return own
        key = hashlib.sha256(title.encode("utf-8", "replace")).hexdigest()[:12]
        self._seen[key] = times = self._seen.get(key, 0) + 1
        return key if times == 1 else f"{key}-{times}"


def newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
