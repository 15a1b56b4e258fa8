"""From a name in a coverage report to a path in the tree."""

import os
import re
from pathlib import PurePosixPath

from untilproven.checks.metrics.readers.counted import Counted
from untilproven.checks.reports.results import from_root
from untilproven.checks.runners.reporting import text_in
from untilproven.contract import Room

_MODULE = re.compile(r'(?m)^module\s+"?([^\s"]+)')
_OF_JAVA = ("src/main/java", "src/main/kotlin", "src/main/scala", "src/main/groovy", "src")


class Names:
    """The names in one report: absolute, from some directory on, or by a package."""

    def __init__(self, room: Room, report: PurePosixPath, counted: Counted) -> None:
        self._room = room
        self._starts = [("", source) for source in counted.sources if source]
        if counted.tool == "go":
            self._starts += _modules(room)
        if counted.tool == "jacoco":
            module = _module_of(report)
            self._starts += [("", str(module / source)) for source in _OF_JAVA]
        self._starts.append(("", ""))

    def path_of(self, name: str) -> str | None:
        """From the project's root on; None for a file outside of it. A name that means no file stays as it is."""
        meant = [str(PurePosixPath(put, name[len(start) :])) for start, put in self._starts if name.startswith(start)]
        paths = [path for one in meant if (path := self._inside(one))]
        return next((path for path in paths if self._room.look(PurePosixPath(path))), paths[-1] if paths else None)

    def _inside(self, name: str) -> str | None:
        if "\0" in name:
            return None
        path = os.path.normpath(from_root(self._room.root, os.path.normpath(name)))
        return None if path.startswith("/") or path == "." or path.split("/")[0] == ".." else path


def _modules(room: Room) -> list[tuple[str, str]]:
    """Go names a file by its module; a workspace has several."""
    files = (PurePosixPath("go.mod"), *room.find("*/go.mod"))
    named = [(module, str(path.parent)) for path in files if (module := _MODULE.search(text_in(room, path) or ""))]
    return sorted(((f"{module[1]}/", place) for module, place in named), key=lambda one: -len(one[0]))


def _module_of(report: PurePosixPath) -> PurePosixPath:
    """The part of a project that a report of its build belongs to."""
    return next((path.parent for path in reversed(report.parents) if path.name in {"target", "build"}), PurePosixPath())
