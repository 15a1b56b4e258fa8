"""Files that could be read before, and can not be any more."""

from collections.abc import Iterator

from untilproven.guard.comparison import Comparison, Side
from untilproven.guard.finding import Signal
from untilproven.guard.languages import grammar_of
from untilproven.guard.reading import read
from untilproven.guard.signals.documents import NotUnderstood, is_lock, values_in
from untilproven.guard.written import Unreadable, as_text


def unreadable(comparison: Comparison) -> Iterator[Signal]:
    """To be asked last: what the others could not read is told by then."""
    told = {one.path for one in comparison.not_analysed}
    for pair in comparison.pairs:
        if pair.before is None or pair.after is None or is_lock(pair.path):
            continue
        if pair.path in told or (pair.before.text and not pair.after.text):
            why = _why_not(pair.after)
            if why and not _why_not(pair.before):
                yield Signal("unreadable-now", pair.path, 1, why)


def _why_not(side: Side) -> str:
    """Empty if it can be read."""
    if not side.content.strip():
        return ""
    try:
        as_text(side.content, though_made=True)
        if grammar_of(side.path):
            read(side.path, side.content, though_made=True)
        elif side.path.endswith((".yml", ".yaml", ".toml", ".json", ".ini", ".cfg")):
            values_in(side.path, side.content)
    except (Unreadable, NotUnderstood) as reason:
        return str(reason)
    return ""
