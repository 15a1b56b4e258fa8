"""How large a project is: its files, and the lines in them that a person wrote."""

import os
import re
import shlex
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from untilproven.checks import ending
from untilproven.checks.metrics.unmeasured import Unmeasured, because
from untilproven.contract import Exchange, Room
from untilproven.errors import Damaged, Foreign
from untilproven.guard.kinds import is_written
from untilproven.guard.written import Unreadable, as_text
from untilproven.store import files

_MOST_FILES = 20_000
_MOST_BYTES = 256 * files.MIB
_LARGEST = 512 * 1024
"""No person writes a file that is larger."""
_GENERATED = re.compile(
    r".*[.-]lock(?:b|\.json|\.ya?ml)?|npm-shrinkwrap\.json|go\.(?:work\.)?sum|.*\.min\.(?:js|css)|.*\.map"
    r"|coverage(?:-summary|-final)?\.json|.*cobertura.*\.xml|coverage\.(?:lcov|out)|cover\.out|jacoco.*\.xml"
)
_LIST = """unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
git -c core.fsmonitor=false ls-files -z --cached >{0}/tracked 2>/dev/null
git init -q --template= {0}/empty &&
git --git-dir={0}/empty/.git --work-tree=. ls-files -z --others --exclude-standard >{0}/others"""
"""A repository that is empty tells what is not ignored, whether the tree has one of its own or not; that one tells
what is tracked although it is ignored."""


class Size(NamedTuple):
    files: int | Unmeasured
    lines: int | Unmeasured


def size_of(room: Room, scratch: Exchange, *, timeout: float) -> Size:
    """Without dependencies, caches and what is generated. Of very many files, the lines are not counted."""
    paths = _paths(room, scratch, timeout)
    if isinstance(paths, Unmeasured):
        return Size(paths, paths)
    if len(paths) > _MOST_FILES:
        return Size(len(paths), Unmeasured(f"there are more than {_MOST_FILES} files"))
    lines = read = 0
    for path in paths:
        content = room.read(PurePosixPath(path), _LARGEST) or b""
        read += len(content)
        if read > _MOST_BYTES:
            return Size(len(paths), Unmeasured(f"the files have more than {_MOST_BYTES} bytes"))
        lines += _lines(content)
    return Size(len(paths), lines)


def _lines(content: bytes) -> int:
    """Those that are not empty; none in what is binary, generated or minified."""
    try:
        return sum(bool(line.strip()) for line in as_text(content).splitlines())
    except Unreadable:
        return 0


def _paths(room: Room, scratch: Exchange, timeout: float) -> list[str] | Unmeasured:
    ran = room.run(_LIST.format(shlex.quote(str(scratch.inside))), timeout=timeout)
    if ran.not_started or ran.exit_code != 0:
        return because(
            f"git, which tells what is ignored, {ran.not_started or ending.why_not(ran, timeout)}: {ran.output}"
        )
    try:
        tracked, others = (_names(scratch.outside / name) for name in ("tracked", "others"))
    except (OSError, Damaged, Foreign) as error:
        return because(f"what git listed cannot be read: {error}")
    ignored = {path for path in tracked - others if room.look(PurePosixPath(path))}
    return sorted(path for path in others | ignored if _counts(path))


def _names(listing: Path) -> set[str]:
    """A name with a slash at its end is another repository."""
    return {os.fsdecode(name) for name in files.read(listing).split(b"\0") if name and not name.endswith(b"/")}


def _counts(path: str) -> bool:
    return is_written(path) and not _GENERATED.fullmatch(path.rpartition("/")[2])
