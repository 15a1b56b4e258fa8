"""From a command to the file that the kernel is asked to run."""

import os
from typing import NamedTuple

from untilproven.process.records import Program

_SHELL = "/bin/sh"


class CannotStart(Exception):
    """Why a program cannot be started, in the words of `Ending.not_started`."""


class Order(NamedTuple):
    """What the keeper starts."""

    path: str
    argv: list[str]
    env: dict[str, str]
    cwd: str


def order(program: Program) -> Order:
    command, env = program.command, dict(program.env)
    argv = [_SHELL, "-c", command] if isinstance(command, str) else list(command)
    if not argv or not argv[0]:
        raise CannotStart("the command is empty")
    if "\0" in "\n".join([*argv, *env, *env.values()]):
        raise CannotStart(f"{argv[0]}: a NUL byte in its arguments or environment")
    if "" in env or "=" in "\n".join(env):
        raise CannotStart(f"{argv[0]}: a variable of its environment has no name, or '=' in it")
    cwd = str(program.cwd)
    return Order(_find(argv[0], env.get("PATH", os.defpath), cwd), argv, env, cwd)


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
