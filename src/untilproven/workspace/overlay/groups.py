"""Files of another group: a user namespace has no such group, and the kernel copies none of them into a layer."""

import os
from pathlib import Path


def has_other_groups(root: Path) -> bool:
    """Whether such files are among those at the top of the tree; projects that a group shares have them everywhere."""
    own = os.getegid()
    try:
        with os.scandir(root) as entries:
            return any(entry.stat(follow_symlinks=False).st_gid != own for entry in entries)
    except OSError:
        return False
