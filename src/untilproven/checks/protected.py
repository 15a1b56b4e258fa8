"""Which version of which file each pass of the checks sees: the agent's, or the one from before the loop."""

import contextlib
import posixpath
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from untilproven.checks import line as lines
from untilproven.checks.wrappers import base, past_wrappers
from untilproven.contract import Differs
from untilproven.guard.kinds import Kind, kind_of
from untilproven.process.patterns import matches

MARKS = ("pyvenv.cfg", "CMakeCache.txt", "CACHEDIR.TAG")
"""Files by which tools mark a directory as theirs."""

_INTERPRETERS = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "python", "python3", "node", "bun", "deno", "tsx", "ts-node", "ruby", "perl"}
    | {"php", "source", "."}
)
_WITH_VALUE = frozenset({"-W", "-X", "-r", "--require", "--import", "--loader"})
_HERE = ("$PWD/", "${PWD}/", "$(pwd)/", "`pwd`/")
_CODE = frozenset(
    {".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".rs", ".java", ".kt", ".kts"}
    | {".rb", ".php", ".cs", ".fs", ".vb", ".swift", ".c", ".cc", ".cpp", ".h", ".hpp", ".ex", ".exs", ".sh", ".pth"}
)
_NO_FILE = frozenset({"-c", "-m", "-e"})
"""Behind these an interpreter is given something else."""
_SHELL_WORDS = frozenset({"if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "exec", "command"})


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
    scripts = frozenset(scripts_in(lines))
    return {
        path: kind_of(path, scripts=scripts, built=built, installed=installed, is_new=not differs.was_there)
        for path, differs in differing.items()
    }


def scripts_in(texts: Iterable[str]) -> Iterator[str]:
    """Files of the tree that lines of shell run: a program by its path, or what an interpreter is given."""
    for text in texts:
        yield from _scripts_in(text)


@lru_cache(maxsize=4096)
def _scripts_in(text: str) -> tuple[str, ...]:
    """The same lines are asked about again in every iteration."""
    line = lines.read(text)
    directory = PurePosixPath(line.directory if line else ".")
    commands = [*line.earlier, tuple(word.text for word in line.words)] if line else _roughly(text)
    return tuple(path for words in commands for path in _scripts(words, directory))


def _scripts(words: tuple[str, ...], directory: PurePosixPath) -> Iterator[str]:
    at = past_wrappers(words)
    if at is None or at >= len(words):
        return
    program, given = words[at], list(words[at + 1 :])
    if "/" in program:
        yield from _in_tree(directory, program)
    if base(program) == "timeout":
        while given and given[0].startswith("-"):
            given.pop(0)
        yield from _scripts(tuple(given[1:]), directory)
    elif base(program) in _INTERPRETERS:
        yield from _interpreted(given, directory)


def _interpreted(given: list[str], directory: PurePosixPath) -> Iterator[str]:
    """What an interpreter with these arguments runs."""
    while given and (given[0].startswith(("-", "+")) or given[0] == "run"):
        option = given.pop(0)
        if option in _NO_FILE:
            if option == "-c":
                yield from scripts_in(given[:1])
            elif option == "-m" and given:
                module = given[0].replace(".", "/")
                for place in (f"{module}.py", f"{module}/__main__.py"):
                    yield from _in_tree(directory, place)
            return
        if (option in _WITH_VALUE or re.fullmatch(r"[-+][a-z]*o", option)) and given:
            given.pop(0)
    if given:
        yield from _in_tree(directory, given[0])


def _roughly(text: str) -> list[tuple[str, ...]]:
    """Pipes, loops and the rest: a command begins behind every operator and every word of the shell's own."""
    reader = shlex.shlex(text, posix=True, punctuation_chars=True)
    commands: list[list[str]] = [[]]
    with contextlib.suppress(
        ValueError
    ):  # a quote that is closed on another line of a script: what is before it counts
        for word in reader:
            if word in _SHELL_WORDS or not word.strip("();<>|&{}!"):
                commands.append([])
            else:
                commands[-1].append(word)
    return [tuple(words) for words in commands if words]


def _in_tree(directory: PurePosixPath, word: str) -> Iterator[str]:
    for here in _HERE:
        word = word.removeprefix(here)
    path = posixpath.normpath(directory / word)
    if path != "." and not path.startswith(("/", "../")):
        yield path


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
