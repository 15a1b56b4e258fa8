"""From a layer to the user's tree: recorded first, then merged. Killed anywhere, it is done again to its end."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec.structs import replace

from untilproven.workspace.overlay import plan
from untilproven.workspace.overlay.merge import Merged, merge
from untilproven.workspace.snapshots.collecting import record
from untilproven.workspace.snapshots.record import Name, Record, rewrite
from untilproven.workspace.snapshots.shelf import Snapshots


def apply(
    snapshots: Snapshots, fate: str, what: str, layer: Path, root: Path, aside: Path, step: Callable[[], None]
) -> Merged:
    """Make what a layer has part of the tree, so that it can be taken back."""
    name, written = recorded(snapshots, fate, what, layer, root, step)
    refused = {os.fsdecode(path) for path in written.refused}
    merged = merge(written.plan, layer / "upper", root, aside, step, refused)
    refused |= {conflict.path for conflict in merged.conflicts}
    if len(refused) != len(written.refused):
        step()
        written = replace(written, refused=tuple(sorted(map(os.fsencode, refused))))
        rewrite(snapshots.path / str(name), written)
        snapshots.replaced()
    step()
    return merged


def recorded(
    snapshots: Snapshots,
    fate: str,
    what: str,
    layer: Path,
    root: Path,
    step: Callable[[], None],
    elsewhere: Mapping[str, Path] | None = None,
) -> tuple[Name, Record]:
    """Write down what a layer changes, once; what was at some paths before may lie elsewhere than in the tree."""
    number = plan.begun(layer)
    name = snapshots.named(number) if number is not None else None
    if name is not None and (name.fate, name.what) == (fate, what):
        return name, snapshots.load(name)
    step()
    name = snapshots.next(fate, what)
    wanted = plan.begin(layer, name.number)
    step()
    written = record(snapshots, name, wanted, layer / "upper", root, elsewhere)
    step()
    return name, written
