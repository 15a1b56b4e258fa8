"""tasks.jsonl: the queue, one JSON object a line, appended by whoever has something to say about a task."""

import contextlib
import gc
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from untilproven.core import task_rules
from untilproven.core.tasks import Book, Line
from untilproven.errors import Damaged, NoSuchTask, StoreFailed, TaskRefused
from untilproven.model import wire
from untilproven.model.task import Create, Link, Operation, Relate, Task, TaskStatus, Update
from untilproven.store import clock, files
from untilproven.store.layout import QUEUE_FILES, STATE_DIRECTORY, Project, StateDirectory
from untilproven.store.lock import FileLock, undisturbed

LINE_LIMIT = files.MIB
FILE_LIMIT = 256 * files.MIB
_LOCK_SECONDS = 10.0
_LOOK_SECONDS = 1.0
_OURS = re.compile(r"RALPH-([0-9]{1,18})")
_CONFLICT = (b"<<<<<<< ", b"||||||| ", b">>>>>>> ")

_KINDS: dict[str, type[Create | Update | Link | Relate]] = {
    "create": Create,
    "update": Update,
    "link": Link,
    "relate": Relate,
}
_tasks = msgspec.json.Decoder(Task)
_operations: msgspec.json.Decoder[Operation] = msgspec.json.Decoder(Operation)


class Damage(msgspec.Struct, frozen=True):
    """A line that was left out, and why."""

    line: int
    reason: str


class Tasks(msgspec.Struct, frozen=True):
    by_id: dict[str, Task]
    damage: tuple[Damage, ...] = ()


class TaskBook:
    """The file, and how to add to it. Nothing in it is ever rewritten."""

    def __init__(self, path: Path, *, now: clock.Clock = clock.now) -> None:
        self.path = path
        inside = path.parent.parts[-2:] == (".aiwg", "ralph")
        self._state = StateDirectory(path.parents[2] if inside else path.parent)
        self._now = now
        self._kept: _Reading | None = None

    @property
    def progress(self) -> Path:
        return self.path.with_name(QUEUE_FILES[1])

    @property
    def learning(self) -> Path:
        return self.path.with_name(QUEUE_FILES[2])

    @property
    def lock(self) -> Path:
        return self._state.path / "tasks.lock"

    def read(self) -> Tasks:
        """All tasks, and the lines that could not be used."""
        reading = self._reading()
        if reading.torn:  # perhaps by somebody who is still writing
            with undisturbed(self.lock, timeout=_LOOK_SECONDS):
                reading = self._reading()
        self._kept = reading
        return reading.tasks()

    def append(self, *operations: Operation, expect: Mapping[str, TaskStatus] | None = None) -> Tasks:
        """Write these lines, all or none, and return the tasks as they are then.

        `expect` says which status a task must have still: if another has changed it meanwhile, `Overtaken` is raised.
        """
        with self._locked():
            return self._written(self._reading(), operations, expect or {})

    def drafted(self, *operations: Operation, expect: Mapping[str, TaskStatus] | None = None) -> tuple[bytes, bytes]:
        """What the file has now, and the lines that `append` would add: nothing is written."""
        with self._locked():
            reading = self._reading()
            lines = self._taken(reading, operations, expect or {})
            return reading.data, lines

    def adopt(self, *lines: bytes) -> None:
        """Add lines that were drafted, or that a commit has, if they are not there; who reads them judges them."""
        with self._locked():
            reading = self._reading()
            new = b"".join(line + b"\n" for line in lines if line not in reading.seen)
            if new:
                self._append(new if reading.whole else b"\n" + new)

    def create(self, *, title: str, **fields: Any) -> Task:
        """Write a new task under the id given, or else under the next number."""
        with self._locked():
            reading = self._reading()
            fields.setdefault("id", _next_id(reading.book.tasks))
            fields.setdefault("created_at", self._now())
            task = Task(title=title, **fields)
            return self._written(reading, [Create(task=task)], {}).by_id[task.id]

    def _locked(self) -> FileLock:
        self._make_place()
        return FileLock(self.lock, timeout=_LOCK_SECONDS, what="tasks.jsonl")

    def _make_place(self) -> None:
        self._state.refuse_links()
        for directory in (self._state.path.parent, self._state.path):
            files.make_directory(directory)
        if not (self._state.path / ".gitignore").exists():
            with FileLock(self._state.registry_lock, timeout=_LOCK_SECONDS, what="the registry"):
                self._state.keep_out_of_git()

    def _reading(self) -> "_Reading":
        self._state.refuse_links()
        try:
            data = files.read(self.path, FILE_LIMIT)
        except FileNotFoundError:
            data = b""
        except OSError as error:
            raise Damaged(
                f"{self.path} cannot be read: {error.strerror}", hint=f"look at it: ls -l {self.path}"
            ) from error
        kept, self._kept = self._kept, None  # whoever has it may be about to add to it
        reading = kept if kept and kept.goes_on_in(data) else _Reading()
        collects = gc.isenabled()
        gc.disable()  # nothing that is made while a book is read is garbage
        try:
            reading.take(data)
            return reading
        finally:
            if collects:
                gc.enable()

    def _written(self, reading: "_Reading", operations: Sequence[Operation], expect: Mapping[str, TaskStatus]) -> Tasks:
        data = self._taken(reading, operations, expect)
        if data:
            self._append(data)
        return reading.tasks()

    def _taken(self, reading: "_Reading", operations: Sequence[Operation], expect: Mapping[str, TaskStatus]) -> bytes:
        """What is to be added to the file for these, which the book has taken by then."""
        lines = [*self._lines(operations, reading.seen)]
        task_rules.take_all(reading.book, [read for read, _ in lines], expect)
        data = b"".join(line + b"\n" for _, line in lines)
        return data if reading.whole or not data else b"\n" + data

    def _lines(self, operations: Sequence[Operation], seen: set[bytes]) -> Iterator[tuple[Line, bytes]]:
        """Each with its time, and unlike every line before: one that comes again says nothing."""
        moment = self._now()
        for operation in operations:
            stamped = msgspec.structs.replace(operation, timestamp=operation.timestamp or moment)
            read, line = _readable(stamped)
            while line in seen:
                later = (stamped.timestamp or moment) + timedelta(microseconds=1)
                stamped = msgspec.structs.replace(stamped, timestamp=later)
                read, line = _readable(stamped)
            seen.add(line)
            yield read, line

    def _append(self, data: bytes) -> None:
        """In one write, made durable; if that fails, nothing of it is left."""
        new = not self.path.exists()
        with files.explained(self.path):
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(self.path, flags, 0o644)
            try:
                size = os.fstat(fd).st_size
                try:
                    files.write_all(fd, data)
                    os.fsync(fd)
                except BaseException:
                    with contextlib.suppress(OSError):
                        os.ftruncate(fd, size)
                    raise
            finally:
                os.close(fd)
        if new:
            files.sync_directory(self.path.parent)


