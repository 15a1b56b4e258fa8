"""Programs that run another program: the runner behind `uv run`, `npx`, `bundle exec` and the like."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from untilproven.checks.line import after_assignments

_WRAPPERS: dict[tuple[str, ...], frozenset[str]] = {
    ("uv", "run"): frozenset(
        {"--with", "--extra", "--group", "--python", "-p", "--directory", "--project", "--package"}
    ),
    ("poetry", "run"): frozenset(),
    ("pipenv", "run"): frozenset(),
    ("pdm", "run"): frozenset({"-p", "--project"}),
    ("hatch", "run"): frozenset(),
    ("rye", "run"): frozenset(),
    ("coverage", "run"): frozenset({"--source", "--rcfile", "--omit", "--include", "--data-file"}),
    ("bundle", "exec"): frozenset(),
    ("npx",): frozenset({"-p", "--package"}),
    ("bunx",): frozenset(),
    ("pnpm", "exec"): frozenset(),
    ("pnpm", "dlx"): frozenset(),
    ("yarn", "exec"): frozenset(),
    ("env",): frozenset({"-u", "-C"}),
    ("time",): frozenset(),
    ("exec",): frozenset(),
    ("stdbuf",): frozenset({"-i", "-o", "-e"}),
    ("nice",): frozenset({"-n"}),
    ("xvfb-run",): frozenset({"-s", "-n"}),
}
"""Each with its options that take a value in the next word."""

_PYTHON = re.compile(r"python(\d+(\.\d+)*)?|pypy3?|py")
_PYTHON_VALUES = frozenset({"-W", "-X"})


def program_at(words: Sequence[str]) -> int | None:
    """Where the program that does the work stands; for `python -m NAME` that is NAME."""
    at = past_wrappers(words)
    if at is None:
        return None
    if at < len(words) and _PYTHON.fullmatch(base(words[at])):
        at = _past_options(words, at + 1, _PYTHON_VALUES)
        if words[at - 1] != "-m":
            return None
    return at if at < len(words) else None


def past_wrappers(words: Sequence[str]) -> int | None:
    """Where the program stands that the others run; None if that is a script of `coverage run`."""
    at = after_assignments(tuple(words))
    while wrapper := _wrapper(words, at):
        at = _past_options(words, at + len(wrapper), _WRAPPERS[wrapper])
        at += after_assignments(tuple(words[at:]))
        if wrapper == ("coverage", "run") and words[at - 1 : at] != ["-m"]:
            return None
    return at


def base(word: str) -> str:
    """The name of a program without where it lies."""
    return PurePosixPath(word).name


def _wrapper(words: Sequence[str], at: int) -> tuple[str, ...] | None:
    if at >= len(words):
        return None
    for wrapper in _WRAPPERS:
        if (base(words[at]), *words[at + 1 : at + len(wrapper)]) == wrapper:
            return wrapper
    return None


def _past_options(words: Sequence[str], at: int, with_value: frozenset[str]) -> int:
    while at < len(words) and words[at].startswith("-"):
        if words[at] in {"-m", "--"}:
            return at + 1
        at += 2 if words[at] in with_value else 1
    return min(at, len(words))
