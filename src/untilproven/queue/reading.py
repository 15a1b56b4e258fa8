"""A file of another tool's, from its path to what it says: nothing here writes."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from untilproven.core.naming import quoted
from untilproven.core.tasks import commands, named_by
from untilproven.core.text import printable
from untilproven.errors import Damaged, UsageError
from untilproven.model.task import Task
from untilproven.queue.formats import beside, known
from untilproven.queue.formats.contract import Imported, Misread, refuse_too_many
from untilproven.store import files

LIMIT = 8 * files.MIB
LONGEST = 256 * 1024
"""Of what one entry says."""
MOST_RELATIONS = 100_000
_WITHIN = {
    ".ralph": ("fix_plan.md", "@fix_plan.md", "ralph-tasks.md", "queue.json", "queue.jsonc"),
    ".agents": ("tasks/prd*.json",),
    ".autoloop": ("tasks.jsonl",),
    ".claude": ("ralph-loop.local.md",),
}
"""Which files of a tool's own directory are lists of tasks; of another directory, they are looked for."""


class Source(msgspec.Struct, frozen=True):
    """A file that was read, and by what name its tasks are remembered."""

    format: str
    path: str
    """From the project's root."""
    imported: Imported

    def external_id(self, key: str) -> str:
        return external_id(self.format, self.path, key)

    def has(self, task: Task) -> bool:
        """Whether a task of ours was an entry of this file."""
        return (task.external_id or "").startswith(self.external_id(""))


def external_id(format_name: str, path: str, key: str) -> str:
    return f"{format_name}:{path}#{key}"


def load(root: Path, typed: Path, format_name: str = "") -> list[Source]:
    """Read the file that the user typed, or all lists of tasks in a directory."""
    if not typed.is_dir():
        return [_load(root, typed, format_name)]
    found = [_load(root, path, format_name) for path in _in(root, typed, format_name)]
    if not found:
        raise UsageError(
            f"there is no list of tasks in {typed}",
            hint=f"name the file, and perhaps what it is: --format {'|'.join(known.READERS)}",
        )
    return found


def _in(root: Path, directory: Path, format_name: str) -> Iterator[Path]:
    refuse_way_out(root, directory)
    if os.path.realpath(directory) == os.path.realpath(root):
        raise UsageError("which file is the list of tasks?", hint="name it, or the directory of a tool, like .ralph")
    patterns = _WITHIN.get(Path(os.path.realpath(directory)).name, ("*",))
    paths = sorted({path for pattern in patterns for path in directory.glob(pattern) if path.is_file()})
    for path in paths:
        if patterns != ("*",) or known.recognised(format_name, path, text_of(root, path)):
            yield path


def _load(root: Path, typed: Path, format_name: str) -> Source:
    path, text = relative(root, typed), text_of(root, typed)
    chosen = known.reader_of(format_name, typed, text)
    try:
        imported = chosen.read(text)
        _refuse_too_much(imported)
    except Misread as wrong:
        raise misread(typed, wrong, chosen.NAME) from None
    source = Source(chosen.NAME, path, _with_what_is_beside(root, path, chosen.NAME, imported))
    _refuse_disguised(source)
    return source


def _refuse_disguised(source: Source) -> None:
    """A command that is not what it looks like could not be judged by whoever is asked to trust it."""
    for line in (*source.imported.checks, *(one for task in source.imported.tasks for one in commands(task))):
        if printable(line) != line:
            raise UsageError(
                f"{source.path} or a file beside it names a command with control characters: {quoted(line)}",
                hint="nothing was imported; take them out",
            )


def _refuse_too_much(imported: Imported) -> None:
    refuse_too_many(imported.tasks)
    if sum(len(named_by(task)) for task in imported.tasks) > MOST_RELATIONS:
        raise Misread(f"its entries wait for each other more than {MOST_RELATIONS} times")
    for task in imported.tasks:
        if _length(task) > LONGEST:
            line = task.source.line if task.source else 1
            raise Misread(f"an entry has more than {LONGEST // 1024} KiB", line or 1)


def text_of(root: Path, typed: Path) -> str:
    refuse_way_out(root, typed)
    try:
        data = files.read(Path(os.path.realpath(typed)), LIMIT)
        return data.decode()
    except FileNotFoundError:
        raise UsageError(f"there is no file {typed}", hint="check the path") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{typed}:{line}: this is not UTF-8", hint="save the file as UTF-8") from None
    except Damaged as error:
        raise UsageError(error.message, hint="give a file with a list of tasks") from None
    except OSError as error:
        raise UsageError(f"{typed} cannot be read: {error.strerror}", hint=f"look at it: ls -l {typed}") from None


def refuse_way_out(root: Path, typed: Path) -> None:
    """A link in a project may lead elsewhere in it; one that leads out of it is the doing of whoever made the project,
    and not of the user, who typed a path inside."""
    top = Path(os.path.realpath(root))
    written = Path(os.path.abspath(typed))  # noqa: PTH100  as it was typed: the link in it is what this is about
    if written.is_relative_to(root) and not Path(os.path.realpath(typed)).is_relative_to(top):
        raise UsageError(
            f"{typed} leads out of the project, to {os.path.realpath(typed)}",
            hint="if that is what you mean, give the path that it leads to",
        )


def relative(root: Path, typed: Path) -> str:
    """The same whoever reads it, from wherever in the project; its own name is not resolved."""
    parent = Path(os.path.realpath(typed.parent))
    return PurePosixPath(os.path.relpath(parent / typed.name, os.path.realpath(root))).as_posix()


def _with_what_is_beside(root: Path, path: str, format_name: str, imported: Imported) -> Imported:
    checks, never_touch, warnings = [*imported.checks], [*imported.never_touch], [*imported.warnings]
    for name, read in beside.files(format_name, PurePosixPath(path)).items():
        place = root / name
        if not _is_there(place):
            continue
        try:
            found = read(text_of(root, place))
        except Misread as wrong:
            raise misread(place, wrong) from None
        checks += found.checks
        never_touch += found.never_touch
        warnings += [f"{name}: {one}" for one in found.warnings]
    return Imported(
        tasks=imported.tasks,
        checks=tuple(dict.fromkeys(checks)),
        never_touch=tuple(dict.fromkeys(" ".join(one.split()) for one in never_touch)),
        warnings=tuple(warnings),
    )


def _is_there(path: Path) -> bool:
    """Anything but a directory: a pipe in the place of a file is an error, and not the same as no file."""
    try:
        return not stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def misread(path: Path, wrong: Misread, format_name: str = "") -> UsageError:
    as_what = f" (read as {format_name})" if format_name else ""
    return UsageError(
        f"{path}:{wrong.line}: {wrong.why}{as_what}",
        hint="nothing was written; correct the line, or say with --format what the file is",
        details={"file": str(path), "line": wrong.line},
    )


def _length(task: Task) -> int:
    said = [task.id, task.title, task.description or "", *(task.acceptance_criteria or ()), *(task.blocked_by or ())]
    return sum(map(len, said))
