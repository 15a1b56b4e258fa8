"""Which file that is gone became which file that is new."""

import stat
from collections import defaultdict, deque
from collections.abc import Callable, Hashable

from untilproven.workspace.entry import Entries, Entry

_Sign = Callable[[str, Entry], Hashable]


def pair(deleted: Entries, created: Entries) -> dict[str, str]:
    """New paths with their old ones: the same content, not empty; first where the name is the same, then by order."""
    origins: dict[str, str] = {}
    for sign in (_content_and_name, _content):
        _pair_by(sign, deleted, created, origins)
    return origins


def _pair_by(sign: _Sign, deleted: Entries, created: Entries, origins: dict[str, str]) -> None:
    waiting: dict[Hashable, deque[str]] = defaultdict(deque)
    for path in sorted(deleted.keys() - origins.values()):
        if deleted[path].size:
            waiting[sign(path, deleted[path])].append(path)
    for path in sorted(created.keys() - origins.keys()):
        if candidates := waiting.get(sign(path, created[path])):
            origins[path] = candidates.popleft()


def _content_and_name(path: str, entry: Entry) -> Hashable:
    return _content(path, entry), path.rpartition("/")[2]


def _content(_path: str, entry: Entry) -> Hashable:
    return stat.S_IFMT(entry.mode), entry.content
