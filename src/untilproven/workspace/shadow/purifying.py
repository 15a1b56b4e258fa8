"""What the tree is to be once nobody works in it any more: git's own files as they were, and nothing that harms."""

import os
import stat
from pathlib import Path
from typing import NamedTuple

import msgspec

from untilproven.workspace.entry import Entries, Entry, Note
from untilproven.workspace.overlay.beneath import Beneath, split
from untilproven.workspace.overlay.reading import is_known_kind, is_same
from untilproven.workspace.overlay.upper import NEUTRALISED, OWN_REPOSITORY, REFUSED_GIANT, REFUSED_KIND
from untilproven.workspace.shadow.marks import Before
from untilproven.workspace.shadow.memory import Look, Memory
from untilproven.workspace.walk import LARGE, PRIVILEGED, SPECIAL

GIT_PUT_BACK = "git's own files were changed and are as they were: commits, stashes and settings are not taken over"

_POWER = stat.S_ISUID | stat.S_ISGID
_GIANT = 1 << 30
_BLOCK = 512
_GIT = ".git"
UNTOLD = ("index", "index.lock", "COMMIT_EDITMSG")
"""Every `git status` writes some of them."""


class Purified(NamedTuple):
    entries: Entries
    notes: set[Note]
    worthless: frozenset[str]
    """What nobody needs a copy of."""


def purified(look: Look, before: Before, memory: Memory, root: Path) -> Purified:
    """What of the tree stays; special files that are new are gone when this returns."""
    wanted = dict(look.tree.entries)
    base = before.tree.entries
    notes = _put_git_back(wanted, base, memory)
    refused = dict.fromkeys(without_special_files(look, before, root), REFUSED_KIND)
    with Beneath(root) as tree:
        refused |= {path: REFUSED_GIANT for path in look.noted(LARGE) if _is_giant(tree, path, base.get(path))}
    for path in refused:
        if path in base and not base[path].is_directory:
            wanted[path] = base[path]
        else:
            wanted.pop(path, None)
    notes |= {Note(reason, path) for path, reason in refused.items()}
    for path in look.noted(PRIVILEGED) & wanted.keys():
        entry = wanted[path]
        if entry.mode & _POWER and not is_same(base.get(path), entry):
            wanted[path] = msgspec.structs.replace(entry, mode=entry.mode & ~_POWER)
            notes.add(Note(NEUTRALISED, path))
    for path, entry in wanted.items():
        if entry.is_directory and path.endswith(f"/{_GIT}") and path not in base and not memory.is_git(path):
            notes.add(Note(OWN_REPOSITORY, path))
    return Purified(wanted, notes, frozenset(refused))


def without_special_files(look: Look, before: Before, root: Path) -> frozenset[str]:
    """Remove what is neither file, link nor directory and was not there before; which those were."""
    found = look.noted(SPECIAL) - before.special
    with Beneath(root) as tree:
        for path in found:
            parent, name = split(path)
            seen = tree.seen(path)
            if seen is not None and not is_known_kind(seen):
                os.unlink(name, dir_fd=tree.directory(parent))
    return found


def _put_git_back(wanted: Entries, base: Entries, memory: Memory) -> set[Note]:
    """Objects that are new stay: they may be those of a commit of the user's."""
    told = False
    for path in [path for path in wanted if memory.is_git(path) and path not in base]:
        if not memory.is_git_object(path):
            told |= not wanted[path].is_directory and split(path)[1] not in UNTOLD
            del wanted[path]
    for path, entry in base.items():
        if memory.is_git(path) and not is_same(wanted.get(path), entry):
            told |= split(path)[1] not in UNTOLD
            wanted[path] = entry
    return {Note(GIT_PUT_BACK)} if told else set()


def _is_giant(tree: Beneath, path: str, base: Entry | None) -> bool:
    found = tree.seen(path)
    if found is None or (base is not None and base.size == found.st_size):
        return False
    return found.st_size > _GIANT and found.st_blocks * _BLOCK < found.st_size // 4
