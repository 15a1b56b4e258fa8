"""Which files of the tree the lines of checks run: scripts, what these call and load, and programs of their own."""

import contextlib
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from untilproven.checks import line as lines
from untilproven.checks.mixed import about_tests
from untilproven.checks.wrappers import base, past_wrappers

_INTERPRETERS = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "python", "python3", "node", "bun", "deno", "tsx", "ts-node", "ruby", "perl"}
    | {"php", "source"}
)
_INCLUDES = frozenset({"include", "sinclude"})
"""Of a makefile; its `-` is taken for that of a recipe."""
_WITH_VALUE = frozenset({"-W", "-X", "-r", "--require", "--import", "--loader"})
_HERE = ("$PWD/", "${PWD}/", "$(pwd)/", "`pwd`/", "$(CURDIR)/", "${CURDIR}/")
_NO_FILE = frozenset({"-c", "-m", "-e"})
"""Behind these an interpreter is given something else."""
_SHELL_WORDS = frozenset({"if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "exec", "command"})
_SOMEWHERE = re.compile(r"""\$(?!\{?HOME\b)(?:\w+|\{[^{}]*\}|\((?:[^()]|\([^()]*\))*\))"?/""")
"""What a script says for a directory that is known only when it runs: nearly always the top, or its own."""
_ON_PATH = re.compile(r"\bPATH\s*[:+?]?=\s*(\S+)")
_FOR_SCRIPTS = frozenset(
    {"bin", "build-tools", "check", "checks", "ci", ".ci", ".github", "dev", "devtools", "hack", "script", "scripts"}
    | {"tool", "tools", "verify"}
)
"""Directories that hold what is used on a project. Elsewhere a module beside a script may be what it is to check."""
_IMPORTED = {
    ".py": re.compile(r"^\s*(?:from\s+\.*([\w.]+)\s+import|import\s+([\w.]+(?:\s*,\s*[\w.]+)*))", re.MULTILINE),
    ".js": re.compile(r"""(?:\bfrom|\brequire\s*\(|\bimport\s*\(?)\s*['"]\./([\w./-]+)['"]()"""),
}
_IMPORTED |= dict.fromkeys((".mjs", ".cjs", ".ts", ".mts", ".cts"), _IMPORTED[".js"])
_HEAD, _MOST_LINES = 1024, 2000


def scripts_in(texts: Iterable[str]) -> Iterator[str]:
    """Files of the tree that lines of shell run: a program by its path, or what an interpreter is given."""
    for text in texts:
        yield from _scripts_in(text)


def places_in(texts: Iterable[str]) -> Iterator[str]:
    """Directories of the tree in which lines of shell have programs looked for."""
    for text in texts:
        for found in _ON_PATH.finditer(text):
            for place in found[1].strip("\"'").split(":"):
                yield from _in_tree(PurePosixPath(), place)


def lines_of(path: str, script: bytes) -> list[str]:
    """The lines that a script, a makefile or a package runs, and lines that run what it imports; of a program, none."""
    if path == "package.json":
        about = about_tests(path, script)
        named = about.get("scripts") if isinstance(about, dict) else None
        return [line for line in named.values() if isinstance(line, str)] if isinstance(named, dict) else []
    if b"\0" in script[:_HEAD]:
        return []
    text, here = script.decode("utf-8", "replace"), PurePosixPath(path)
    plain = [line.strip().lstrip("@-") for line in text.splitlines()[:_MOST_LINES]]
    vague = [line for line in plain if _SOMEWHERE.search(line)]
    places = dict.fromkeys((".", str(here.parent)))
    found = [_SOMEWHERE.sub(f"{place}/", line) for line in vague for place in places]
    return [*plain, *found, *(f". {shlex.quote(module)}" for module in _modules(text, here))]


def _modules(text: str, path: PurePosixPath) -> Iterator[str]:
    """Where modules may lie that a script loads from beside it."""
    if path.suffix not in _IMPORTED or _FOR_SCRIPTS.isdisjoint(path.parent.parts):
        return
    for found in _IMPORTED[path.suffix].finditer(text):
        for name in (found[1] or found[2]).split(","):
            if path.suffix == ".py":
                module = path.parent / name.strip().replace(".", "/")
                yield from (f"{module}.py", f"{module}/__init__.py")
            else:
                module = path.parent / name
                yield from (str(module), *(f"{module}{suffix}" for suffix in _IMPORTED if suffix != ".py"))


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
    elif program == "." or base(program) in _INTERPRETERS:
        yield from _interpreted(given, directory)
    elif program in _INCLUDES:
        for word in given:
            yield from _in_tree(directory, word)


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
    if path != "." and not path.startswith(("/", "../")) and "$" not in path:
        yield path
