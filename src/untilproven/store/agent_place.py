"""Where an agent keeps its own settings and sessions while it works on a loop: out of the tree and out of HOME."""

import os
from hashlib import sha256
from pathlib import Path

from untilproven.core import naming
from untilproven.store.vouch import user_state


def agents_of(root: Path) -> Path:
    """All of a project, by loop."""
    return user_state() / "agents" / sha256(os.fsencode(root)).hexdigest()[:16]


def agent_place(root: Path, loop_id: str) -> Path:
    """What is known about the loop's agent; only `agent_home` in it comes into a room."""
    return agents_of(root) / naming.loop_id(loop_id)


def agent_home(root: Path, loop_id: str) -> Path:
    """The agent's own directory: it is in the agent's rooms under the same path, and can be written to there."""
    return agent_place(root, loop_id) / "home"
