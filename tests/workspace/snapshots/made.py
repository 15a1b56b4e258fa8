"""A loop's iterations without an agent: layers as one would leave them, kept or discarded as a loop does it."""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from untilproven.model.status import Status
from untilproven.store.layout import Project
from untilproven.store.writer import LoopWriter
from untilproven.workspace.overlay import plan
from untilproven.workspace.overlay.tree import Tree
from untilproven.workspace.overlay.upper import Upper
from untilproven.workspace.overlay.workspace import OverlayWorkspace
from untilproven.workspace.walk import walk
from watch.scenes import LOOP, PLAN, begin

Written = Mapping[str, bytes | None]
"""What an iteration writes to a path; None deletes it."""


def iterate(project: Project, number: int, written: Written, *, keep: bool = True, mode: int = 0o644) -> None:
    workspace = OverlayWorkspace(project, LOOP, ())
    workspace.recover(None)
    layer = workspace._place.iteration(number)
    for path, data in written.items():
        target = layer / "upper" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if data is None:
            os.mknod(target, stat.S_IFCHR, 0)
        else:
            target.write_bytes(data)
            target.chmod(mode)
    (layer / "upper").mkdir(parents=True, exist_ok=True)
    for directory, _, _ in os.walk(layer / "upper"):
        Path(directory).chmod(0o755)
    tree = Tree(walk(project.root, workspace._exclude).entries)
    found = Upper(layer / "upper", project.root, tree, time.time_ns(), 0, workspace._exclude).look()
    plan.save(plan.plan_of(number, 0, found.changes, {}), layer)
    workspace.recover(number if keep else None)
    workspace.close()


@contextmanager
def loop(project: Project, *, sandbox: str = "overlay") -> Iterator[LoopWriter]:
    with begin(project, plan=replace(PLAN, sandbox=sandbox)) as writer:
        yield writer


def ended_loop(project: Project, *, sandbox: str = "overlay") -> None:
    with loop(project, sandbox=sandbox) as writer:
        writer.transition_status(Status.FAILED)
