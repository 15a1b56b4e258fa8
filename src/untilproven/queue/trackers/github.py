"""Issues of a GitHub repository."""

import re
import time
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec
from msgspec import UNSET

from untilproven.model import wire
from untilproven.model.task import Task
from untilproven.model.tracker import IssueState, Kind
from untilproven.queue.trackers import words
from untilproven.queue.trackers.answers import judged
from untilproven.queue.trackers.contract import Draft, Issue, Off, Refused, Unclear
from untilproven.queue.trackers.web import Answer, Line

_PAGES = 100
_TRIES = 3
_PAUSE_SECONDS = 0.5
_SKEW = timedelta(hours=1)
_SERVER_ERROR = 500
_GONE = frozenset({301, 404, 410})
"""An issue that was deleted, or moved to another repository."""
_INSIDERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_STATES = {"completed": IssueState.DONE, "not_planned": IssueState.DROPPED, "duplicate": IssueState.DROPPED}
_REASONS = {IssueState.DONE: "completed", IssueState.DROPPED: "not_planned"}
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9_.-]{1,100}")

_Read = TypeVar("_Read")


class _User(msgspec.Struct):
    type: str = ""


class _Label(msgspec.Struct):
    name: str | None = None


class _Raw(msgspec.Struct):
    number: int
    title: str
    state: str
    html_url: str = ""
    body: str | None = None
    state_reason: str | None = None
    pull_request: Any = UNSET
    labels: list[_Label] = []
    user: _User | None = None
    author_association: str = ""


class _Comment(msgspec.Struct):
    body: str | None = None


