"""What came in: files of two trees that differ, as bytes."""

import msgspec


class Change(msgspec.Struct, frozen=True):
    path: str
    """Where it is now; if it is gone, where it was."""
    before: bytes | None
    after: bytes | None
    old_path: str | None = None
    """Where it was, if it was moved."""

    @property
    def was_at(self) -> str:
        return self.old_path or self.path
