"""The ways into the user's tree: an iteration that is kept, work that is delivered at the end, what is restored.

Each is recorded before the first file is touched, and done again to its end by whoever comes after a kill.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from untilproven.contract import Conflict
from untilproven.workspace.overlay import plan
from untilproven.workspace.overlay.known import Known
from untilproven.workspace.overlay.place import Place
from untilproven.workspace.overlay.stack import Stack

if TYPE_CHECKING:
    # What remembers iterations is not loaded before the agent's first turn.
    from untilproven.workspace.snapshots.restoring import Restored

_REBASED = 5
"""How many times what a loop delivers is brought together with what others did meanwhile, before its lines are left
aside for the user."""


class IntoTree:
    """Nobody is at work in the rooms meanwhile: whoever calls has seen to that."""

    def __init__(self, root: Path, place: Place, known: Known, stack: Stack, step: Callable[[], None]) -> None:
        self._root, self._place, self._known, self._stack = root, place, known, stack
        self._step = step
        self._rebased = 0

    def keep(self, iteration: int, layer: Path, opened: int) -> tuple[Conflict, ...]:
        """Into the tree, unless this loop delivers later: because another merges there, or has merged the same since
        the iteration was opened."""
        aside = self._place.aside(layer.name)
        with self._place.merging():
            joins = plan.total(layer) is not None
            if not joins and (plan.begun(layer) is not None or not self._place.others_kept_since(opened)):
                return self._apply("kept", str(iteration), layer, aside)
            from untilproven.workspace.overlay.joining import join, meets  # noqa: PLC0415  only where loops meet

            if not joins and not meets(self._stack, layer):
                return self._apply("kept", str(iteration), layer, aside)
            if not joins:
                plan.save_total(plan.load(layer), layer)
            self._known.decide()
            return join(self._stack, iteration, layer, aside, self._step)

    def deliver(self) -> tuple[Conflict, ...] | None:
        """Others may have changed the tree: what is put there is what the checks have seen, or they see it first; then
        it is None."""
        stack = self._stack
        with self._place.merging():
            conflicts = self.finish_delivering()
            if conflicts or not stack.layer:
                return conflicts
            from untilproven.workspace.overlay import rebasing  # noqa: PLC0415  only where loops meet

            found = rebasing.look(stack, merging=self._rebased < _REBASED)
            if found.moved and (found.conflicts or self._rebased < _REBASED):
                self._rebased += 1
                conflicts = rebasing.rebase(stack, found, self._place.aside("delivery"), self._step)
                return conflicts or None
            stack.hand_over(found.changes, self._step)
            return self.finish_delivering()

    def finish_delivering(self) -> tuple[Conflict, ...]:
        layer = self._place.delivery
        if not layer.exists():
            return ()
        iteration = str(plan.load(layer).iteration)
        conflicts = self._apply("kept", iteration, layer, self._place.aside("delivery"))
        self._known.doubt()
        self._place.set_delivered(delivered=True)
        self._place.drop(self._place.theirs)
        self._place.drop(layer)
        return conflicts

    def restore(self, target: str, *, dry_run: bool) -> "Restored":
        from untilproven.workspace.snapshots.restoring import Restored, prepare, way_to  # noqa: PLC0415  see above

        if not dry_run:
            self.finish_restoring()
        way = way_to(self._stack.snapshots, target, self._root, delivered=self._place.is_delivered)
        if dry_run or not way.changes:
            expected = way.expected_conflicts(self._root)
            return Restored(way.changed(frozenset(conflict.path for conflict in expected)), expected)
        self._place.drop(self._place.restore)
        prepare(way, target, self._stack.snapshots, self._place.restore, self._root)
        conflicts = self.finish_restoring()
        return Restored(way.changed(frozenset(conflict.path for conflict in conflicts)), conflicts)

    def finish_restoring(self) -> tuple[Conflict, ...]:
        layer = self._place.restore
        if not layer.exists():
            return ()
        from untilproven.workspace.snapshots.restoring import prepared  # noqa: PLC0415  see above

        conflicts: tuple[Conflict, ...] = ()
        if target := prepared(layer):
            conflicts = self._apply("restored", target, layer, self._place.aside(f"restore-{target}"))
            self._known.doubt()
        self._place.drop(layer)
        return conflicts

    def _apply(self, fate: str, what: str, layer: Path, aside: Path) -> tuple[Conflict, ...]:
        from untilproven.workspace.snapshots.applying import apply  # noqa: PLC0415  see above

        with self._place.merging():
            merged = apply(self._stack.snapshots, fate, what, layer, self._root, aside, self._step)
        self._known.decide(taken=merged.entries)
        if merged.conflicts:
            self._known.doubt()
        return merged.conflicts
