"""What the guard has to say."""

import hashlib
from enum import IntEnum

import msgspec

from untilproven.model.persistence import RegressionType


class Severity(IntEnum):
    LOW = 1
    """A note."""
    MEDIUM = 2
    """A warning."""
    HIGH = 3
    """Blocks."""
    CRITICAL = 4
    """Blocks, and wants a human at once."""

    def lowered(self, steps: int) -> "Severity":
        return Severity(max(self - steps, Severity.LOW))

    @property
    def word(self) -> str:
        return self.name.lower()


class Signal(msgspec.Struct, frozen=True):
    """Something that differs between the two trees and may mean harm; patterns say what it means."""

    name: str
    path: str
    line: int
    """In the new version; of what is gone, in the old one."""
    subject: str = ""
    """The test, the function, the key that it is about."""
    was: str | None = None
    now: str | None = None
    amount: float = 1
    """How much, for patterns that begin at some size."""
    explained: tuple[str, ...] = ()
    """What may be said for it: `renamed`, `moved`, `consolidated`, `symbol-removed`, `asked-for`, ..."""


class Finding(msgspec.Struct, frozen=True):
    pattern: str
    name: str
    severity: Severity
    path: str
    line: int
    subject: str
    message: str
    category: str
    recovery: str
    regression: RegressionType | None = None
    explained: tuple[str, ...] = ()
    """Why it weighs less than its pattern says."""
    was: str | None = None
    now: str | None = None

    @property
    def blocks(self) -> bool:
        return self.severity >= Severity.HIGH

    @property
    def id(self) -> str:
        """The same for the same thing found again, on whichever line it stands by then."""
        about = f"{self.path}\0{self.subject}".encode("utf-8", "surrogateescape")
        return f"{self.pattern}-{hashlib.sha256(about).hexdigest()[:10]}"


class NotAnalysed(msgspec.Struct, frozen=True):
    """A file whose inside was not looked at."""

    path: str
    reason: str
