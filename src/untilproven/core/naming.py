"""Slugs, loop ids and file names: what may become part of a path, and what is refused."""

import re

from untilproven.core.text import printable
from untilproven.errors import InvalidName
from untilproven.model.fields import LOOP_ID_PATTERN

SLUG_LENGTH = 30
LOOP_ID_LENGTH = 128


def slug(task: str) -> str:
    """A short ASCII name for a task; `task` when nothing readable is left of it."""
    import unicodedata  # noqa: PLC0415  only a new loop needs it

    folded = unicodedata.normalize("NFKD", printable(task)).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "-", folded.lower()).strip("-")
    return words[:SLUG_LENGTH].strip("-") or "task"


def new_loop_id(task: str, suffix: str) -> str:
    """`ralph-{slug}-{uuid8}`; the caller brings the eight random hex digits."""
    if not re.fullmatch(r"[a-f0-9]{8}", suffix):
        raise InvalidName(f"a loop id ends in 8 hex digits, not in {quoted(suffix)}")
    return f"ralph-{slug(task)}-{suffix}"


def loop_id(text: str) -> str:
    """Return a loop id that is safe as a file name, or refuse it by name."""
    if len(text) > LOOP_ID_LENGTH or not re.fullmatch(LOOP_ID_PATTERN, text):
        raise InvalidName(
            f"not a loop id: {quoted(text)}",
            hint="a loop id looks like ralph-fix-tests-a1b2c3d4; `ralph status --all` lists them",
        )
    return text


def iteration_name(number: int) -> str:
    """`iteration-001`; grows past 999."""
    return f"iteration-{number:03d}"


def quoted(text: str, limit: int = 60) -> str:
    """Text from outside, made safe and short for an error message."""
    return ascii(text if len(text) <= limit else text[:limit] + "...")
