"""A file of another tool's, from its path to what it says: nothing here writes."""

import os
from pathlib import Path, PurePosixPath

import msgspec

from untilproven.errors import Damaged, UsageError
from untilproven.model.task import Task
from untilproven.queue.formats import beside, known
from untilproven.queue.formats.contract import Imported, Misread
from untilproven.store import files

LIMIT = 16 * files.MIB
LONGEST = 256 * 1024
"""Of what one entry says."""


class Source(msgspec.Struct, frozen=True):
    """A file that was read, and by what name its tasks are remembered."""

    format: str
    path: str
    """From the project's root."""
    imported: Imported

    def external_id(self, key: str) -> str:
        return external_id(self.format, self.path, key)


def external_id(format_name: str, path: str, key: str) -> str:
    return f"{format_name}:{path}#{key}"


def load(root: Path, typed: Path, format_name: str = "") -> Source:
    """Read the file that the user typed, and what stands beside it in the project."""
    path = _relative(root, typed)
    text = text_of(typed)
    chosen = known.reader_of(format_name, typed, text)
    try:
        imported = chosen.read(text)
    except Misread as wrong:
        raise _wrong(typed, wrong, chosen.NAME) from None
    if too_long := next((task for task in imported.tasks if _length(task) > LONGEST), None):
        line = too_long.source.line if too_long.source and too_long.source.line else 1
        raise _wrong(typed, Misread(f"an entry has more than {LONGEST // 1024} KiB", line), chosen.NAME)
    return Source(chosen.NAME, path, _with_what_is_beside(root, path, chosen.NAME, imported))


def text_of(typed: Path) -> str:
    try:
        data = files.read(typed.resolve(), LIMIT)  # the user typed it: a link is followed
        return data.decode()
    except FileNotFoundError:
        raise UsageError(f"there is no file {typed}", hint="check the path") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{typed}:{line}: this is not UTF-8", hint="save the file as UTF-8") from None
    except Damaged as error:
        raise UsageError(error.message, hint="give a file with a list of tasks") from None
    except (OSError, RuntimeError) as error:
        raise UsageError(f"{typed} cannot be read: {error}", hint=f"look at it: ls -l {typed}") from None


def relative(root: Path, typed: Path) -> str:
    return _relative(root, typed)


def _relative(root: Path, typed: Path) -> str:
    """The same whoever reads it, from wherever in the project; its own name is not resolved."""
    parent = Path(os.path.realpath(typed.parent))
    return PurePosixPath(os.path.relpath(parent / typed.name, os.path.realpath(root))).as_posix()


def _with_what_is_beside(root: Path, path: str, format_name: str, imported: Imported) -> Imported:
    checks, never_touch, warnings = [*imported.checks], [*imported.never_touch], [*imported.warnings]
    for name, read in beside.files(format_name, PurePosixPath(path)).items():
        place = root / name
        if not place.is_file():
            continue
        if Path(os.path.realpath(place)) != Path(os.path.realpath(root)) / name:
            warnings.append(f"{name} is reached through a link, which is not followed; it was left out")
            continue
        try:
            found = read(text_of(place))
        except Misread as wrong:
            raise _wrong(place, wrong, "") from None
        checks += found.checks
        never_touch += found.never_touch
        warnings += [f"{name}: {one}" for one in found.warnings]
    return Imported(
        tasks=imported.tasks,
        checks=tuple(dict.fromkeys(checks)),
        never_touch=tuple(dict.fromkeys(never_touch)),
        warnings=tuple(warnings),
    )


def _wrong(path: Path, wrong: Misread, format_name: str) -> UsageError:
    as_what = f" (read as {format_name})" if format_name else ""
    return UsageError(
        f"{path}:{wrong.line}: {wrong.why}{as_what}",
        hint="nothing was imported; correct the line, or say with --format what the file is",
        details={"file": str(path), "line": wrong.line},
    )


def _length(task: Task) -> int:
    said = [task.id, task.title, task.description or "", *(task.acceptance_criteria or ()), *(task.blocked_by or ())]
    return sum(map(len, said))
