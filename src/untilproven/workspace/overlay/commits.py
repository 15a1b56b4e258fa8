"""What the agent's git did in its room, read from git's own logs in the layer; no git is run on what an agent wrote."""

from pathlib import Path, PurePosixPath

from untilproven.process import beneath
from untilproven.store import files
from untilproven.workspace.entry import Note

COMMITTED = "committed by the agent in its room; your repository does not have these commits"
STASHED = "left in the stash of the agent's room: what is in it is not in the tree"

_HEAD, _STASH = "logs/HEAD", "logs/refs/stash"
_LARGEST = 16 * files.MIB
_SHOWN = 80


def found_in(layer: Path, repository: Path, before: Path) -> set[Note]:
    """Commits made since the iteration began, and stashes that are there now and were not when the loop began.

    `layer` is what the agent's git wrote, `before` the same as it was when the iteration began.
    """
    notes = set()
    earlier = _lines(before, _HEAD) or _lines(repository, _HEAD)
    for line in _lines(layer, _HEAD)[len(earlier) :]:
        if line.startswith("commit"):
            notes.add(Note(COMMITTED, line.partition(": ")[2][:_SHOWN]))
    known = set(_lines(repository, _STASH))
    notes |= {Note(STASHED, line[:_SHOWN]) for line in _lines(layer, _STASH) if line not in known}
    return notes


def _lines(git: Path, log: str) -> list[str]:
    """The messages of a log; nothing if there is none that can be read."""
    data = beneath.read(git, PurePosixPath(log), _LARGEST) or b""
    return [line.partition(b"\t")[2].decode("utf-8", "replace") for line in data.splitlines()]
