"""From a command to the file that the kernel is asked to run."""

import os
from typing import NamedTuple

from untilproven.process.records import Program

_SHELL = "/bin/sh"
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,@%+- "
_SHELL_WORDS = frozenset(
    {".", "alias", "bg", "break", "case", "cd", "command", "continue", "do", "done", "elif", "else", "esac", "eval"}
    | {"exec", "exit", "export", "fc", "fg", "fi", "for", "function", "getopts", "hash", "if", "in", "jobs", "local"}
    | {"pwd", "read", "readonly", "return", "select", "set", "shift", "source", "then", "time", "times", "trap", "type"}
    | {"ulimit", "umask", "unalias", "unset", "until", "wait", "while", ":"}
)
"""What a shell does itself, even where a program has the same name."""


class CannotStart(Exception):
    """Why a program cannot be started, in the words of `Ending.not_started`."""


class Order(NamedTuple):
    """What the keeper starts."""

    path: str
    argv: list[str]
    env: dict[str, str]
    cwd: str
    plain: bool = False
    """A line of plain words: should the kernel find no program there after all, a shell is asked."""


def order(program: Program) -> Order:
    command, env = program.command, dict(program.env)
    cwd = str(program.cwd)
    if isinstance(command, str):
        direct = _without_a_shell(command, env, cwd)
        if direct:
            return direct
    argv = [_SHELL, "-c", command] if isinstance(command, str) else list(command)
    if not argv or not argv[0]:
        raise CannotStart("the command is empty")
    if "\0" in "\n".join([*argv, *env, *env.values()]):
        raise CannotStart(f"{argv[0]}: a NUL byte in its arguments or environment")
    if "" in env or "=" in "\n".join(env):
        raise CannotStart(f"{argv[0]}: a variable of its environment has no name, or '=' in it")
    return Order(_find(argv[0], env.get("PATH", os.defpath), cwd), argv, env, cwd)


def _without_a_shell(line: str, env: dict[str, str], cwd: str) -> Order | None:
    """A line of nothing but plain words is started as it is: a shell would take as long as many a check."""
    if not line.isascii() or line.strip(_PLAIN):
        return None
    words = line.split()
    if not words or "=" in words[0] or words[0] in _SHELL_WORDS or "\0" in "".join([*env, *env.values()]):
        return None
    try:
        path = _find(words[0], env.get("PATH", os.defpath), cwd)
        with open(os.path.join(cwd, path), "rb") as file:  # noqa: PTH118, PTH123  called for every program started
            start = file.read(4)
    except (CannotStart, OSError):
        return None  # the shell says what is wrong
    if not start.startswith((b"#!", b"\x7fELF")):
        return None
    return Order(path, words, {**env, "PWD": cwd}, cwd, plain=True)


def _find(name: str, search: str, cwd: str) -> str:
    """As a shell does it, but with the PATH that the program will see, seen from where it will run."""
    if "/" in name:
        return name
    not_executable = ""
    for directory in search.split(os.pathsep):
        path = os.path.join(cwd, directory, name)  # noqa: PTH118  called for every program started
        if os.path.isfile(path):  # noqa: PTH113  called for every program started
            if os.access(path, os.X_OK):
                return path
            not_executable = not_executable or path
    if not_executable:
        return not_executable  # the kernel says why it cannot be run
    raise CannotStart(f"{name}: not found in PATH ({search})")
