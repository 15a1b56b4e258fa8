"""The agent's process: the first one above a hook that does more than pass words on."""

from untilproven.model.state import ProcessIdentity
from untilproven.session import quick
from untilproven.store import process


def agent_above(pid: int = 0) -> ProcessIdentity:
    """Whoever waits for the hook; `pid` is who that is, if somebody has looked already."""
    return process.identity_of(pid or quick.pid_above()) or process.this_process()
