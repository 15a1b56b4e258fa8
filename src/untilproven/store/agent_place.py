"""Where an agent keeps its own settings and sessions while it works on a loop: out of the tree and out of HOME."""

import os
from hashlib import sha256
from pathlib import Path

from untilproven.core import naming
from untilproven.store.vouch import user_state


def agent_place(root: Path, loop_id: str) -> Path:
    """What is known about the loop's agent; only `agent_home` in it comes into a room."""
    project = sha256(os.fsencode(root)).hexdigest()[:16]
    return user_state() / "agents" / project / naming.loop_id(loop_id)


def agent_home(root: Path, loop_id: str) -> Path:
    """The agent's own directory: it is in the agent's rooms under the same path, and can be written to there."""
    return agent_place(root, loop_id) / "home"
