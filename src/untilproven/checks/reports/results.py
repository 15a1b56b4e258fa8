"""Results of tests as every reader gives them: bounded, and one for each name."""

import contextlib
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from untilproven.contract import TestResult
from untilproven.core.text import cut
from untilproven.errors import Damaged, Foreign
from untilproven.store import files

PASSED, SKIPPED, FAILED, ERROR = "passed", "skipped", "failed", "error"
RED = frozenset({FAILED, ERROR})
_WORSE = {PASSED: 0, SKIPPED: 1, FAILED: 2, ERROR: 3}
T = TypeVar("T")
Report = Path | bytes
"""Where a report lies, or what it says."""
_NAME, _MESSAGE = 1_000, 2_000


class Unreadable(Exception):
    """A report that is missing, damaged or not believed: no evidence about any test."""


def result(name: str, outcome: str, message: str = "") -> TestResult:
    return TestResult(cut(name, _NAME), outcome, cut(message.strip(), _MESSAGE))


def fold(results: Iterable[TestResult]) -> tuple[TestResult, ...]:
    """One result for each name, the worst: a second, green entry does not hide a red one."""
    kept: dict[str, TestResult] = {}
    for one in results:
        if one.name not in kept or _WORSE[one.outcome] > _WORSE[kept[one.name].outcome]:
            kept[one.name] = one
    return tuple(kept.values())


@contextlib.contextmanager
def opened(report: Report) -> Iterator[BinaryIO]:
    """A report that this run has written, if it is not larger than can be believed."""
    if isinstance(report, bytes):
        yield io.BytesIO(report)
        return
    try:
        with files.open_regular(report) as file:
            if os.fstat(file.fileno()).st_size > files.READ_LIMIT:
                raise Unreadable(f"the test runner's report has more than {files.READ_LIMIT} bytes")
            yield file
    except (Damaged, Foreign) as error:
        raise Unreadable("the test runner left no report that can be read: it is not a regular file") from error
    except OSError as error:
        raise Unreadable(f"the test runner left no report that can be read: {error.strerror}") from error


def content(report: Report) -> bytes:
    with opened(report) as file:
        return file.read(files.READ_LIMIT)


def document(report: Path, kind: type[T], tool: str) -> T:
    """A report that is one JSON document of a known shape."""
    try:
        return msgspec.json.decode(content(report), type=kind)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the report is not what {tool} writes: {error}") from error


def events(report: Path, kind: type[T]) -> Iterator[T | str]:
    """A report of one JSON object a line; lines that are none come as they are."""
    decode = msgspec.json.Decoder(kind).decode
    for line in lines(report):
        try:
            yield decode(line)
        except (ValueError, RecursionError):
            yield line


def lines(report: Path) -> Iterator[str]:
    with opened(report) as file:
        for line in file:
            yield line.decode("utf-8", "replace").rstrip("\r\n")


def from_root(root: Path, name: str) -> str:
    """A file's name from the tree's root on, so that it is the same in every room."""
    for base in (root, root.resolve()):
        if name.startswith(f"{base}/"):
            return name[len(str(base)) + 1 :]
    return name.removeprefix("./")
