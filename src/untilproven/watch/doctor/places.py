"""The directories a loop writes: the project's state and the user's own, and the space there."""

import os
import tempfile
from pathlib import Path

from untilproven.errors import Foreign
from untilproven.store import files
from untilproven.store.layout import Project
from untilproven.store.vouch import user_state
from untilproven.watch.doctor.frame import Finding

GIB = 1024 * files.MIB
SCARCE = GIB
TOO_LITTLE = 100 * files.MIB


def project_state(project: Project) -> Finding:
    """Only looked at: the project is not the doctor's to write."""
    state = project.state
    try:
        state.exists()
    except Foreign as link:
        return Finding("project state", "problem", link.message, link.hint)
    directory = next(path for path in (state.path, state.path.parent, state.home) if path.is_dir())
    if not os.access(directory, os.W_OK | os.X_OK):
        advice = f"check who owns it and how it is mounted: ls -ld {directory}"
        return Finding("project state", "problem", f"{directory} cannot be written", advice)
    return _space("project state", directory)


def own_state(project: Project) -> Finding:
    directory = user_state()
    if inside(directory, project):
        found = f"{directory} lies inside the project, within an agent's reach; nothing was written there"
        return Finding("user state", "warning", found, "set XDG_STATE_HOME elsewhere, or work in a directory below")
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(prefix="doctor-", dir=directory) as file:
            file.write(b"written by ralph doctor")
    except OSError as error:
        advice = f"check who owns it and how it is mounted: ls -ld {directory}; or set XDG_STATE_HOME"
        return Finding("user state", "problem", f"{directory} cannot be written: {error.strerror}", advice)
    return _space("user state", directory)


def _space(name: str, directory: Path) -> Finding:
    numbers = os.statvfs(directory)
    free = numbers.f_bavail * numbers.f_frsize
    found = f"{directory} can be written, {free / files.MIB:,.0f} MiB free"
    if free >= SCARCE:
        return Finding(name, "ok", found)
    return Finding(name, "problem" if free < TOO_LITTLE else "warning", found, f"free some space: df {directory}")


def inside(path: Path, project: Project) -> bool:
    real = Path(os.path.realpath(path))
    return real.is_relative_to(project.root) or real.is_relative_to(project.home)
