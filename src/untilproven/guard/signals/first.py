"""What a tool is told for the first time: by a file, or a section of one, that was not there before."""

from collections.abc import Collection, Iterator

import msgspec

from untilproven.guard.comparison import Comparison
from untilproven.guard.finding import Signal
from untilproven.guard.signals import strictness
from untilproven.guard.signals.documents import name_of
from untilproven.guard.signals.settings import Setting, Settings

_MANIFESTS = ("package.json", "Cargo.toml")
_READ_ALONE = frozenset({"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"})
"""Where one of these is, pytest reads no settings anywhere else."""
_WEIGH = frozenset({"chosen", "elsewhere", "in-tests", "new-place"})


def is_of_a_new_part(setting: Setting, new: Collection[str]) -> bool:
    """Its project, or this part of it, comes with the change: there was nothing to leave out."""
    directory = setting.side.path.rpartition("/")[0]
    return any(f"{directory}/{name}".lstrip("/") in new for name in _MANIFESTS)


def said(signal: Signal) -> Iterator[Signal]:
    """Only what keeps tests from being run was done by itself before; what is said of a new run takes nothing away."""
    if signal.name == strictness.COLLECTION and not signal.subject.startswith("testenv"):
        explained = () if _WEIGH.intersection(signal.explained) else ("new",)
        yield msgspec.structs.replace(signal, explained=(*signal.explained, *explained))


def in_the_way(comparison: Comparison, was: Settings) -> Iterator[Signal]:
    """Of what may be said elsewhere, and is read no longer."""
    for pair in comparison.pairs:
        directory, _, name = pair.path.rpartition("/")
        if pair.before is None and name in _READ_ALONE and not _is_told(directory, was):
            others = "what other files say to pytest is not read"
            yield Signal(strictness.COLLECTION, pair.path, 1, name_of(pair.path), now=others, explained=("new",))


def _is_told(directory: str, was: Settings) -> bool:
    prefix = f"{directory}//pytest." if directory else "pytest."
    return any(name.startswith(prefix) for name in was)
