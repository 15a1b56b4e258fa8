"""A tree with some of its paths as they were at another time."""

from collections import Counter
from collections.abc import Collection

from untilproven.workspace.entry import Entries
from untilproven.workspace.overlay.beneath import split


def with_paths(now: Entries, then: Entries, paths: Collection[str]) -> Entries:
    """What was not there then is absent, but for a directory that holds something else; what was there has its
    directories around it again, and nothing below it that cannot be."""
    wanted = dict(now)
    hollow, covered = set(), set()
    for path in paths:
        was = then.get(path)
        if was is None:
            if path in now and now[path].is_directory:
                hollow.add(path)
            else:
                wanted.pop(path, None)
            continue
        wanted[path] = was
        if not was.is_directory and path in now and now[path].is_directory:
            covered.add(path)
        _add_parents(wanted, then, path)
    if covered:
        wanted = {path: entry for path, entry in wanted.items() if not _is_below(path, covered)}
    if hollow:
        _drop_empty(wanted, hollow)
    return wanted


def _add_parents(wanted: Entries, then: Entries, path: str) -> None:
    parent = split(path)[0]
    while parent:
        if parent in then and (parent not in wanted or not wanted[parent].is_directory):
            wanted[parent] = then[parent]
        parent = split(parent)[0]


def _is_below(path: str, covered: set[str]) -> bool:
    parent = split(path)[0]
    while parent and parent not in covered:
        parent = split(parent)[0]
    return bool(parent)


def _drop_empty(wanted: Entries, hollow: set[str]) -> None:
    held = Counter(split(path)[0] for path in wanted)
    for path in sorted(hollow & wanted.keys(), reverse=True):
        if not held[path]:
            del wanted[path]
            held[split(path)[0]] -= 1
