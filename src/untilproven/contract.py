"""The contract: what a room and a check are to everybody else. Every adapter stands behind one of these."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended that was run in a room. Exactly one of the first four says why."""

    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    not_started: str = ""
    """Why it could not be started: missing, not executable."""
    output: str = ""
    """What it printed, both streams as they came, the middle cut out if it was too much."""
    seconds: float = 0.0


class Room(Protocol):
    """A place where a program sees a tree of files."""

    @property
    def root(self) -> Path:
        """The tree, as a program in the room sees it."""

    def run(self, command: str | Sequence[str], *, timeout: float, env: Mapping[str, str] | None = None) -> Ran:
        """Run a program, or a line of shell, to its end; nothing of it is left running afterwards."""


class TestResult(msgspec.Struct, frozen=True):
    """One test, by the name its runner gives it."""

    __test__ = False  # its name looks like a test class to pytest

    name: str
    outcome: str
    """passed, failed, error or skipped"""
    message: str = ""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found. `broken` means that it could not be run at all, which is not the same as not yet."""

    passed: bool
    broken: bool = False
    output: str = ""
    seconds: float = 0.0
    tests: tuple[TestResult, ...] | None = None


class Check(Protocol):
    """Is it done? Run in a room, returns evidence."""

    @property
    def name(self) -> str:
        """How the user knows it: the command, the file."""

    @property
    def kind(self) -> str:
        """command, tests, file_exists or validate"""

    def run(self, room: Room, *, timeout: float) -> Evidence:
        """Find out, without changing anything outside the room."""
