"""Source 001's constants: names, defaults and the words with which an agent is sent back to its work."""

from untilproven.core.prompt import CONTINUATION

HOOK_NAME = "ralph-loop"
HOOK_DESCRIPTION = "Agentic iteration loop for autonomous task completion"
HOOK_PRIORITY = 50
"""Lower than hooks that recover a session."""
HOOK_EVENTS = ("session.idle", "session.error", "session.deleted")

STATE_FILENAME = "ralph-loop-state.json"

DEFAULT_MAX_ITERATIONS = 100
DEFAULT_COMPLETION_PROMISE = "DONE"
DEFAULT_CONTINUATION_DELAY = 500
"""Milliseconds between a session's going idle and the prompt that sends it on."""

CONTINUATION_PROMPT_TEMPLATE = CONTINUATION

RECOVERY_SECONDS = 5.0
"""After an error that is no abort, whoever repairs the session has so long to do it."""
DUPLICATE_SECONDS = 0.5
"""Idle events that come closer together than that are one."""
LOCK_SECONDS = 5.0
"""How long one handler of a session waits for another."""
USER_SECONDS = 2.0
"""A message of the user's that is younger, and not answered yet, goes first."""

ABORTED = frozenset({"MessageAbortedError", "AbortError"})
"""Errors by which a session says that its user has stopped it."""

HOOK_TIMEOUT_SECONDS = 3600
"""What is written into the settings of agents as the time that a Stop hook may take."""
DEADLINE_SECONDS = HOOK_TIMEOUT_SECONDS - 120.0
"""Checks are stopped by then, so that the hook still answers in time."""
TWICE_SECONDS = 5.0
"""Where a plugin is installed for the user and for the project, what is typed once comes twice, soon after."""
CONTROL_SECONDS = 60.0
"""How long `/ralph` waits for the checks before the work; what takes longer is made up for at the first claim."""
START_SECONDS = CONTROL_SECONDS + 30.0
"""How long one start in a session waits for another."""
