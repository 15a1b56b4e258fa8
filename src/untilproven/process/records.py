"""What is started, and everything it is given."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from untilproven.model.program import Speech


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program, or a line of shell, and everything it is given."""

    command: str | Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    """All of its environment; only the mark RALPH_KEEPER is added."""
    stdin: bytes | Speech = b""
    marker: str = ""
    """What `leftovers` finds it by; a random one if empty."""
    merged: bool = False
    """Both streams through one pipe, as stdout, so that their order is kept."""
