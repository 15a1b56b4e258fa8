"""The plan of a merge: every path with what it was and what it is to be, written down before anything is touched."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

import msgspec

from untilproven.errors import Damaged
from untilproven.store import files
from untilproven.workspace.overlay.beneath import Beneath, split
from untilproven.workspace.overlay.upper import Change

_WRITTEN, _BEGUN, _TOTAL = "plan", "merging-", "total"
_OPEN = 0o700
_LARGEST = 1024 * files.MIB


class Plan(msgspec.Struct, frozen=True, array_like=True, tag="merge-1"):
    """In a file, paths are the bytes they really are."""

    iteration: int
    settled: int
    """What was last changed before this, in nanoseconds, is known by its times."""
    changes: dict[bytes, Change]
    closed: dict[bytes, int]
    """Directories of the user's tree that must be opened to be written to, with the modes they get back."""

    def by_path(self) -> dict[str, Change]:
        return {os.fsdecode(path): change for path, change in self.changes.items()}


def plan_of(iteration: int, settled: int, changes: dict[str, Change], closed: dict[str, int]) -> Plan:
    return Plan(
        iteration,
        settled,
        {os.fsencode(path): change for path, change in changes.items()},
        {os.fsencode(path): mode for path, mode in closed.items()},
    )


def closed_in(root: Path, changes: Iterable[str]) -> dict[str, int]:
    """Directories of the user's tree that are to change inside, and forbid that even to their owner."""
    found = {}
    with Beneath(root) as tree:
        for path in {split(path)[0] for path in changes} - {""}:
            directory = tree.seen(path)
            if directory is not None and stat.S_ISDIR(directory.st_mode) and directory.st_mode & _OPEN != _OPEN:
                found[path] = stat.S_IMODE(directory.st_mode)
    return found


def save(plan: Plan, layer: Path) -> None:
    files.replace(layer / _WRITTEN, msgspec.msgpack.encode(plan), durable=False)


def save_total(plan: Plan, layer: Path) -> None:
    """What a layer changes together with all that was kept before it: it is to join that, not the user's tree."""
    files.replace(layer / _TOTAL, msgspec.msgpack.encode(plan), durable=False)


def total(layer: Path) -> Plan | None:
    """The same again; None for a layer that is merged as it is."""
    return _load(layer / _TOTAL) if os.path.exists(f"{layer}/{_TOTAL}") else None  # noqa: PTH110  for every iteration


def replan(plan: Plan, layer: Path) -> None:
    """Another plan for a layer: nothing is left of what became of it before."""
    for path in layer.glob(f"{_BEGUN}*"):
        path.unlink()
    save(plan, layer)


def is_written(layer: Path) -> bool:
    """Whether somebody has looked at a layer, so that what it changes is known."""
    return _file_of(layer) is not None


def begin(layer: Path, record: int) -> Plan:
    """The plan of a layer, which from now on belongs to the record of that number."""
    found = _file_of(layer) or layer / _WRITTEN
    plan = _load(found)
    with files.explained(found):
        found.rename(layer / f"{_BEGUN}{record}")
    return plan


def begun(layer: Path) -> int | None:
    """The number of the record that a layer belongs to, if it was being merged."""
    found = _file_of(layer)
    number = found.name.removeprefix(_BEGUN) if found else ""
    return int(number) if number.isdigit() else None


def load(layer: Path) -> Plan:
    return _load(_file_of(layer) or layer / _WRITTEN)


def _file_of(layer: Path) -> Path | None:
    if os.path.exists(f"{layer}/{_WRITTEN}"):  # noqa: PTH110  asked again and again in every iteration
        return layer / _WRITTEN
    return next(layer.glob(f"{_BEGUN}*"), None)


def _load(path: Path) -> Plan:
    try:
        return msgspec.msgpack.decode(files.read(path, _LARGEST), type=Plan)
    except (msgspec.MsgspecError, OSError) as error:
        raise Damaged(
            f"{path} is not a plan of a merge: {error}",
            hint="what the agent wrote is still beside it, in the directory `upper`",
        ) from error
