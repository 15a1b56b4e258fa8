"""What came of a walk through a test."""

from collections.abc import Iterable

import msgspec

from untilproven.guard.facts import Assertion, Running
from untilproven.guard.languages.java import words


class Place(msgspec.Struct, frozen=True):
    """Where in a test something stands."""

    live: bool = True
    """It is reached, and its failure would be seen."""
    own: bool = True
    """A return here ends the test."""
    under: str = ""
    """The condition it depends on."""


class Walked(msgspec.Struct):
    assertions: list[Assertion] = []
    unreached: int = 0
    running: Running = Running.ALWAYS
    reason: str | None = None
    leaves: str | None = None
    helped: set[str] = set()
    """Functions of the same class whose assertions are listed: once, however often they are called."""
    _ends: list[tuple[str, int]] = []
    """Returns, and how many assertions stood before each."""

    @property
    def seen(self) -> int:
        return len(self.assertions) + self.unreached

    def note(self, found: Iterable[Assertion], place: Place) -> None:
        if place.live:
            self.assertions.extend(found)
        else:
            self.unreached += len(tuple(found))

    def skip(self, place: Place, reason: str, *, certain: bool = True) -> None:
        """An assertion that came before was made all the same."""
        if not place.live or not place.own:
            return
        never = certain and not place.under and not self.assertions
        running = Running.NEVER if never else Running.SOMETIMES
        if running < self.running:
            self.running, self.reason = running, place.under or reason

    def end(self, place: Place, text: str) -> None:
        in_catch = place.under.startswith("catch")
        if in_catch and not words.HIDES.search(place.under):
            """An error of a particular kind decides whether the rest makes sense."""
            return
        if place.live and place.own:
            under = place.under if in_catch else f"if ({place.under})"
            self._ends.append((f"{under} {text}" if place.under else text, self.seen))

    def close(self) -> None:
        early = next((text for text, before in self._ends if before < self.seen), None)
        self.leaves = self.leaves or early
