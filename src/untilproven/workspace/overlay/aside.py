"""Keeping the agent's version of what stays as others have it."""

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from untilproven.contract import Conflict
from untilproven.workspace.overlay import copying
from untilproven.workspace.overlay.beneath import Beneath, seen, split
from untilproven.workspace.overlay.upper import Change

_PRIVATE = 0o700


def put_aside(paths: Iterable[str], changes: Mapping[str, Change], upper: Path, aside: Path) -> tuple[Conflict, ...]:
    """Copy what a layer has at these paths; doing it again, also when the layer has it no more, changes nothing."""
    conflicts = []
    with Beneath(upper, force=True) as layer:
        for path in paths:
            ours = changes[path].ours
            kept = _kept(layer, path, aside) if ours is not None and not ours.is_directory else None
            conflicts.append(Conflict(path, "changed" if ours is not None else "deleted", kept))
    return tuple(conflicts)


def _kept(layer: Beneath, path: str, aside: Path) -> Path | None:
    target = aside / path
    parent, name = split(path)
    with contextlib.suppress(OSError):  # a path that is too long; the other version is what counts
        target.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        source = layer.directory_if_any(parent)
        if source is None or seen(source, name) is None:
            return target if os.path.lexists(target) else None
        target.unlink(missing_ok=True)
        with Beneath(target.parent) as place:
            copying.copy(source, name, place.root, name)
        return target
    return None
