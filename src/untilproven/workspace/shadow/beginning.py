"""The tree as it was when the loop began, written down once; a loop that goes on begins where the first one did."""

import os

from untilproven.workspace import manifest
from untilproven.workspace.entry import Entries
from untilproven.workspace.manifest import Manifest, tree_hash
from untilproven.workspace.overlay.beneath import DIRECTORY
from untilproven.workspace.shadow.place import Place
from untilproven.workspace.snapshots.record import Version
from untilproven.workspace.snapshots.shelf import Snapshots


class Beginning:
    def __init__(self, place: Place, snapshots: Snapshots) -> None:
        self._place = place
        self._snapshots = snapshots
        self._entries: Entries | None = None

    @property
    def entries(self) -> Entries | None:
        """None if the loop has not begun."""
        if self._entries is None and self._place.start.exists():
            self._entries = manifest.load(self._place.start).entries
        return self._entries

    def make(self, now: Manifest) -> None:
        """All that an earlier loop changed was another way then, and the records have its bytes."""
        if self.entries is not None:
            return
        entries = dict(now.entries)
        for path, version in self._snapshots.start().items():
            if version is None:
                entries.pop(path, None)
            else:
                entries[path] = version.entry
                self._take(path, version)
        manifest.save(Manifest(entries, now.began, tree_hash(entries)), self._place.start)
        self._entries = entries

    def _take(self, path: str, version: Version) -> None:
        entry, passing = version.entry, f".{os.urandom(8).hex()}"
        if entry.is_directory:
            return
        directory = os.open(self._place.path, DIRECTORY)
        try:
            self._snapshots.bring(version, directory, passing)
            try:
                with self._place.bytes_of(path, entry) as objects:
                    objects.take(directory, passing, entry)
            finally:
                os.unlink(passing, dir_fd=directory)
        finally:
            os.close(directory)
