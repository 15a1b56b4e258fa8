"""From what was typed or set to a tracker."""

import os
from pathlib import Path

from untilproven.core.naming import quoted
from untilproven.errors import UsageError
from untilproven.queue.trackers.contract import Tracker
from untilproven.store.layout import Project

_SUFFIXES = (".md", ".markdown")
_EVERY = "*"


def tracker_of(project: Project, typed: str, label: str, *, base: Path, patient: bool = True) -> Tracker:
    """The tracker of that name; a file is looked for from `base`. One that is not patient asks once, and not for
    long."""
    if typed.startswith("github:"):
        from untilproven.queue.trackers import github, web  # noqa: PLC0415  a list in a file needs no network

        repository = github.repository_of(typed.removeprefix("github:"))
        if not repository:
            raise UsageError(f"{quoted(typed)} names no repository", hint="for example: github:OWNER/REPO")
        seconds = web.SECONDS if patient else web.SECONDS / 2
        line = web.choose(os.environ, project.root, seconds)
        return github.GitHub(repository, line, "" if label == _EVERY else label, tries=3 if patient else 1)
    if typed == "beads":
        from untilproven.queue.trackers import beads  # noqa: PLC0415

        return beads.open_beads(project.root)
    if typed.lower().endswith(_SUFFIXES):
        from untilproven.queue.trackers import checklist  # noqa: PLC0415

        return checklist.open_checklist(project.root, base / typed)
    raise UsageError(
        f"there is no tracker {quoted(typed)}", hint="github:OWNER/REPO, beads, or a Markdown list like PRD.md"
    )
