"""The formats that are known; where two recognise a file, the first has it."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import TypeVar

from untilproven.core.naming import quoted
from untilproven.errors import UsageError
from untilproven.queue.formats import (
    autoloop,
    checklist,
    claude_loop,
    issue_queue,
    plan,
    prd,
    queue_file,
    ralphy_json,
    ralphy_yaml,
    stories,
    wiggum,
)
from untilproven.queue.formats.contract import Reader, Writer

F = TypeVar("F", bound=Reader)

WRITERS: Mapping[str, Writer] = {
    one.NAME: one
    for one in (
        prd,
        stories,
        queue_file,
        issue_queue,
        ralphy_json,
        ralphy_yaml,
        autoloop,
        wiggum,
        plan,
        checklist,
    )
}
READERS: Mapping[str, Reader] = {claude_loop.NAME: claude_loop, **WRITERS}


def reader_of(name: str, path: PurePath, text: str) -> Reader:
    """The format of that name; without one, the format that a file is in."""
    return _chosen(READERS, name, path, text)


def writer_of(name: str, path: PurePath, text: str) -> Writer:
    """The same, for a file that is to be written; `text` is what it has now."""
    if name in READERS and name not in WRITERS:
        raise UsageError(f"{name} is only read", hint=f"formats that can be written: {', '.join(WRITERS)}")
    return _chosen(WRITERS, name, path, text)


def recognised(name: str, path: PurePath, text: str) -> bool:
    """Whether a file that was found, and not named, is in that format; without one, in any."""
    return any(one.recognises(path, text) for one in READERS.values() if name in {"", one.NAME})


def _chosen(formats: Mapping[str, F], name: str, path: PurePath, text: str) -> F:
    if name:
        if name not in formats:
            raise UsageError(f"there is no format {quoted(name)}", hint=f"there are: {', '.join(formats)}")
        return formats[name]
    for one in formats.values():
        if one.recognises(path, text):
            return one
    raise UsageError(
        f"{path} is in no format that is known by its name or its contents",
        hint=f"say which it is: --format {'|'.join(formats)}",
    )