def book_of(project: Project, now: clock.Clock = clock.now) -> TaskBook:
    """The project's own tasks.jsonl at its root, if there is one; else that of the worktree one works in."""
    at_root = project.root / QUEUE_FILES[0]
    return TaskBook(at_root if os.path.lexists(at_root) else project.root / STATE_DIRECTORY / QUEUE_FILES[0], now=now)


class _Reading:
    """A file read line by line into a book."""

    def __init__(self) -> None:
        self.book = Book()
        self.seen: set[bytes] = set()
        self.whole = True
        self.torn = False
        self.data = b""
        self._lines = 0
        self._damage: list[Damage] = []
        self._too_early: list[tuple[int, Line]] = []

    def goes_on_in(self, data: bytes) -> bool:
        """Whether this is what was read and something more, so that only that has to be taken: what came before
        cannot mean anything else by it."""
        return self.whole and not self._damage and not self._too_early and data.startswith(self.data)

    def take(self, data: bytes) -> None:
        """The whole file, of which what was taken before is the beginning."""
        new, self.data = data[len(self.data) :], data
        self.whole = not data or data.endswith(b"\n")
        plain = not wire.holds_reserved(new)
        lines = new.split(b"\n")
        last = self._lines + len(lines)
        for number, text in enumerate(lines, start=self._lines + 1):
            if text in self.seen or not text or text.isspace():
                continue  # a merge can bring a line twice
            self.seen.add(text)
            try:
                line = _decoded(text, plain=plain)
                self.book.take(line)
            except NoSuchTask:
                self._too_early.append((number, line))
            except TaskRefused as refused:
                self._damage.append(Damage(number, refused.message))
            except wire.UNREADABLE as error:
                self.torn = number == last
                self._damage.append(Damage(number, _unreadable(text, error, torn=self.torn)))
        self._lines = last - 1
        for number, line in self._too_early:
            try:
                self.book.take(line)
            except TaskRefused as refused:
                self._damage.append(Damage(number, refused.message))

    def tasks(self) -> Tasks:
        return Tasks(dict(self.book.tasks), tuple(sorted(self._damage, key=lambda one: one.line)))


def _decoded(text: bytes, *, plain: bool) -> Line:
    """A line as a task or an operation, decoded once unless something is unusual about it."""
    if len(text) > LINE_LIMIT:
        raise msgspec.DecodeError(f"{len(text)} bytes; more than {LINE_LIMIT} in one line is not believed")
    if plain or not wire.holds_reserved(text):
        try:
            return _operations.decode(text) if text.startswith(b'{"op":') else _tasks.decode(text)
        except msgspec.ValidationError:
            pass  # a null, an unknown key, or really wrong: the slower way tells which
    raw = msgspec.json.decode(text)
    if not isinstance(raw, dict) or "op" not in raw:
        return wire.from_builtins(Task, raw)
    kind = _KINDS.get(raw["op"]) if isinstance(raw["op"], str) else None
    if kind is None:
        raise msgspec.ValidationError(f"there is no op {raw['op']!r}")
    return wire.from_builtins(kind, raw)


def _unreadable(text: bytes, error: Exception, *, torn: bool) -> str:
    if text.startswith(_CONFLICT) or text.rstrip() == b"=======":
        return "a merge left its mark here: take the line out"
    return f"never finished: {error}" if torn else f"not readable: {error}"


def _readable(operation: Operation) -> tuple[Line, bytes]:
    """The line of an operation, and what it is read back as."""
    try:
        line = wire.encode(operation)
        read = _decoded(line, plain=False)
    except (*wire.UNREADABLE, UnicodeEncodeError, TypeError) as error:
        raise TaskRefused(f"this cannot be written: {error}", hint="`ralph schema task` says what fits") from error
    if msgspec.json.decode(wire.encode(read)) != msgspec.json.decode(line):
        raise StoreFailed(f"this would be read back as something else: {line[:200]!r}")
    return read, line


def _next_id(tasks: Mapping[str, Task]) -> str:
    numbers = (int(found[1]) for name in tasks if (found := _OURS.fullmatch(name)))
    return f"RALPH-{max(numbers, default=0) + 1:03d}"
