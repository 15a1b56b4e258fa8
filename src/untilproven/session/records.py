"""What a session's loop is told and asked: source 001's types, in Python's spelling."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from untilproven.errors import UsageError
from untilproven.session import constants

Message = Mapping[str, Any]
"""`role` and `content`; the content is text, or a list of parts of which only those of type `text` are spoken."""


class Toast(msgspec.Struct, frozen=True, kw_only=True):
    """A short notice on the user's screen. `duration` is in milliseconds; 0 leaves it to the screen."""

    title: str
    message: str
    variant: Literal["info", "success", "warning", "error"] = "info"
    duration: int = 0

    def as_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {"title": self.title, "message": self.message, "variant": self.variant}
        return {**told, "duration": self.duration} if self.duration else told


class RalphLoopConfig(msgspec.Struct, frozen=True, kw_only=True):
    enabled: bool = True
    default_max_iterations: int = constants.DEFAULT_MAX_ITERATIONS
    default_completion_promise: str = constants.DEFAULT_COMPLETION_PROMISE
    continuation_delay: float = constants.DEFAULT_CONTINUATION_DELAY
    """In milliseconds."""
    state_dir: Path | None = None
    """Where the sessions' records lie, instead of `.aiwg/ralph/sessions`."""


DEFAULT_CONFIG = RalphLoopConfig()


class StartLoopOptions(msgspec.Struct, frozen=True, kw_only=True):
    max_iterations: int | None = None
    completion_promise: str | None = None
    description: str | None = None
    until: Sequence[str] = ()
    """Commands that prove the work; where none is given, one is looked for."""
    trust_promise: bool = False
    """Take the agent's word for it, as source 001 does."""
    allow_test_edits: Sequence[str] = ()
    allow_dependency_changes: bool = False
    replace: bool = False
    """End a loop that this session has already, and start anew."""


class RalphLoopOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a host gives to `create_ralph_loop_hook`. Each callable may be a coroutine function."""

    config: RalphLoopConfig = DEFAULT_CONFIG
    workdir: Path | None = None
    get_messages: Callable[[str], Sequence[Message] | Awaitable[Sequence[Message]]] | None = None
    inject_prompt: Callable[[str, str], Awaitable[None] | None] | None = None
    show_toast: Callable[[Toast], Awaitable[None] | None] | None = None
    check_session_exists: Callable[[str], bool | Awaitable[bool]] | None = None
    has_background_work: Callable[[str], bool | Awaitable[bool]] | None = None
    agent: str = "session"


class HookContext(msgspec.Struct, frozen=True, kw_only=True):
    """One event of the host."""

    event: str
    session_id: str
    data: Mapping[str, Any] = {}


def count(value: float, name: str) -> int:
    """A limit that is a whole number of at least 1; anything else could mean no limit by accident."""
    if isinstance(value, bool) or value != value or value in {float("inf"), float("-inf")} or int(value) != value:  # noqa: PLR0124  NaN
        raise UsageError(f"{name} must be a whole number, not {value}", hint=f"for example {name} 25")
    if value < 1:
        raise UsageError(f"{name} must be at least 1, not {int(value)}", hint=f"for example {name} 25")
    return int(value)
