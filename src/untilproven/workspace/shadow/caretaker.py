"""Sees to the user's tree between those who work in it: looks, takes out what harms, and puts back what was."""

import stat
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from untilproven.workspace.entry import Entries, Note
from untilproven.workspace.manifest import Manifest, tree_hash
from untilproven.workspace.overlay.reading import is_same
from untilproven.workspace.overlay.removal import remove
from untilproven.workspace.shadow.aside import Aside
from untilproven.workspace.shadow.marks import Before
from untilproven.workspace.shadow.memory import Look, Memory
from untilproven.workspace.shadow.place import Place
from untilproven.workspace.shadow.purifying import UNTOLD, purified, without_special_files
from untilproven.workspace.shadow.restoring import Restoration, Save, changes
from untilproven.workspace.shadow.then import with_paths

NOT_PUT_BACK = "could not be put back as it was"
PUT_ASIDE = "may have been changed by you and was put back; what it was is put aside"


class Observed(NamedTuple):
    """What an agent left, without what must not stay."""

    after: Manifest
    late: frozenset[str]
    """What may have been changed by somebody else, once the agent had ended."""


class Caretaker:
    """Nobody else may be at work in the tree."""

    def __init__(self, root: Path, memory: Memory, place: Place) -> None:
        self._root = root
        self._memory = memory
        self._place = place
        self.notes: set[Note] = set()

    def observe(self, before: Before, iteration: int, closed_at: int) -> Observed:
        """Look at what the agent left, and take out what must not stay. `closed_at` is when the agent had ended, in
        nanoseconds; 0 if nobody knows."""
        self._give_root_its_mode(before)
        look = self._memory.look(before)
        entries, base = look.tree.entries, before.tree.entries
        if closed_at:
            late = frozenset(path for path, entry in entries.items() if entry.ctime > closed_at)
        else:
            late = frozenset(path for path, entry in entries.items() if not is_same(base.get(path), entry))
        pure = purified(look, before, self._memory, self._root)
        stays = {path: entry for path, entry in entries.items() if pure.entries.get(path) is entry}
        self._memory.remember(Manifest(stays, 0, ""))
        aside = Aside(self._place.aside(iteration))

        def save(directory: int, name: str, path: str, changed: bool) -> None:
            theirs = changed or path in late
            if theirs or (self._memory.is_git(path) and name not in UNTOLD and path not in pure.worthless):
                aside.put(directory, name, path)

        self._bring(look, pure.entries, save)
        after = Manifest(pure.entries, look.tree.began, tree_hash(pure.entries), look.tree.notes)
        named = {note.path for note in pure.notes}
        self.notes |= pure.notes | {note for note in self._memory.told(after).notes if note.path not in named}
        return Observed(after, late)

    def take_back(self, before: Before, observed: Observed, iteration: int) -> None:
        """As it was before; what is not as the agent left it is put aside first."""
        look = self._memory.look(before)
        left, aside = observed.after.entries, Aside(self._place.aside(iteration))

        def save(directory: int, name: str, path: str, changed: bool) -> None:
            if changed or path in observed.late or not is_same(look.tree.entries.get(path), left.get(path)):
                aside.put(directory, name, path)

        self._bring(look, self._with_git_objects(before.tree.entries, look), save)
        self.notes |= {Note(f"{PUT_ASIDE} in {self._place.aside(iteration)}", path) for path in aside.paths}

    def prepare_check(self, before: Before, then: Entries, as_it_was: Collection[str]) -> set[str]:
        """Put these paths in place as they were; those for which that cannot be done."""
        remove(self._place.after_check)
        if not as_it_was:
            return set()
        return self._bring(Look(before.tree, {}), with_paths(before.tree.entries, then, as_it_was), self._after_check())

    def clear_check(self, before: Before) -> None:
        """What a check did, and what was put in place for it, is gone; what was in the way stays for a while."""
        self._give_root_its_mode(before)
        look = self._memory.look(before)
        without_special_files(look, before, self._root)
        self._bring(look, self._with_git_objects(before.tree.entries, look), self._after_check())

    def _after_check(self) -> Save:
        aside = Aside(self._place.after_check)

        def save(directory: int, name: str, path: str, changed: bool) -> None:  # noqa: ARG001  as it is called
            aside.put(directory, name, path)

        return save

    def _bring(self, look: Look, wanted: Entries, save: Save) -> set[str]:
        """What could not be put back."""
        if not look.opened and not changes(look.tree.entries, wanted):
            return set()
        restoration = Restoration(
            self._root,
            look.tree.entries,
            wanted,
            bring=self._memory.bring,
            save=save,
            opened=look.opened,
        )
        restoration.carry_out()
        self._memory.doubt()
        self.notes |= {Note(NOT_PUT_BACK, path) for path in restoration.left}
        return restoration.left

    def _with_git_objects(self, entries: Entries, look: Look) -> Entries:
        """Those that came meanwhile stay: they may belong to a commit of the user's."""
        new = {path: entry for path, entry in look.tree.entries.items() if self._memory.is_git_object(path)}
        return {**new, **entries}

    def _give_root_its_mode(self, before: Before) -> None:
        if stat.S_IMODE(self._root.stat().st_mode) != before.mode:
            self._root.chmod(before.mode)
