"""The files a project keeps for its agents, as part of the prompt (source 002, Read Index)."""

import contextlib
from pathlib import Path

from untilproven.core.text import cut
from untilproven.errors import RalphError
from untilproven.store import files

NAMES = ("AGENTS.md", "implementation-plan.md")
BUDGET = 48 * 1024
"""Bytes of all of them together: about 12,000 tokens."""

_BELIEVED = 4 * files.MIB


def index_files(root: Path) -> dict[str, str]:
    """What they say now, without following a link; the specifications last, as many as fit."""
    found: dict[str, str] = {}
    left = BUDGET
    for path in (*(root / name for name in NAMES), *_specs(root)):
        if left <= 0:
            break
        with contextlib.suppress(OSError, RalphError):
            words = files.read(path, _BELIEVED).decode("utf-8", "replace")
            if words.strip():
                found[str(path.relative_to(root))] = words = cut(words, left)
                left -= len(words.encode())
    return found


def _specs(root: Path) -> list[Path]:
    directory = root / "specs"
    if directory.is_symlink() or not directory.is_dir():
        return []
    return sorted(directory.glob("*.md"))
