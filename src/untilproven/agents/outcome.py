"""What an iteration came to: how the agent's program ended, and what the agent stated."""

from untilproven.model.iteration import Blocked, Complete, Continue, Failed, IterationResult
from untilproven.model.program import Ending

_SHELL_SAYS = {126: " (found, but not executable)", 127: " (command not found)"}


def result_of(ending: Ending, stated: IterationResult | None) -> IterationResult:
    """A program that failed did not succeed, whatever it stated; one that was stopped did not fail."""
    failure = _failure(ending)
    match stated:
        case Blocked() | Failed():
            return stated
        case Complete() | Continue() if failure:
            return Failed(error=f"{failure}, though it stated {stated.__struct_config__.tag}")
        case Complete() | Continue():
            return stated
    if failure:
        return Failed(error=failure)
    stopped = ending.stopped_because
    return Continue(reason=f"stopped: {stopped}" if stopped else f"exit {ending.exit_code}")


def _failure(ending: Ending) -> str:
    """In a sentence; empty for exit code 0, and for a program that somebody stopped."""
    if ending.not_started:
        return f"cannot be started: {ending.not_started}"
    if ending.stopped_because:
        return ""
    if ending.signal is not None:
        return f"ended by signal {ending.signal}"
    return f"exited with {ending.exit_code}{_SHELL_SAYS.get(ending.exit_code or 0, '')}" if ending.exit_code else ""
