"""Which commands verify something, behind whatever runs them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from untilproven.guard.signals.commands import Command
from untilproven.guard.signals.tools import (
    CHECKING_GOAL,
    HARMLESS,
    INTERPRETER,
    MANY_TARGETS,
    NOT_VERIFYING,
    PACKAGE_RUNNERS,
    PREPARES,
    SAYS,
    SHELLS,
    SUBCOMMANDS,
    TARGET_RUNNERS,
    TOOLS,
    WRAPPERS,
    Purpose,
)

_TARGET = re.compile(r"[A-Za-z_][\w:.-]*")
_INSTALLED = re.compile(r"(?:.*/)?node_modules/(?:.*/)?([\w-]+)(?:\.[cm]?js)?")
_MODULE_OPTION = re.compile(r"-[A-Za-z]*m")
_CODE_OPTION = re.compile(r"-[a-z]*[cep]|--(?:eval|print)")
_NODE = frozenset({"npm", "pnpm", "yarn", "bun"})
_OF_PACKAGES = frozenset({"run", "run-script", "workspaces", "exec", "task", "foreach", "dlx"})
_WITH_VALUE = frozenset({"-C", "--filter", "-F", "-w", "--workspace", "--prefix", "--cwd", "-p", "workspace"})
_OF_WRAPPERS = frozenset(
    {"--with", "--from", "--group", "--only-group", "--no-group", "--extra", "--python", "--package", "--project"}
    | {"--directory", "--env-file", "--index", "--spec", "--with-requirements", "--with-editable"}
)
"""Options of wrappers with a value behind them, which may be called like a program."""
_SKIPS_TESTS = re.compile(r"-D(?:skipTests|maven\.test\.skip)(?:=true)?")
_WITH_TEST = frozenset({"setup.py", "manage.py", "runtests.py", "x.py"})
"""Python programs that verify when they are told to `test`."""

_Found = tuple[Purpose, str] | None
"""What for, and the tool's name."""


class Check(msgspec.Struct, frozen=True):
    """A command that verifies."""

    purpose: Purpose
    tool: str
    """`pytest`, `go test`, `npm lint`."""
    command: Command

    @property
    def is_heard(self) -> bool:
        return not self.command.is_swallowed


def checks_in(commands: Iterable[Command]) -> list[Check]:
    return [check for command in commands for one in _apart(command) if (check := _check_in(one))]


def purpose_of_name(name: str) -> Purpose | None:
    """What a script, a target or an action of this name is for."""
    if PREPARES.search(name) and not re.search(r"(?i)(?:^|[^a-z])(?:test|lint)", name):
        return None
    return next((purpose for purpose, says in SAYS if says.search(name)), None)


def is_harmless(command: Command) -> bool:
    """It prepares, and can not stand for something that verifies."""
    words = _without_assignments(command.words)
    if words[:1] == ["sudo"]:
        words = words[1:]
    if words in ([], ["yarn"]) or base(words[0]) in HARMLESS or base(words[0]).startswith("$"):
        return True
    return not NOT_VERIFYING.isdisjoint(words[1:4]) or words[1:2] in (["build"], ["get"], ["mod"], ["config"])


def base(word: str) -> str:
    """A program's name without where it lies, or what a variable is called that holds it."""
    if found := re.fullmatch(r"\$[({]?([A-Z_]+)[)}]?", word):
        return found[1].lower()
    return word.rpartition("/")[2].removesuffix(".cmd").removesuffix(".exe")


def _apart(command: Command) -> Iterator[Command]:
    """`make lint test` are two commands."""
    words = _without_assignments(command.words)
    targets = [word for word in words[1:] if _TARGET.fullmatch(word)]
    if len(targets) < 2 or base(words[0]) not in MANY_TARGETS:
        yield command
        return
    rest = [word for word in words if word not in targets]
    for target in targets:
        yield msgspec.structs.replace(command, words=(*rest, target))


@lru_cache(maxsize=4096)
def _check_in(command: Command) -> Check | None:
    words = _without_assignments(command.words)
    found = _tool(words) if words else None
    return Check(found[0], found[1], command) if found else None


def _without_assignments(words: Sequence[str]) -> list[str]:
    """Without `NAME=value` in front."""
    at = next((at for at, word in enumerate(words) if not re.match(r"[A-Za-z_]\w*=", word)), len(words))
    return list(words[at:])


def _tool(words: list[str]) -> _Found:
    first = base(words[0])
    if first in SHELLS:
        return _of_shell(words)
    if INTERPRETER.fullmatch(first) and words[1:2] and words[1] not in SUBCOMMANDS.get(first, {}):
        return _of_packages(first, words) if first in PACKAGE_RUNNERS else _of_interpreter(words)
    if first in WRAPPERS and not NOT_VERIFYING.isdisjoint(words[1:3]):
        return None
    if first in WRAPPERS and (behind := _behind(words)):
        return behind
    if first in PACKAGE_RUNNERS:
        return _of_packages(first, words)
    if first in SUBCOMMANDS:
        return _of_subcommands(first, words)
    if first in TARGET_RUNNERS:
        return _of_targets(first, words)
    if first in TOOLS:
        return None if words[1:2] and words[1] in NOT_VERIFYING else (TOOLS[first], first)
    if first in WRAPPERS:
        return ("tests", "coverage report") if any(word.startswith("--fail-under") for word in words) else None
    return _of_path(words[0])


