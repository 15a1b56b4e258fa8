"""Reading what agents report: numbers, moments, and what a provider's refusal means."""

import re
from datetime import UTC, datetime
from typing import Any, NamedTuple

from msgspec import UNSET

from untilproven.contract import UsageLimit
from untilproven.model.iteration import Usage

_NOT_LOGGED_IN = frozenset({401, 403})
_USED_UP = frozenset({402, 429})
_OUT_OF_ORDER = frozenset({500, 502, 503, 504, 529})
"""It passes, as a limit does: nothing is wrong with the agent, and whoever sleeps need not be asked."""
_SHOWN = 300
_MOST_TOKENS = 10**12
_MOST_MONEY = 1e9
_LONGEST_NAME = 200
_SESSION = re.compile(r"[A-Za-z0-9][\w.-]{0,199}", re.ASCII)


_TOO_LONG = re.compile(
    r"prompt is too long|prompt_too_long|context_length_exceeded|maximum context length|context window"
    r"|input token count .{0,40}exceeds",
    re.IGNORECASE,
)


class Trouble(NamedTuple):
    """What a provider's refusal means for the loop."""

    unable: str = ""
    limit: UsageLimit | None = None


def trouble(status: Any, words: str, resume_at: datetime | None = None) -> Trouble:
    """By the status that the provider answered with, as the agent reports it."""
    if not isinstance(status, int):
        return Trouble()
    if status in _NOT_LOGGED_IN:
        return Trouble(unable=f"the provider does not let it in ({status}): {tail(words)}")
    if status in _USED_UP or status in _OUT_OF_ORDER:
        return Trouble(limit=UsageLimit(resume_at))
    return Trouble()


def is_too_long(failure: str) -> bool:
    """Whether an agent's own failure says that its session does not fit into the model any more."""
    return bool(_TOO_LONG.search(failure))


def count(value: Any) -> int | None:
    """A number of tokens, if that is what it is."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def money(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= _MOST_MONEY else None


def name(value: Any) -> str:
    """What a model is called, if that can be a name; else nothing."""
    return value if isinstance(value, str) and value.isprintable() and len(value) <= _LONGEST_NAME else ""


def session(value: Any) -> str:
    """What the agent calls its session. It becomes a word of a command line, so nothing else will do."""
    return value if isinstance(value, str) and _SESSION.fullmatch(value) else ""


def tokens(told: Any, inputs: tuple[str, ...], outputs: tuple[str, ...], cached: str) -> Usage:
    """The sum of what stands under these names; nothing if the first of either is not there."""
    if not isinstance(told, dict) or count(told.get(inputs[0])) is None or count(told.get(outputs[0])) is None:
        return Usage()
    given, made = (sum(count(told.get(name)) or 0 for name in names) for names in (inputs, outputs))
    return Usage(
        input_tokens=given,
        cached_input_tokens=count(told.get(cached)) or UNSET,
        output_tokens=made,
        total_tokens=given + made,
    )


def moment(seconds: Any) -> datetime | None:
    """From seconds since 1970."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def tail(text: str) -> str:
    return text.strip()[-_SHOWN:] or "it said nothing"
