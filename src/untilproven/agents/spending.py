"""What an agent says that it used: unknown stays unknown, and nonsense is refused."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from untilproven.model.iteration import Usage

USAGE_KEYS = ("input_tokens", "output_tokens", "total_tokens", "cost_usd", "model")
SUMS = ("input_tokens", "cached_input_tokens", "output_tokens", "total_tokens", "cost_usd")


def usage_of(raw: Any) -> Usage:
    """One report, or a ValueError that says what is wrong with it; keys that nobody here counts are left out."""
    from untilproven.model.cassette import Spent  # noqa: PLC0415  most commands report nothing

    if not isinstance(raw, dict):
        raise ValueError("it is not an object")  # noqa: TRY004  wrong is wrong
    told = msgspec.convert({key: raw[key] for key in USAGE_KEYS if raw.get(key) is not None}, Spent)
    total = told.total_tokens
    if total is UNSET and told.input_tokens is not UNSET and told.output_tokens is not UNSET:
        total = told.input_tokens + told.output_tokens
    return Usage(
        input_tokens=told.input_tokens,
        output_tokens=told.output_tokens,
        total_tokens=total,
        cost_usd=told.cost_usd,
        cost_source=UNSET if told.cost_usd is UNSET else "agent",
        model=told.model,
    )


def together(reports: Sequence[Usage]) -> Usage:
    """The sum of several reports, each over what the others do not count."""
    if len(reports) == 1:
        return reports[0]
    sums: dict[str, Any] = {}
    for report in reports:
        for name in SUMS:
            if (told := getattr(report, name)) is not UNSET:
                sums[name] = sums.get(name, 0) + told
        for name in ("cost_source", "agent", "model"):
            if (told := getattr(report, name)) is not UNSET:
                sums[name] = told
    return Usage(**sums)


def all_of(reports: Sequence[Usage]) -> Usage:
    """The sum of reports that are parts of one thing: what one of them does not say is not known of the whole."""
    whole = together(reports) if reports else Usage()
    unknown = {name: UNSET for name in SUMS if any(getattr(report, name) is UNSET for report in reports)}
    source = {"cost_source": UNSET} if "cost_usd" in unknown else {}
    return msgspec.structs.replace(whole, **{**unknown, **source})
