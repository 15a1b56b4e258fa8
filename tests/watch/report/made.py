"""What a report is made of, for a journal that was made up."""

from html.parser import HTMLParser

from core.history import LOOP, History
from support import MOMENT
from untilproven.core.analytics import analytics
from untilproven.core.incidents import incidents
from untilproven.model.state import LoopState
from untilproven.model.status import Status
from untilproven.watch.report.material import Material

_ALONE = {"meta"}
"""Tags that are never closed."""


def material(history: History, *, task: str = "fix it", words: tuple[tuple[str, str], ...] = ()) -> Material:
    state = LoopState(version="2.0.0", loop_id=LOOP, status=Status.RUNNING, iteration=0, task=task)
    return Material(state, analytics(LOOP, history.entries), incidents(history.entries), words, MOMENT)


class Parsed(HTMLParser):
    """A page, refused if its tags are not closed in order; what it says, and what it holds."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.said: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in _ALONE:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style" and data.strip():
            self.said.append(data.strip())

    def values(self, tag: str, name: str) -> list[str]:
        return [value for one, attribute, value in self.attributes if (one, attribute) == (tag, name)]
