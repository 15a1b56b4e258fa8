"""Check boxes of a Markdown file in the project's tree: a tick is all that is ever changed on a line that is there."""

import os
import re
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from untilproven.errors import UsageError
from untilproven.model.task import Task, TaskStatus
from untilproven.model.tracker import IssueState, Kind
from untilproven.queue import reading
from untilproven.queue.formats import checklist
from untilproven.queue.formats.contract import Misread
from untilproven.queue.trackers import words
from untilproven.queue.trackers.contract import Draft, Issue, Refused
from untilproven.store import files

_OWN_ID = re.compile(r"[A-Z][A-Z0-9]{0,20}-\d{1,9}")


class Checklist:
    """What stands under a box is its own affair: only its tick is ours to change."""

    holds = frozenset({IssueState.OPEN, IssueState.DONE})
    can: frozenset[Kind] = frozenset({"create", "transition"})
    wants_proof = True

    def __init__(self, root: Path, path: str) -> None:
        self.name = self.source = path
        self._root = root
        self._file = root / path

    def external_id(self, key: str) -> str:
        return reading.external_id(checklist.NAME, self.name, key)

    def key_of(self, external_id: str) -> str:
        start = self.external_id("")
        return external_id[len(start) :] if external_id.startswith(start) else ""

    def marker(self, task: Task) -> str:
        return f"{task.id}: {words.title_of(task.title)}"

    def find(self, linked: Collection[str], *, new: bool) -> Mapping[str, Issue]:  # noqa: ARG002  the file has them all
        return {task.id: self._issue(task) for task in self._entries()}

    def made(self, marker: str, since: datetime) -> Issue | None:  # noqa: ARG002
        return self._marked(marker)

    def _marked(self, marker: str) -> Issue | None:
        return next((issue for issue in self.find((), new=True).values() if issue.marker == marker), None)

    def create(self, draft: Draft) -> Issue:
        """At the end of the list, under the id that it has here."""
        task = replace(draft.task, title=draft.title, status=TaskStatus.PENDING)
        if any(entry.id == task.id for entry in self._entries()):
            raise Refused(f"{self.name} has another {task.id}", hint="give that one another id")
        self._write([task])
        made = self._marked(self.marker(task))
        if made is None:
            raise Refused(f"{self.name} does not show {task.id} as a task", hint="an id like RALPH-001 is needed there")
        return made

    def update(self, key: str, title: str, body: str) -> None:  # noqa: ARG002
        raise Refused(f"the words of {key} in {self.name} are left as they are")

    def move(self, key: str, to: IssueState, why: str) -> None:  # noqa: ARG002  a tick says no more
        if to is IssueState.DONE:
            self._write([Task(id=key, title="", status=TaskStatus.DONE)])

    def comment(self, key: str, text: str) -> None:  # noqa: ARG002
        raise Refused(f"there is no room for a comment on {key} in {self.name}")

    def commented(self, key: str, marker: str) -> bool:  # noqa: ARG002
        return False

    def _entries(self) -> tuple[Task, ...]:
        return self._read(self._text())

    def _read(self, text: str) -> tuple[Task, ...]:
        try:
            return checklist.read(text).tasks
        except Misread as wrong:
            raise Refused(f"{self.name}:{wrong.line}: {wrong.why}", hint="correct the line") from None

    def _text(self) -> str:
        return reading.text_of(self._root, self._file) if self._file.exists() else ""

    def _write(self, tasks: list[Task]) -> None:
        before = self._text()
        self._read(before)
        after = checklist.write(tasks, before if before.strip() else "")
        if after == before:
            return
        mode = self._file.stat().st_mode & 0o7777 if self._file.exists() else 0o644
        files.replace(self._file, after.encode(), durable=True)
        self._file.chmod(mode)

    def _issue(self, entry: Task) -> Issue:
        own = entry.id if _OWN_ID.fullmatch(entry.id) else ""
        return Issue(
            key=entry.id,
            title=words.title_of(entry.title),
            body=words.body_of(entry.description or ""),
            state=IssueState.DONE if entry.status is TaskStatus.DONE else IssueState.OPEN,
            marker=f"{own}: {words.title_of(entry.title)}" if own else "",
            own_id=own,
            priority=entry.priority,
            completion=entry.completion,
            acceptance_criteria=tuple(map(words.title_of, entry.acceptance_criteria or ())) or UNSET,
        )


def open_checklist(root: Path, typed: Path) -> Checklist:
    """The file that was named; it must be one of the project's own, reached without a link."""
    path = reading.relative(root, typed)
    if path.startswith("../") or Path(os.path.realpath(root / path)) != Path(os.path.realpath(root)) / path:
        raise UsageError(f"{typed} is not a file of this project", hint="name a Markdown file inside the project")
    return Checklist(root, path)
