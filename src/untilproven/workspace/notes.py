"""What could not be taken in, in sentences."""

from collections.abc import Iterable

from untilproven.workspace.entry import Note

_MOST_NAMED = 5


def told(notes: Iterable[Note]) -> tuple[str, ...]:
    """One sentence for each reason, with a few of its paths quoted, so that no name can look like anything else."""
    paths: dict[str, list[str]] = {}
    for note in sorted(notes):
        paths.setdefault(note.reason, []).extend([note.path] if note.path else [])
    return tuple(f"{_named(found)}: {reason}" if found else reason for reason, found in paths.items())


def _named(paths: list[str]) -> str:
    named = ", ".join(repr(path) for path in paths[:_MOST_NAMED])
    more = len(paths) - _MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named
