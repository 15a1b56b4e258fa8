"""What an issue tracker is to us, and how it can fail."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Protocol

import msgspec
from msgspec import UNSET, UnsetType

from untilproven.errors import RalphError
from untilproven.model.task import Completion, Task
from untilproven.model.tracker import IssueState, Kind


class TrackerFailed(RalphError):
    """Something at a tracker did not work."""

    kind = "tracker"


class Refused(TrackerFailed):
    """It said no: nothing was done."""


class Off(Refused):
    """It can do nothing for us now: no login, a rate limit, out of reach. What else is asked of it would fail too."""


class Unclear(TrackerFailed):
    """The answer did not arrive: it may have been done."""


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    """An issue as its tracker has it. Its texts are somebody else's words, cut to size and made harmless."""

    key: str
    """What the tracker knows it by: `12`, `bd-a3f8`."""
    title: str
    body: str = ""
    state: IssueState = IssueState.OPEN
    url: str = ""
    marker: str = ""
    """Of the task that it was made for, if it was made by us."""
    wanted: bool = True
    """Whether it may become a task here."""
    own_id: str = ""
    """An id by which people know it, and which its task gets if it is free."""
    priority: float = 0
    type: str | UnsetType = UNSET
    completion: Completion | tuple[Completion, ...] | UnsetType = UNSET
    acceptance_criteria: tuple[str, ...] | UnsetType = UNSET
    blocked_by: tuple[str, ...] = ()
    """Keys of other issues."""


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """An issue that is to be made for a task."""

    task: Task
    title: str
    body: str
    marker: str


class Tracker(Protocol):
    """A place with issues. Each operation does one thing there, or raises a `TrackerFailed`."""

    @property
    def name(self) -> str:
        """As the user types it: `github:OWNER/REPO`."""

    @property
    def source(self) -> str:
        """The path in the origin of tasks that came from here."""

    @property
    def holds(self) -> frozenset[IssueState]:
        """What can be said about an issue here."""

    @property
    def can(self) -> frozenset[Kind]: ...

    @property
    def wants_proof(self) -> bool:
        """Whether others take it for proven what is done here, so that a person's word is not enough."""

    def external_id(self, key: str) -> str: ...

    def key_of(self, external_id: str) -> str:
        """The other way; empty if it is none of this tracker."""

    def marker(self, task: Task) -> str:
        """By which the issue of a task is known, before the task is linked to it."""

    def find(self, linked: Collection[str], *, new: bool) -> Mapping[str, Issue]:
        """Those of these keys that are still there, by their keys; if `new`, also those that may become tasks."""

    def made(self, marker: str, since: datetime) -> Issue | None:
        """The issue with this marker: asked when nobody knows whether one was made."""

    def create(self, draft: Draft) -> Issue: ...

    def update(self, key: str, title: str, body: str) -> None:
        """The mark of its task is in the body."""

    def move(self, key: str, to: IssueState, why: str) -> None: ...

    def comment(self, key: str, text: str) -> None: ...

    def commented(self, key: str, marker: str) -> bool:
        """Whether a comment with this marker is there."""
