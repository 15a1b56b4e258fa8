"""Issues of Beads, through its program `bd`."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from untilproven.model import wire
from untilproven.model.task import Task
from untilproven.model.tracker import IssueState, Kind
from untilproven.queue.trackers import programs, words
from untilproven.queue.trackers.contract import Draft, Issue, Off, Refused, Unclear

SECONDS = 60.0
_CANCELLED = "cancelled"
_STATES = {
    "open": IssueState.OPEN,
    "in_progress": IssueState.STARTED,
    "hooked": IssueState.STARTED,
    "blocked": IssueState.BLOCKED,
    "deferred": IssueState.BLOCKED,
    "closed": IssueState.DONE,
}
_MIDDLE, _LOWEST = 2, 4
"""Beads counts priorities from 0, the highest; ours are higher for what is more urgent, and 0 in the middle."""

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Never one that its program would take for a flag."""

_Read = TypeVar("_Read")


class _Dependency(msgspec.Struct):
    issue_id: str = ""
    depends_on_id: str = ""
    type: str = ""


class _Raw(msgspec.Struct):
    id: str
    title: str = ""
    description: str = ""
    status: str = "open"
    priority: int = _MIDDLE
    issue_type: str = ""
    acceptance_criteria: str = ""
    close_reason: str = ""
    dependencies: list[_Dependency] | None = None
    pinned: bool = False
    is_template: bool = False


class _Comment(msgspec.Struct):
    text: str = ""


class Beads:
    """The database of the project that one works in."""

    name = source = "beads"
    holds = frozenset(IssueState)
    can: frozenset[Kind] = frozenset({"create", "update", "transition", "comment"})
    wants_proof = False

    def __init__(self, root: Path, program: str, seconds: float = SECONDS) -> None:
        self._root = root
        self._program = program
        self._seconds = seconds

    def external_id(self, key: str) -> str:
        return f"beads:{key}"

    def key_of(self, external_id: str) -> str:
        key = external_id.removeprefix("beads:")
        return key if key != external_id and _KEY.fullmatch(key) else ""

    def marker(self, task: Task) -> str:
        return words.marker(task)

    def find(self, linked: Collection[str], *, new: bool) -> Mapping[str, Issue]:  # noqa: ARG002  one list has them all
        said = self._asked(["list", "--all", "--limit=0", "--json"])
        return {raw.id: self._issue(raw) for raw in _items(said, _Raw, "list") if _KEY.fullmatch(raw.id)}

    def made(self, marker: str, since: datetime) -> Issue | None:  # noqa: ARG002
        return next((issue for issue in self.find((), new=True).values() if issue.marker == marker), None)

    def create(self, draft: Draft) -> Issue:
        flags = [f"--title={draft.title}", f"--priority={_theirs(draft.task.priority)}", "--body-file=-", "--json"]
        said = self._asked(["create", *flags], words.marked(draft.body, draft.marker))
        return self._issue(_items(said, _Raw, "create")[0])

    def update(self, key: str, title: str, body: str) -> None:
        self._asked(["update", key, f"--title={title}", "--body-file=-", "--json"], body)

    def move(self, key: str, to: IssueState, why: str) -> None:
        match to:
            case IssueState.DONE | IssueState.DROPPED:
                reason = f"{_CANCELLED}: {why}" if to is IssueState.DROPPED else why
                self._asked(["close", key, f"--reason={words.title_of(reason)}", "--json"])
            case _:
                self._asked(["update", key, f"--status={to.value}", "--json"])

    def comment(self, key: str, text: str) -> None:
        self._asked(["comments", "add", key, text, "--json"])

    def commented(self, key: str, marker: str) -> bool:
        said = self._asked(["comments", key, "--json"])
        return any(words.mark_of(one.text) == marker for one in _items(said, _Comment, "comments"))

    def _asked(self, flags: Sequence[str], stdin: str = "") -> bytes:
        env = {"BD_JSON_ENVELOPE": "1", "NO_COLOR": "1"}
        ended = programs.run(
            self._program,
            flags,
            root=self._root,
            seconds=self._seconds,
            stdin=stdin.encode("utf-8", "replace"),
            env=env,
        )
        if ended.code:
            said = words.title_of(ended.said or f"it ended with {ended.code}")
            raise Refused(
                f"bd {flags[0]} failed: {said}", hint="`bd doctor` may say more; without a database: `bd init`"
            )
        return ended.output

    def _issue(self, raw: _Raw) -> Issue:
        state = _STATES.get(raw.status, IssueState.BLOCKED)
        criteria = [line for line in raw.acceptance_criteria.split("\n") if line.strip()]
        return Issue(
            key=raw.id,
            title=words.title_of(raw.title),
            body=words.body_of(raw.description),
            state=IssueState.DROPPED if state is IssueState.DONE and raw.close_reason.startswith(_CANCELLED) else state,
            marker=words.mark_of(raw.description),
            wanted=not (raw.pinned or raw.is_template or raw.status == "pinned" or raw.issue_type == "epic"),
            priority=float(_MIDDLE - raw.priority),
            type=words.title_of(raw.issue_type) if raw.issue_type else UNSET,
            acceptance_criteria=tuple(words.title_of(line.lstrip("-* ")) for line in criteria) or UNSET,
            blocked_by=tuple(
                one.depends_on_id for one in raw.dependencies or () if one.type == "blocks" and one.issue_id == raw.id
            ),
        )


def open_beads(root: Path, seconds: float = SECONDS) -> Beads:
    program = programs.located("bd", root)
    if not program:
        raise Off("there is no program `bd` on PATH", hint="install Beads, or name another tracker")
    return Beads(root, program, seconds)


def _theirs(priority: float) -> int:
    return min(max(_MIDDLE - round(priority), 0), _LOWEST)


def _items(said: bytes, kind: type[_Read], verb: str) -> list[_Read]:
    """From an object or a list, in an envelope or, as versions before 2 have it, without."""
    try:
        found: Any = msgspec.json.decode(said) if said.strip() else []
        if isinstance(found, dict) and "data" in found and "schema_version" in found:
            found = found["data"]
        if found is None:
            found = []
        return msgspec.convert(found if isinstance(found, list) else [found], list[kind])  # type: ignore[valid-type]
    except wire.UNREADABLE as error:
        raise Unclear(
            f"bd {verb} printed something else than issues: {words.title_of(str(error))}",
            hint="`bd version`: is it old?",
        ) from None
