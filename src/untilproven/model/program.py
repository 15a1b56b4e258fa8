"""A program that runs: within which limits, how it is asked to stop, and how it ended."""

from typing import Literal

import msgspec

Stream = Literal["stdout", "stderr"]
OVER = "over"
"""Why a program is stopped to which all was said."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """When a running program is stopped; None is no limit."""

    wall: float | None = None
    idle: float | None = None
    """Seconds without any output."""
    output: int | None = None
    """Bytes of both streams together; what is beyond is not delivered."""


class Grades(msgspec.Struct, frozen=True, kw_only=True):
    """How many seconds each signal is given before the next, harder one; 0 leaves that signal out."""

    interrupt: float = 5.0
    terminate: float = 5.0


class Stop(msgspec.Struct, frozen=True):
    """The caller's wish that the program stops; `now` leaves out the gentle signals."""

    reason: str
    now: bool = False


class Speech:
    """What a running program is told on its stdin, piece by piece, by whoever listens to it."""

    def __init__(self, patience: float | None = None) -> None:
        self.patience = patience
        """How many seconds it has to end by itself once all is said; None for as long as it likes."""
        self.unheard = bytearray()
        self.is_over = False

    def say(self, words: bytes) -> None:
        self.unheard += words

    def end(self) -> None:
        """Nothing more will be said: its stdin ends with the last word."""
        self.is_over = True


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended."""

    exit_code: int | None = None
    signal: int | None = None
    stopped_because: str = ""
    """wall, idle, output, "asked: REASON", over if all was said to it and it stayed, or keeper if the process that
    keeps it together was killed"""
    not_started: str = ""
    """Why it could not be started: missing, not executable, not a program."""
    seconds: float = 0.0
    stragglers: int = 0
    """How many processes besides the program itself had to be killed."""
    survivors: int = 0
    """How many could not be: they run as another user, or are stuck in the kernel."""

    @property
    def succeeded(self) -> bool:
        return self.exit_code == 0 and not self.stopped_because and not self.survivors
