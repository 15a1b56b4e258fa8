"""Which version of which file each pass of the checks sees: the agent's, or the one from before the loop."""

import posixpath
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from untilproven.checks.scripts import places_in, scripts_in
from untilproven.contract import Differs
from untilproven.guard.kinds import Kind, kind_of
from untilproven.process.patterns import matches

MARKS = ("pyvenv.cfg", "CMakeCache.txt", "CACHEDIR.TAG")
"""Files by which tools mark a directory as theirs."""

_CODE = frozenset(
    {".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".rs", ".java", ".kt", ".kts"}
    | {".rb", ".php", ".cs", ".fs", ".vb", ".swift", ".c", ".cc", ".cpp", ".h", ".hpp", ".ex", ".exs", ".sh", ".pth"}
)


class Protected(NamedTuple):
    """A path that is not the agent's to change, and what became of it."""

    path: str
    kind: Kind
    change: str
    """created, modified or deleted"""


class Views(NamedTuple):
    """What is as it was in each pass; everything else is the agent's. None for a pass that is not needed."""

    first: frozenset[str]
    """Dependencies, unless they may change, and caches. A cache that the user had before is there again with the
    user's own bytes: they are older than the work, and carry no verdict of the agent's."""
    second: frozenset[str] | None
    """Also everything protected; test configuration and tests that are new are absent."""
    baseline: frozenset[str] | None
    """Also the source, so that new tests meet the code that they are about as it was. What they are configured by
    stays the agent's: a test that fails for want of a fixture or of a marker says nothing about the code."""
    protected: tuple[Protected, ...]
    """What is protected and differs, for the record; what the user allowed is not in it."""
    dependencies: tuple[str, ...]
    """Installed files that differ."""


def views_of(
    differing: Mapping[str, Differs],
    *,
    lines: Iterable[str] = (),
    marks: Collection[str] = (),
    about_tests: Collection[str] = (),
    allow_test_edits: Collection[str] = (),
    allow_dependency_changes: bool = False,
    had_tests: bool = True,
) -> Views:
    """`lines` are the checks', and the scripts they name; `marks` are paths in the tree that end in one of MARKS;
    `about_tests` are mixed files that say something else about tests than they did. If there was no test at the start,
    there is nothing that a second pass could hold the work to. New tests are left out of it, for they run beside the
    others and could change what those see; what is no code among them stays."""
    kinds = kinds_of(differing, lines=lines, marks=marks)
    dependencies = tuple(path for path, kind in kinds.items() if kind == "dependencies")
    caches = frozenset(path for path, kind in kinds.items() if kind == "cache")
    first = caches if allow_dependency_changes else caches.union(dependencies)
    protected = tuple(
        Protected(path, kind, _change(differing[path]))
        for path, kind in sorted(kinds.items())
        if (_is_protected(kind, differing[path]) or path in about_tests) and not is_allowed(path, allow_test_edits)
    )
    edited = [path for path, kind in kinds.items() if kind == "test" and differing[path].is_there]
    new = [path for path in edited if not differing[path].was_there]
    absent = {path for path in new if _is_code(path) and not is_allowed(path, allow_test_edits)}
    held = had_tests or any(differing[one.path].was_there for one in protected)
    source = {path for path, kind in kinds.items() if kind in {"source", "script", "ci"}}
    return Views(
        first=first,
        second=first | absent | {one.path for one in protected} if held and (protected or absent) else None,
        baseline=first | source if edited else None,
        protected=protected,
        dependencies=tuple(sorted(dependencies)),
    )


def kinds_of(
    differing: Mapping[str, Differs], *, lines: Iterable[str] = (), marks: Collection[str] = ()
) -> dict[str, Kind]:
    """What each path is. A directory is made by a tool only if its mark was there at the start: a mark that is new
    would take the agent's own work out of sight."""
    at_start = [mark for mark in marks if "/" in mark and (mark not in differing or differing[mark].was_there)]
    installed = {mark.rpartition("/")[0] for mark in at_start if mark.endswith("/pyvenv.cfg")}
    built = {mark.rpartition("/")[0] for mark in at_start} - installed
    lines = tuple(lines)
    places = frozenset(places_in(lines))
    programs = {path for path in differing if posixpath.dirname(path) in places}
    scripts = frozenset(scripts_in(lines)) | programs
    kinds = {
        path: kind_of(path, scripts=scripts, built=built, installed=installed, is_new=not differs.was_there)
        for path, differs in differing.items()
    }
    return kinds | dict.fromkeys(
        (path for path in programs if kinds[path] == "script" and _stands_in_the_way(path, differing[path])),
        "configuration",
    )


def _stands_in_the_way(path: str, differs: Differs) -> bool:
    """A new program of a name that another one has, and by which that one was found before."""
    return not differs.was_there and shutil.which(posixpath.basename(path)) is not None


def _is_protected(kind: Kind, differs: Differs) -> bool:
    """A new script is what the task was to make, and a new test speaks for itself in the first pass."""
    return kind == "configuration" or (kind in {"test", "ci", "script"} and differs.was_there)


def is_allowed(path: str, patterns: Collection[str]) -> bool:
    """Whether the user allowed a path to be changed. A pattern also means everything below what it matches."""
    parents = [str(parent) for parent in PurePosixPath(path).parents if parent.parts]
    return any(matches(pattern.removesuffix("/"), one) for pattern in patterns for one in (path, *parents))


def _is_code(path: str) -> bool:
    return PurePosixPath(path).suffix in _CODE


def _change(differs: Differs) -> str:
    if not differs.was_there:
        return "created"
    return "modified" if differs.is_there else "deleted"
