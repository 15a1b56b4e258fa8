"""What a loop may use, what it has used, and the first limit that says stop. Unknown is never counted as zero."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from untilproven.core.middle import median
from untilproven.model.events import LimitReached


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """None means: no limit. `strict`: the user set one on money or tokens, and it must be possible to keep it."""

    iterations: int | None = None
    seconds: float | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    strict: bool = False


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """Used so far, over all restarts; pauses do not count. UNSET means that nobody could say."""

    iterations: int = 0
    seconds: float = 0.0
    cost_usd: float | UnsetType = UNSET
    tokens: int | UnsetType = UNSET
    cost_unknown: bool = False
    """Whether some of the work had a cost that nobody reported."""
    tokens_unknown: bool = False


def reached(limits: Limits, spent: Spent) -> LimitReached | None:
    """The first limit that is used up, with what was observed and what was allowed."""
    observed: list[tuple[str, float | UnsetType, float | None]] = [
        ("iterations", spent.iterations, limits.iterations),
        ("time", spent.seconds, limits.seconds),
        ("cost", spent.cost_usd, limits.cost_usd),
        ("tokens", spent.tokens, limits.tokens),
    ]
    for name, used, allowed in observed:
        if allowed is not None and used is not UNSET and used >= allowed:
            return LimitReached(limit=name, observed=used, allowed=allowed)
    return None


def unobservable(limits: Limits, spent: Spent) -> LimitReached | None:
    """A limit on money or tokens that the user set, and work whose use of them cannot be seen: nobody can keep it."""
    watched = (("cost", limits.cost_usd, spent.cost_unknown), ("tokens", limits.tokens, spent.tokens_unknown))
    for name, allowed, unknown in watched:
        if limits.strict and allowed is not None and unknown:
            what = "cost" if name == "cost" else "use of tokens"
            message = f"the {what} of an iteration could not be observed, so the limit cannot be kept"
            return LimitReached(limit=name, allowed=allowed, message=message)
    return None


def unaffordable(limits: Limits, spent: Spent, costs: Sequence[float]) -> LimitReached | None:
    """An iteration that, going by the median so far, would cost more than is left."""
    if limits.cost_usd is None or not costs:
        return None
    expected = median(costs)
    left = limits.cost_usd - (spent.cost_usd or 0.0)
    if expected <= left:
        return None
    message = f"the next iteration would cost about ${expected:.2f} and ${max(left, 0):.2f} is left"
    return LimitReached(limit="cost", observed=spent.cost_usd, allowed=limits.cost_usd, message=message)
