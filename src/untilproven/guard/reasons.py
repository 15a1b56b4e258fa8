"""Why findings weigh less, in words for people."""

from functools import cache
from pathlib import Path

import msgspec

_FILE = Path(__file__).with_name("reasons.toml")


def words_for(reason: str) -> str:
    """The name itself for one that another program has given."""
    return reasons().get(reason, reason)


@cache
def reasons() -> dict[str, str]:
    """By the names that patterns and the `--json` output give them."""
    import tomllib  # noqa: PLC0415  nobody needs it but who is told

    found = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return msgspec.convert(found, dict[str, str])