class GitHub:
    """Only issues with the label become tasks: strangers can write issues, and only insiders can label them."""

    holds = frozenset({IssueState.OPEN, IssueState.DONE, IssueState.DROPPED})
    can: frozenset[Kind] = frozenset({"create", "update", "transition", "comment"})
    wants_proof = False

    def __init__(self, repository: str, line: Line, label: str, *, tries: int = _TRIES) -> None:
        self.name = self.source = f"github:{repository}"
        self._issues = f"/repos/{repository}/issues"
        self._line = line
        self._label = label
        self._tries = tries

    def external_id(self, key: str) -> str:
        return f"{self.name}#{key}"

    def key_of(self, external_id: str) -> str:
        found = re.fullmatch(re.escape(self.name) + r"#([1-9][0-9]{0,17})", external_id, re.IGNORECASE | re.ASCII)
        return found[1] if found else ""

    def marker(self, task: Task) -> str:
        return words.marker(task)

    def find(self, linked: Collection[str], *, new: bool) -> Mapping[str, Issue]:
        query = {"state": "open", "per_page": "100", **({"labels": self._label} if self._label else {})}
        found = {issue.key: issue for issue in self._listed(query)} if new else {}
        for key in linked:
            if key not in found and (issue := self._one(key)):
                found[key] = issue
        return found

    def made(self, marker: str, since: datetime) -> Issue | None:
        moment = (since - _SKEW).strftime("%Y-%m-%dT%H:%M:%SZ")
        query = {"state": "all", "per_page": "100", "sort": "created", "direction": "desc", "since": moment}
        return next((issue for issue in self._listed(query) if issue.marker == marker), None)

    def create(self, draft: Draft) -> Issue:
        labels = [self._label] if self._label else []
        said = {"title": draft.title, "body": words.marked(draft.body, draft.marker), "labels": labels}
        return self._issue(self._decoded(self._asked("POST", self._issues, said), _Raw))

    def update(self, key: str, title: str, body: str) -> None:
        self._asked("PATCH", self._path(key), {"title": title, "body": body})

    def move(self, key: str, to: IssueState, why: str) -> None:  # noqa: ARG002  the comment says why
        closed = {"state": "closed", "state_reason": _REASONS[to]} if to in _REASONS else {"state": "open"}
        self._asked("PATCH", self._path(key), closed)

    def comment(self, key: str, text: str) -> None:
        self._asked("POST", f"{self._path(key)}/comments", {"body": text})

    def commented(self, key: str, marker: str) -> bool:
        path = f"{self._path(key)}/comments?per_page=100"
        return any(words.mark_of(one.body or "") == marker for one in self._pages(path, list[_Comment]))

    def _path(self, key: str) -> str:
        return f"{self._issues}/{int(key)}"

    def _one(self, key: str) -> Issue | None:
        answer = self._answer("GET", self._path(key))
        if answer.status in _GONE:
            return None
        raw = self._decoded(judged(answer, self._line.clean, self.name), _Raw)
        return self._issue(raw) if raw.pull_request is UNSET else None

    def _listed(self, query: Mapping[str, str]) -> Iterator[Issue]:
        for raw in self._pages(f"{self._issues}?{urlencode(query)}", list[_Raw]):
            if raw.pull_request is UNSET:
                yield self._issue(raw)

    def _pages(self, path: str, kind: type[list[_Read]]) -> Iterator[_Read]:
        for _ in range(_PAGES):
            answer = self._asked("GET", path)
            yield from self._decoded(answer, kind)
            following = self._following(answer)
            if not following:
                return
            path = following
        raise Refused(
            f"{self.name} has more than {_PAGES * 100} issues like that",
            hint="sync only those with a label: queue.tracker_label",
        )

    def _following(self, answer: Answer) -> str:
        """The next page, if it is where we asked: the token goes nowhere else."""
        found = re.search(r'<([^<>]*)>\s*;[^,]*\brel="?next"?', answer.headers.get("link", ""))
        if not found:
            return ""
        if not found[1].startswith(self._line.base + "/") or ".." in found[1]:
            raise Refused(f"{self.name} leads to {words.title_of(found[1])}, which is not where it is")
        return found[1][len(self._line.base) :]

    def _asked(self, method: str, path: str, said: Mapping[str, Any] | None = None) -> Answer:
        return judged(self._answer(method, path, said), self._line.clean, self.name)

    def _answer(self, method: str, path: str, said: Mapping[str, Any] | None = None) -> Answer:
        """What may be asked twice is asked again if the answer gets lost; something is made only once."""
        tries = 1 if method == "POST" else self._tries
        body = msgspec.json.encode(said) if said is not None else b""
        for left in reversed(range(tries)):
            try:
                answer = self._line.send(method, path, body)
            except Unclear:
                if not left:
                    raise
            except Off:
                raise
            else:
                if answer.status < _SERVER_ERROR or not left:
                    return answer
            time.sleep(_PAUSE_SECONDS * (tries - left))
        raise AssertionError("the last try returns or raises")

    def _decoded(self, answer: Answer, kind: type[_Read]) -> _Read:
        try:
            return msgspec.json.decode(answer.data, type=kind)
        except wire.UNREADABLE:
            raise Unclear(f"{self.name} answered something else than issues", hint="check RALPH_GITHUB_URL") from None

    def _issue(self, raw: _Raw) -> Issue:
        closed = raw.state == "closed"
        insider = raw.author_association in _INSIDERS or (raw.user is not None and raw.user.type == "Bot")
        labels = {label.name for label in raw.labels}
        return Issue(
            key=str(raw.number),
            title=words.title_of(raw.title),
            body=words.body_of(raw.body or ""),
            state=_STATES.get(raw.state_reason or "", IssueState.DONE) if closed else IssueState.OPEN,
            url=words.title_of(raw.html_url) if urlsplit(raw.html_url).scheme in {"https", "http"} else "",
            marker=words.mark_of(raw.body or "") if insider else "",
            wanted=not self._label or self._label in labels,
            type="bug" if "bug" in labels else UNSET,
        )


def repository_of(typed: str) -> str:
    """OWNER/REPO, if that is what was typed."""
    return typed if _REPOSITORY.fullmatch(typed) and not typed.endswith(("/.", "/..")) else ""
