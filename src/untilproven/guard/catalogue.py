"""What signals mean: patterns, read from the files beside this one."""

import tomllib
from functools import cache, cached_property
from importlib import resources
from typing import Any

import msgspec

from untilproven.guard.finding import Severity, Signal
from untilproven.guard.kinds import Kind
from untilproven.model.persistence import RegressionType

_EXAMPLES = "\n[[examples]]\n"


class When(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Either one of these signals, or syntax that was not there before."""

    signal: tuple[str, ...] = ()
    at_least: float = 0
    """Of the signal's amount."""
    less_than: float = float("inf")
    together: int = 1
    """So many such signals in the whole change; then they are one finding."""
    kinds: tuple[Kind, ...] = ()
    """Of files; empty for all."""
    syntax: dict[str, dict[str, Any]] = {}
    """By language, a rule of ast-grep; what it finds more often than before is a signal."""


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    fires: bool
    title: str
    language: str = ""
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    severity: str | None = None
    """What it is lowered to."""
    task: str = ""


class Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    id: str
    name: str
    severity: str
    category: str
    why: str
    recovery: str
    says: str
    when: When
    regression: RegressionType | None = None
    lowered_by: dict[str, int] = {}
    """Explanations, and by how many steps each lowers it."""
    doubtful: bool | tuple[str, ...] = False
    """Whether it may as well be done on purpose, by itself or where one of these is true: then whoever reads the change
    is warned. Where nobody reads it, it weighs what it weighs."""
    examples: tuple[Example, ...] = ()

    @property
    def weight(self) -> Severity:
        return Severity[self.severity.upper()]

    @cached_property
    def hears(self) -> frozenset[str]:
        """The signals it may be about."""
        return frozenset({*self.when.signal, self.id})

    @cached_property
    def doubts(self) -> frozenset[str]:
        """What makes it doubtful where it is not so by itself."""
        return frozenset() if isinstance(self.doubtful, bool) else frozenset(self.doubtful)

    def is_doubtful(self, signal: Signal) -> bool:
        return self.doubtful is True or not self.doubts.isdisjoint(signal.explained)

    def fits(self, signal: Signal, kind: Kind) -> bool:
        when = self.when
        return (
            signal.name in self.hears
            and when.at_least <= signal.amount < when.less_than
            and (not when.kinds or kind in when.kinds)
        )


@cache
def patterns(*, with_examples: bool = False) -> tuple[Pattern, ...]:
    """All of them, by their ids. Examples come last in a file, and are most of it; who judges does without."""
    files = (entry for entry in resources.files("untilproven.guard").joinpath("patterns").iterdir())
    texts = (entry.read_text("utf-8") for entry in files if entry.name.endswith(".toml"))
    read = (_read(tomllib.loads(text if with_examples else text.partition(_EXAMPLES)[0])) for text in texts)
    return tuple(sorted(read, key=lambda pattern: pattern.id))


def _read(table: dict[str, Any]) -> Pattern:
    """One signal may be written without brackets."""
    if isinstance(signal := table["when"].get("signal"), str):
        table["when"]["signal"] = [signal]
    return msgspec.convert(table, Pattern)
