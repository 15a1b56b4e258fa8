"""What can go wrong, in the words a user needs: what happened, why, and what to type next."""

from typing import Any


class RalphError(Exception):
    """An error the user can act on; `cli/` turns it into an exit code."""

    kind = "failed"
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "", details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details or {}


class UsageError(RalphError):
    """The words of the command, or of a file the user wrote, are off."""

    kind = "usage"
    exit_code = 2


class ConfigError(UsageError):
    """A setting is unknown or has a value it cannot have."""

    kind = "config"


class InvalidName(UsageError):
    """A loop id, slug or path that must not be used as a file name."""

    kind = "invalid_name"


class NoSuchLoop(UsageError):
    """Nothing is stored under that id."""

    kind = "no_such_loop"


class TaskRefused(UsageError):
    """A rule of the book of tasks forbids it; nothing was written."""

    kind = "task"


class NoSuchTask(TaskRefused):
    """No task has that id."""

    kind = "no_such_task"


class IllegalTransition(RalphError):
    """The state machine has no such move; nothing was changed."""

    kind = "illegal_transition"


class Damaged(RalphError):
    """A stored file cannot be read; it is kept as it is and never treated as empty."""

    kind = "damaged"


class StoreFailed(RalphError):
    """The file system refused: full, read-only, moved, deleted."""

    kind = "store"


class Foreign(RalphError):
    """State that this user on this machine did not write, so nothing in it is acted on."""

    kind = "foreign"


class Busy(RalphError):
    """A lock is held by a live process."""

    kind = "locked"
    exit_code = 7


class Overtaken(RalphError):
    """Somebody else changed a task first; nothing was written."""

    kind = "overtaken"
    exit_code = 7


class NoSlot(RalphError):
    """The registry is full; carries the list of the active loops."""

    kind = "no_slot"
    exit_code = 7


class NoAgent(RalphError):
    """No agent can be started here, or nobody is logged in to it."""

    kind = "agent"
    exit_code = 6
