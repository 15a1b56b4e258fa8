"""Source 001's notices, word for word, and those for what it does not know."""

from untilproven.session.records import Toast


def started(max_iterations: int, promise: str) -> Toast:
    return Toast(
        title="Ralph Loop Started",
        message=f"Max {max_iterations} iterations. Complete with <promise>{promise}</promise>",
        duration=3000,
    )


def cancelled(iteration: int) -> Toast:
    return Toast(title="Ralph Loop Cancelled", message=f"Stopped at iteration {iteration}", duration=2000)


def no_active_loop() -> Toast:
    return Toast(title="No Active Loop", message="No Ralph Loop is currently running")


def complete(iterations: int) -> Toast:
    return Toast(
        title="Ralph Loop Complete!",
        message=f"Task completed after {iterations} iteration(s)",
        variant="success",
        duration=5000,
    )


def limit(max_iterations: int) -> Toast:
    return Toast(
        title="Ralph Loop Stopped",
        message=f"Max iterations ({max_iterations}) reached without completion",
        variant="warning",
        duration=5000,
    )


def progress(iteration: int, max_iterations: int) -> Toast:
    return Toast(title="Ralph Loop", message=f"Iteration {iteration}/{max_iterations}", duration=2000)


def refused(iteration: int, max_iterations: int, why: str) -> Toast:
    """The agent said that it is done, and it is not."""
    return Toast(
        title="Ralph Loop",
        message=f"Iteration {iteration}/{max_iterations}: not done, {why}",
        variant="warning",
        duration=5000,
    )


def stopped(why: str) -> Toast:
    """It has ended, or waits, for a reason that source 001 does not know."""
    return Toast(title="Ralph Loop Stopped", message=why, variant="warning", duration=5000)
