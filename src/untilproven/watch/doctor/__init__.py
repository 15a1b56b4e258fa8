"""What this machine can do for a loop, found by trying.

Nothing that the project's tree names is run, nothing is written into it, and no probe can take another down: each
works in a child of its own, with a deadline.
"""

import sys
from functools import partial

from untilproven.store import clock
from untilproven.store.layout import Project
from untilproven.watch.doctor.frame import Finding, Probe, examine
from untilproven.watch.doctor.places import own_state, project_state
from untilproven.watch.doctor.programs import SearchPath, agents, bwrap, git, search_path
from untilproven.watch.doctor.refusals import Kernel, why_no_namespace, why_no_overlay
from untilproven.watch.doctor.room import overlay, user_namespaces
from untilproven.watch.doctor.sandbox import room
from untilproven.watch.doctor.surroundings import python, system_clock, text_encoding

__all__ = [
    "Finding",
    "Kernel",
    "SearchPath",
    "agents",
    "bwrap",
    "examine",
    "git",
    "overlay",
    "own_state",
    "probes",
    "project_state",
    "python",
    "room",
    "search_path",
    "system_clock",
    "text_encoding",
    "user_namespaces",
    "why_no_namespace",
    "why_no_overlay",
]


def probes(project: Project, path: str) -> dict[str, Probe]:
    """Everything that is looked at, in the order it is shown; `path` is the user's PATH."""
    programs = SearchPath(path, project)
    return {
        "python": python,
        "search path": partial(search_path, programs),
        "git": partial(git, programs),
        "user namespaces": user_namespaces,
        "overlay": partial(overlay, project),
        "room": room,
        "bwrap": partial(bwrap, programs),
        "agents": partial(agents, programs),
        "project state": partial(project_state, project),
        "user state": partial(own_state, project),
        "clock": lambda: system_clock(project, clock.now()),
        "text": lambda: text_encoding(sys.stdout.encoding),
    }
