"""How an event leaves a loop, so that the next one can tell that nobody has touched it since."""

import contextlib
from pathlib import Path

from untilproven.core.text import cut
from untilproven.errors import Damaged
from untilproven.model.state import LoopState
from untilproven.session import quick, storage
from untilproven.session.constants import CONTINUATION_PROMPT_TEMPLATE
from untilproven.session.detector import build_continuation_prompt
from untilproven.session.place import SessionPlace
from untilproven.store import files
from untilproven.store.layout import Project
from untilproven.store.writer import LoopWriter

_LINE_BYTES = 500


def seal(project: Project, place: SessionPlace, writer: LoopWriter) -> None:
    """From here on a turn without a claim is answered without looking at anything else."""
    state = storage.load(place)
    if state is None:
        return
    told = build_continuation_prompt(CONTINUATION_PROMPT_TEMPLATE, state) + judged_by(writer.state)
    rest = told.removeprefix(f"[RALPH LOOP - ITERATION {state.iteration}")
    journal = writer.loop.journal
    with contextlib.suppress(OSError):
        seen = quick.seen(str(journal))
        place.point_to(
            quick.Pointer(
                root=str(project.root),
                state=str(place.state),
                record=quick.digest(files.read(place.state)),
                journal=str(journal),
                seen=seen,
                told=_said(journal, seen[1]),
                rest=rest,
            )
        )


def refuse_rewritten(place: SessionPlace, journal: Path) -> None:
    """Others may add to a journal, as `ralph pause` does. Nobody may change what it said before."""
    known = place.pointer
    if known and known.journal == str(journal) and known.told and known.told != _said(journal, known.seen[1]):
        raise Damaged("what its journal said when it was last looked at was changed since")


def _said(journal: Path, size: int) -> str:
    with files.open_regular(journal) as file:
        return quick.digest(file.read(size))


def judged_by(state: LoopState) -> str:
    """What a promise will be held to."""
    checks = [check.line for check in state.plan.checks if check.role == "until"] if state.plan else []
    if not checks:
        return ""
    listed = "\n".join(f"- `{cut(line, _LINE_BYTES)}`" for line in checks)
    return (
        f"\n\nThe promise is checked: it counts only if these pass, with the tests as they were at the start:\n{listed}"
    )
