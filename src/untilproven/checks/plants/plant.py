"""A test that fails, ready to be put into a tree."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

import msgspec

from untilproven.checks.runners.reporting import Also

_NOT_LOOKED_INTO = frozenset({"build", "dist", "node_modules", "venv", "vendor", "testdata", "CVS"})
_FAILED = frozenset({1})


class Plant(msgspec.Struct, frozen=True, kw_only=True):
    path: PurePosixPath
    """From the tree's root on."""
    content: str
    test: str
    """How the name of its one test ends, in the words of the runner."""
    also: Also = Also()
    makes_directory: bool = False
    """Whether the directory it lies in may have to be made."""
    exits: frozenset[int] = _FAILED
    """How the runner exits when a test has failed, and nothing worse has happened."""


def busiest(files: Iterable[PurePosixPath]) -> PurePosixPath | None:
    """The directory with the most of them, the uppermost of these; tools' own directories are not looked into."""
    counted = Counter(file.parent for file in files if not any(map(_is_passed_over, file.parent.parts)))
    return min(counted, key=lambda one: (-counted[one], len(one.parts), str(one)), default=None)


def given(words: Sequence[str], with_value: frozenset[str]) -> Iterator[str]:
    """The words that are neither options nor their values."""
    is_value = False
    for word in words:
        if not word.startswith("-") and not is_value:
            yield word
        is_value = not is_value and word in with_value


def value_of(words: Sequence[str], *options: str) -> str:
    """What an option was given, as the next word or behind `=`; the last one counts."""
    found = ""
    for at, word in enumerate(words):
        for option in options:
            if word == option and at + 1 < len(words):
                found = words[at + 1]
            elif word.startswith(f"{option}="):
                found = word.partition("=")[2]
    return found


def inside(directory: PurePosixPath, word: str) -> PurePosixPath | None:
    """A path of the tree that a word names from a directory on."""
    path = directory / word
    return None if path.is_absolute() or ".." in path.parts else path


def _is_passed_over(part: str) -> bool:
    return part.startswith((".", "_darcs")) or part in _NOT_LOOKED_INTO or part.endswith(".egg")
