"""The difference between two states as a patch that git can apply, as far as text can tell it."""

import re
import stat
from collections.abc import Callable, Iterator
from difflib import unified_diff
from os import fsencode
from typing import NamedTuple

from untilproven.core.text import printable, text
from untilproven.workspace.entry import Entry
from untilproven.workspace.snapshots.record import Version
from untilproven.workspace.snapshots.restoring import kind_of
from untilproven.workspace.snapshots.states import State, is_alike

LARGEST = 4 * 1024 * 1024
"""What is larger is said to differ, and no more."""

_LOOKED_AT = 8000
_MOST_PAIRS = 16_000_000
"""Of lines that are compared with one another; beyond that, one block replaces the other."""

Read = Callable[[str, Entry], bytes | None]


class Difference(NamedTuple):
    """One path."""

    path: str
    change: str
    """created, modified, deleted or mode"""
    added: int
    removed: int
    is_binary: bool
    lines: tuple[str, ...]
    """The patch; what a terminal would obey is taken out."""
    is_exact: bool
    """Whether nothing had to be taken out or left out."""


def differences(before: State, after: State, read: Read) -> Iterator[Difference]:
    """What leads from one state to the other, sorted by path; the states have the same paths."""
    changed = sorted(path for path in before.keys() | after.keys() if not is_alike(before.get(path), after.get(path)))
    filled = _filled(before), _filled(after)
    for path in changed:
        was, now = _entry(before.get(path)), _entry(after.get(path))
        if _is_directory(was) and _is_directory(now):
            yield _of_directory(path, was, now)
        elif (_is_directory(was) or was is None) and (_is_directory(now) or now is None):
            if path not in filled[0] and path not in filled[1]:
                yield _of_directory(path, was, now)
        else:
            yield _of_file(path, None if _is_directory(was) else was, None if _is_directory(now) else now, read)


def _entry(version: Version | None) -> Entry | None:
    return version.entry if version else None


def _is_directory(entry: Entry | None) -> bool:
    return entry is not None and entry.is_directory


def _filled(state: State) -> set[str]:
    """Directories that have something in them need no word of their own."""
    return {path.rpartition("/")[0] for path, version in state.items() if version}


def _of_directory(path: str, was: Entry | None, now: Entry | None) -> Difference:
    change = kind_of(was, now)
    told = f", {stat.S_IMODE(was.mode):04o} -> {stat.S_IMODE(now.mode):04o}" if was and now else ""
    return Difference(f"{path}/", change, 0, 0, False, (f"directory {_quoted(path)}/: {change}{told}",), False)


def _of_file(path: str, was: Entry | None, now: Entry | None, read: Read) -> Difference:
    change = kind_of(was, now)
    if was and now and stat.S_IFMT(was.mode) != stat.S_IFMT(now.mode):
        gone, come = _of_file(path, was, None, read), _of_file(path, None, now, read)
        return come._replace(
            change=change,
            removed=gone.removed,
            is_binary=gone.is_binary or come.is_binary,
            lines=gone.lines + come.lines,
            is_exact=gone.is_exact and come.is_exact,
        )
    head = [f"diff --git {_quoted(f'a/{path}')} {_quoted(f'b/{path}')}"]
    if was is None and now is not None:
        head.append(f"new file mode {now.mode:o}")
    elif now is None and was is not None:
        head.append(f"deleted file mode {was.mode:o}")
    elif was and now and was.mode != now.mode:
        head += [f"old mode {was.mode:o}", f"new mode {now.mode:o}"]
    if change == "mode":
        return Difference(path, change, 0, 0, False, tuple(head), True)
    old, new = (read(path, entry) if entry else b"" for entry in (was, now))
    names = (_quoted(f"a/{path}") if was else "/dev/null"), (_quoted(f"b/{path}") if now else "/dev/null")
    if old is None or new is None:
        told = f"Files {names[0]} and {names[1]} differ, and are too large to be shown or were not kept"
        return Difference(path, change, 0, 0, True, (*head, told), False)
    if b"\0" in old[:_LOOKED_AT] or b"\0" in new[:_LOOKED_AT]:
        return Difference(path, change, 0, 0, True, (*head, f"Binary files {names[0]} and {names[1]} differ"), False)
    return _of_text(path, change, head, names, (old, new))


def _of_text(path: str, change: str, head: list[str], names: tuple[str, str], data: tuple[bytes, bytes]) -> Difference:
    old, new = (_lines(part.decode("utf-8", "surrogateescape")) for part in data)
    lines, exact = list(head), True
    hunks = list(_hunks(old, new))
    if hunks:
        lines += [f"--- {names[0]}{_tab(path)}", f"+++ {names[1]}{_tab(path)}"]
    for line in hunks:
        body, newline, _ = line.partition("\n")
        shown = printable(body)
        exact = exact and shown == body
        lines.append(shown)
        if not newline and line[0] in " +-":
            lines.append("\\ No newline at end of file")
    marks = [line[0] for line in hunks]
    return Difference(path, change, marks.count("+"), marks.count("-"), False, tuple(lines), exact)


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    """Lines with their marks; `@@` lines without an end."""
    if _is_too_much(old, new):
        yield f"@@ -{_range(old)} +{_range(new)} @@\n"
        yield from (f"-{line}" for line in old)
        yield from (f"+{line}" for line in new)
        return
    for place, line in enumerate(unified_diff(old, new, lineterm="\n")):
        if place > 1:  # the names come before
            yield line


def _is_too_much(old: list[str], new: list[str]) -> bool:
    """Comparing takes a long time where much is different; what is the same at both ends costs little."""
    same = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        same += 1
    for one, other in zip(reversed(old[same:]), reversed(new[same:]), strict=False):
        if one != other:
            break
        same += 1
    return (len(old) - same) * (len(new) - same) > _MOST_PAIRS


def _range(lines: list[str]) -> str:
    return f"1,{len(lines)}" if lines else "0,0"


def _lines(whole: str) -> list[str]:
    """Only a line feed ends a line."""
    parts = [f"{line}\n" for line in whole.split("\n")]
    last = parts.pop()[:-1]
    return [*parts, last] if last else parts


def _quoted(path: str) -> str:
    """As git writes a name that could be taken for something else."""
    if path.isprintable() and not re.search(r'["\\]', path) and text(path) == path:
        return path
    return '"' + "".join(_ESCAPES.get(byte) or _plain(byte) for byte in fsencode(path)) + '"'


_ESCAPES = {ord("\n"): r"\n", ord("\t"): r"\t", ord('"'): r"\"", ord("\\"): r"\\"}


def _plain(byte: int) -> str:
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _tab(path: str) -> str:
    """What tells git where a name with spaces ends."""
    return "\t" if " " in path and _quoted(path) == path else ""
