"""Lengths of time as people write them: `45s`, `90m`, `8h`, `1h30m`. Never endless, never without a unit."""

import re
from datetime import timedelta

from untilproven.core.naming import quoted

PATTERN = "(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?"
LONGEST = timedelta(days=365)
_FORM = re.compile(PATTERN)
_LONGEST_TEXT = 24


def parse(text: str) -> timedelta:
    """The length of time, or a ValueError that says what to write instead."""
    if text.isascii() and text.isdecimal():
        raise unitless(text)
    found = _FORM.fullmatch(text)
    if not text or not found:
        raise ValueError(f"{quoted(text)} is not a duration; write it like 45s, 90m, 8h or 1h30m")
    if len(text) > _LONGEST_TEXT:
        raise _too_long(text)
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    total = (hours * 60 + minutes) * 60 + seconds
    if total > LONGEST.total_seconds():
        raise _too_long(text)
    if not total:
        raise ValueError(f"{text} is no time at all; write how long, like 90m")
    return timedelta(seconds=total)


def unitless(number: str) -> ValueError:
    shown = quoted(number)[1:-1]
    return ValueError(f'{shown} has no unit; write "{shown}h", "{shown}m" or "{shown}s"')


def show(duration: timedelta) -> str:
    """The shortest way to write it that `parse` reads back."""
    minutes, seconds = divmod(int(duration.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return "".join(f"{number}{unit}" for number, unit in ((hours, "h"), (minutes, "m"), (seconds, "s")) if number)


def _too_long(text: str) -> ValueError:
    return ValueError(f"{quoted(text)} is longer than a year; the longest is {show(LONGEST)}")
