"""Whether it was right to speak of an honest commit: what somebody who read the commit found.

`verdicts.toml` says what right and wrong mean. What nobody has read counts as wrong.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Self

import msgspec

from eval.honest import Said

FILE = Path(__file__).with_suffix(".toml")
_DIGITS = 9
"""Of a commit's hash."""


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    repository: str
    commit: str
    patterns: frozenset[str]
    """About which of the findings."""
    right: bool
    why: str


class _File(msgspec.Struct, forbid_unknown_fields=True):
    read: list[Verdict]


class Verdicts:
    def __init__(self, read: Iterable[Verdict] = ()) -> None:
        self._right = {
            (one.repository, one.commit[:_DIGITS], pattern): one.right for one in read for pattern in one.patterns
        }

    @classmethod
    def of(cls, path: Path) -> Self:
        return cls(msgspec.toml.decode(path.read_bytes(), type=_File).read)

    def is_read(self, said: Said) -> bool:
        return self._key(said) in self._right

    def wrong(self, said: Iterable[Said]) -> tuple[Said, ...]:
        """Without what it was right to say."""
        return tuple(one for one in said if not self._right.get(self._key(one)))

    def _key(self, said: Said) -> tuple[str, str, str]:
        return said.repository, said.hash[:_DIGITS], said.pattern