def _behind(words: list[str]) -> _Found:
    """What a wrapper runs: the first of its words that is a known program."""
    for at, word in enumerate(words[1:], start=1):
        if words[at - 1] in _OF_WRAPPERS:
            continue
        if _MODULE_OPTION.fullmatch(word):
            return _tool(["python", *words[at:]])
        name = base(word)
        known = name in TOOLS or name in SHELLS or name in SUBCOMMANDS
        if known or name in PACKAGE_RUNNERS or name in TARGET_RUNNERS or INTERPRETER.fullmatch(name):
            return _tool(words[at:])
    return None


def _of_shell(words: list[str]) -> _Found:
    for at, word in enumerate(words[1:], start=1):
        if re.fullmatch(r"-[a-z]*c", word):
            inner = words[at + 1].split() if words[at + 1 :] else []
            return _tool(inner) if inner else None
        if not word.startswith("-"):
            return _of_path(word, runs=True)
    return None


def _of_interpreter(words: list[str]) -> _Found:
    for at, word in enumerate(words[1:], start=1):
        if (installed := _INSTALLED.fullmatch(word)) and installed[1] in TOOLS:
            return _tool([installed[1], *words[at + 1 :]])
    for at, word in enumerate(words[1:], start=1):
        if _MODULE_OPTION.fullmatch(word):
            rest = words[at + 1 :]
            return _tool(rest) if rest and (base(rest[0]) in TOOLS or base(rest[0]) in WRAPPERS) else None
        if word == "--test":
            return "tests", "node --test"
        if _CODE_OPTION.fullmatch(word):
            return None
        if base(word) in _WITH_TEST:
            return ("tests", f"{base(word)} test") if "test" in words else None
        if not word.startswith("-"):
            return _of_path(word, runs=True) if re.search(r"/|\w\.\w", word) else None
    return None


def _of_path(word: str, *, runs: bool = False) -> _Found:
    """A script of the tree; of one whose name says nothing, anything may be expected."""
    if not runs and "/" not in word and not word.endswith((".sh", ".bat", ".ps1")):
        return None
    if word.startswith(("/", "~", "$HOME", "http")) or " " in word:
        return None
    purpose = purpose_of_name(word)
    if purpose is None and PREPARES.search(word):
        return None
    return purpose or "anything", word.removeprefix("./")


def _of_subcommands(first: str, words: list[str]) -> _Found:
    known = SUBCOMMANDS[first]
    program = first.removesuffix("w")
    if program == "mvn" and any(map(_SKIPS_TESTS.fullmatch, words)) and (goal := _goal_that_checks(words)):
        return "lint", f"mvn {goal}"
    for word in _named(words):
        name = word.rpartition(":")[2]
        if purpose := known.get(name):
            return purpose, f"{program} {name}"
        if program in {"gradle", "sbt", "mvn"} and (said := purpose_of_name(_spaced(name))):
            return said, f"{program} {name}"
    return None


def _goal_that_checks(words: list[str]) -> str | None:
    """Of a plugin of Maven, which is run though tests are not."""
    goals = (word.partition("@")[0] for word in _named(words) if ":" in word)
    return next((goal for goal in goals if CHECKING_GOAL.fullmatch(goal)), None)


def _of_targets(first: str, words: list[str]) -> _Found:
    named = _named(words)
    for word in named:
        if said := purpose_of_name(word):
            return said, f"{first} {word}"
    if named and TOOLS.get(first) is None and all(map(PREPARES.search, named)):
        return None
    return "anything", f"{first} {' '.join(named[:3])}".strip()


def _of_packages(first: str, words: list[str]) -> _Found:
    """A script by its name, whichever of these runs it; or a program that came with a package."""
    at = _script_at(words)
    if at is None or words[at] in NOT_VERIFYING or words[at] == "build":
        return None
    name = base(words[at])
    if name in TOOLS or name in SUBCOMMANDS:
        return _tool(words[at:])
    if words[at].startswith("$"):
        return "anything", f"{'npm' if first in _NODE else first} {words[at]}"
    if name in {"t", "tst"}:
        return "tests", "npm test"
    purpose = purpose_of_name(_spaced(name))
    return (purpose, f"{'npm' if first in _NODE else first} {name}") if purpose else None


def _script_at(words: list[str]) -> int | None:
    at = 1
    while at < len(words):
        if words[at] in _WITH_VALUE:
            at += 2
        elif words[at].startswith("-") or words[at] in _OF_PACKAGES:
            at += 1
        else:
            return at
    return None


def _named(words: list[str]) -> list[str]:
    return [word for word in words[1:] if not word.startswith(("-", "+")) and "=" not in word]


def _spaced(name: str) -> str:
    """`testDebugUnitTest` in words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
