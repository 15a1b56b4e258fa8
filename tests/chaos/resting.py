"""The user's tree while nobody runs the loop, and when it has ended: what it has to be, to the byte."""

from collections.abc import Mapping
from pathlib import Path

from chaos.belongings import git
from chaos.dying import Doom
from chaos.picture import Picture, between, picture, same_things, untouched, without_diary
from chaos.place import Place
from untilproven.model import events
from untilproven.model.iteration import Fate
from untilproven.model.status import TERMINAL
from untilproven.store.journal import scan

YOURS = "yours"
_BEFORE_A_MERGE = (events.CheckpointWritten, events.LoopAdopted, events.StateUpdated)
"""What is recorded after the end of an iteration and before it is merged, also by whoever takes the loop up."""

Trees = Mapping[int, Picture]
"""What the tree is after each iteration; 0 is the start."""


def at_rest(place: Place, trees: Trees) -> None:
    """Somebody was killed: the tree is that of the last kept iteration, or on the way to it if it was being merged."""
    now = without_diary(place.tree())
    _yours(place, now)
    place.nothing_lost(in_a_merge=place.in_a_merge)
    if place.sandbox != "overlay":
        return
    if not place.scenario.commits:
        same_git(place)
    before, after, merging = _expected(place, trees)
    if merging:
        between(now, before, after)
        return
    same_things(now, after, "at rest")
    untouched(now, without_diary(place.start), after)


def _expected(place: Place, trees: Trees) -> tuple[Picture, Picture, bool]:
    """The trees before and after the iteration that ended last, and whether it may be halfway into the tree."""
    number, merging = 0, False
    found = scan(place.loop.journal, place.loop.loop_id) if place.loop else ()
    for entry in found:
        event = entry.event if isinstance(entry, events.Entry) else None
        if isinstance(event, events.IterationFinished):
            number, merging = event.iteration, event.fate is Fate.KEPT
        elif event is not None and not isinstance(event, _BEFORE_A_MERGE):
            merging = False
    if place.state and place.state.status in TERMINAL:
        merging = False
    assert number in trees, f"iteration {number} is one too many"
    before, after = (without_diary(trees[max(at, 0)]) for at in (number - 1, number))
    return before, after, merging


def ended(place: Place, trees: Trees) -> None:
    """The loop has ended: nothing that it did not change is other than it was."""
    now = without_diary(place.tree())
    _yours(place, now)
    if place.sandbox == "overlay":
        untouched(now, without_diary(place.start), without_diary(trees[max(trees)]))
    if place.scenario.commits:
        _one_commit(place)
    elif place.sandbox != "none":
        same_git(place)
    mounted = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(place.directory) in line]
    assert not mounted, mounted


def _yours(place: Place, now: Picture) -> None:
    """What no scenario changes for good; in a shadow it may be gone for a while."""
    if place.sandbox == "shadow":
        return
    mine = {path: seen for path, seen in place.start.items() if path.partition("/")[0] == YOURS}
    untouched(now, mine, mine)


def same_git(place: Place) -> None:
    """HEAD, the index, the stash, every object and setting; a shadow leaves new objects there, which do no harm."""
    now = picture(place.project.root / ".git", ())
    if place.sandbox == "shadow":
        now = {path: seen for path, seen in now.items() if path in place.git or not path.startswith("objects/")}
    same_things(now, place.git, "in .git")


def _one_commit(place: Place) -> None:
    """One commit of what the loop changed; what the user had staged, changed and left untracked is still that."""
    root = place.project.root
    assert git(root, "rev-list", "--count", "HEAD").strip() == "2", git(root, "log", "--stat")
    assert git(root, "stash", "list").count("\n") == 1
    assert git(root, "diff", "--cached", "--name-only").split() == ["yours/staged.txt"]
    assert git(root, "diff", "--name-only").split() == ["yours/tracked.txt"]
    assert not list((root / ".git").rglob("*.lock")), "a lock is left"
    git(root, "fsck", "--strict")
    assert place.end(place.live(Doom(), ("verify", "HEAD"))) == 0, "`ralph verify HEAD` is not green"
