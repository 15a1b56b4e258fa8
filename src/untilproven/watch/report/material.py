"""What a report is made of. Follows no link, runs nothing."""

from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec

from untilproven.core.analytics import analytics
from untilproven.core.incidents import Incidents, incidents
from untilproven.core.receipt_text import receipt_text
from untilproven.model import events
from untilproven.model.analytics import Analytics
from untilproven.model.state import LoopState
from untilproven.store import journal
from untilproven.store.layout import LoopDirectory
from untilproven.watch import loops, past


class Material(msgspec.Struct, frozen=True):
    state: LoopState
    analytics: Analytics
    incidents: Incidents
    words: tuple[tuple[str, str], ...]
    """The receipt's; of a loop without one, what is known of it so far."""
    made_at: datetime
    damage: tuple[str, ...] = ()


def gathered(found: loops.Detail, marks: Mapping[str, str], at: datetime) -> Material:
    """All about one loop; `marks` has what a person said of findings, by their ids."""
    view, damage = found.row.view, list(found.damage)
    receipt = past.receipt(view.directory, damage)
    return Material(
        state=view.state,
        analytics=analytics(view.state.loop_id, entries(view.directory, damage), marks),
        incidents=incidents(entries(view.directory, [])),
        words=tuple(receipt_text(receipt) if receipt else found.lines()),
        made_at=at,
        damage=tuple(damage),
    )


def entries(loop: LoopDirectory, damage: list[str]) -> Iterator[events.Entry]:
    """Every line of a journal that can be read; what cannot is named."""
    try:
        for one in journal.scan(loop.journal, loop.loop_id):
            if isinstance(one, events.Entry):
                yield one
            elif isinstance(one, journal.Damage):
                damage.append(f"{loop.journal.name}, {one.where}: {one.reason}")
    except FileNotFoundError:
        damage.append(f"{loop.journal.name} is missing: nothing is known of the iterations")
