"""Where commands stand outside of CI: scripts of packages, targets of makefiles, shell scripts and the like."""

import re
import shlex
from collections.abc import Iterator

import msgspec
from ast_grep_py import SgRoot

from untilproven.guard.comparison import Side
from untilproven.guard.signals.commands import Command, commands_in
from untilproven.guard.signals.documents import NotUnderstood, below, mapping, name_of, values_in, words
from untilproven.guard.signals.trees import Value
from untilproven.guard.signals.verifiers import Check, checks_in

_MAKEFILE = re.compile(r"(?:GNU)?[mM]akefile|.*\.mk")
_JUSTFILE = re.compile(r"\.?[jJ]ustfile")
_BODY = r"((?:(?:\t[^\n]*|[ \t]*)(?:\n|$))*)"
_TARGET = re.compile(r"(?m)^([A-Za-z_.][^\s:=#]*(?:[ \t]+[A-Za-z_.][^\s:=#]*)*)[ \t]*::?(?!=)[^\n]*\n" + _BODY)
_RECIPE = re.compile(r"(?m)^@?([A-Za-z_][\w-]*)[^\n:=]*:(?!=)[^\n]*\n((?:(?:[ \t]+[^\n]*|[ \t]*)(?:\n|$))*)")
_TASKS = (("poe", "tasks"), ("pdm", "scripts"), ("taskipy", "tasks"), ("rye", "scripts"))


class Recipe(msgspec.Struct, frozen=True):
    """Commands under a name."""

    name: str
    commands: tuple[Command, ...]
    line: int
    needs: tuple[str, ...] = ()
    """Others that are run before it."""
    stops: bool = False
    """It ends at the first failure because it says so."""

    @property
    def checks(self) -> list[Check]:
        return checks_in(self.commands)

    @property
    def text(self) -> str:
        return "; ".join(command.text for command in self.commands)


def recipes_in(side: Side | None) -> dict[str, Recipe]:
    """By their names."""
    if side is None:
        return {}
    return {recipe.name: recipe for recipe in _read(side)}


def _read(side: Side) -> Iterator[Recipe]:
    name = name_of(side.path)
    try:
        if name in {"package.json", "composer.json"}:
            yield from _of_table(side, below(values_in(side.path, side.content), "scripts"))
        elif name == "pyproject.toml":
            yield from _of_pyproject(side)
        elif re.fullmatch(r"Taskfile\.ya?ml", name):
            yield from _of_taskfile(side)
        elif name in {"tox.ini", "setup.cfg"}:
            yield from _of_tox(side, values_in(side.path, side.content))
        elif name == "noxfile.py":
            yield from _of_nox(side)
        elif _MAKEFILE.fullmatch(name):
            yield from _of_targets(side, _TARGET)
        elif _JUSTFILE.fullmatch(name):
            yield from _of_targets(side, _RECIPE)
        elif side.path.endswith((".sh", ".bash")) or re.match(rb"#!.*sh\b", side.content[:80]):
            stops = re.search(r"(?m)^\s*set\s+(?:-\w*e|-o\s+errexit)|^#!.*sh -\w*e", side.text) is not None
            yield Recipe(name, commands_in(side.text), 1, stops=stops)
    except NotUnderstood:
        return


def _of_table(side: Side, table: Value | None) -> Iterator[Recipe]:
    for name, value in mapping(table).items():
        script = "\n".join(words(below(value, "cmd") or below(value, "shell") or below(value, "command") or value))
        if script:
            yield Recipe(name, commands_in(script), line_of(side, f'"{name}"', name))


def _of_pyproject(side: Side) -> Iterator[Recipe]:
    tool = below(values_in(side.path, side.content), "tool")
    for keys in _TASKS:
        yield from _of_table(side, below(tool, *keys))
    for environment, table in mapping(below(tool, "hatch", "envs")).items():
        for recipe in _of_table(side, below(table, "scripts")):
            yield msgspec.structs.replace(recipe, name=f"{environment}:{recipe.name}")
    yield from _of_tox(side, below(tool, "tox", "env") or {})
    if legacy := words(below(tool, "tox", "legacy_tox_ini")):
        yield Recipe("tox", commands_in(legacy[0]), line_of(side, "legacy_tox_ini"))


def _of_taskfile(side: Side) -> Iterator[Recipe]:
    for name, task in mapping(below(values_in(side.path, side.content), "tasks")).items():
        steps = below(task, "cmds") or below(task, "cmd") or task
        lines = words(steps)
        if isinstance(steps, list):
            lines += [command for step in steps for command in words(below(step, "cmd"))]
        yield Recipe(name, commands_in("\n".join(lines), stops=True), line_of(side, f"{name}:"))


def _of_tox(side: Side, values: Value) -> Iterator[Recipe]:
    for section, table in mapping(values).items():
        commands = below(table, "commands")
        if commands is None:
            continue
        lines = words(commands)
        if isinstance(commands, list):
            lines += [" ".join(words(one)) for one in commands if isinstance(one, list)]
        found = commands_in("\n".join(re.sub(r"(?m)^\s*\{?[\w.,!-]*\}?:\s+", "", line) for line in lines), stops=True)
        unheard = [
            msgspec.structs.replace(one, is_swallowed=True)
            if one.words[0] == "-" or one.words[0].startswith("-")
            else one
            for one in found
        ]
        yield Recipe(section, tuple(unheard), line_of(side, f"[{section}]", section))


def _of_nox(side: Side) -> Iterator[Recipe]:
    root = SgRoot(side.text, "python").root()
    for function in root.find_all(kind="function_definition"):
        name = function.field("name")
        found = []
        for call in function.find_all(pattern="session.run($$$ARGUMENTS)"):
            arguments = [one.text() for one in call.get_multiple_matches("ARGUMENTS") if one.kind() == "string"]
            unheard = re.search(r"success_codes\s*=", call.text()) is not None
            found.append(Command(tuple(word.strip("'\"") for word in arguments) or ("?",), 0, unheard))
        if found and name:
            yield Recipe(name.text(), tuple(found), function.range().start.line + 1)


def _of_targets(side: Side, pattern: re.Pattern[str]) -> Iterator[Recipe]:
    """Each line is a shell of its own; a minus in front of it, and nobody hears its failure."""
    for found in pattern.finditer(side.text):
        body = re.sub(r"(?m)^[ \t]+", "", found[2]).replace("$$", "$")
        commands = [
            msgspec.structs.replace(one, is_swallowed=True) if re.match(r"@?-", one.words[0]) else one
            for one in commands_in(body, apart=True)
        ]
        line = side.text.count("\n", 0, found.start()) + 1
        needs = tuple(found[0].partition("\n")[0].partition(":")[2].split())
        for name in found[1].split():
            if not name.startswith("."):
                yield Recipe(name, tuple(commands), line, needs)


def line_of(side: Side, *needles: str) -> int:
    """Where the first of them that is there stands first."""
    text = side.text
    at = next((at for needle in needles if (at := text.find(needle)) >= 0), 0)
    return text.count("\n", 0, at) + 1


def quoted(command: Command) -> str:
    return shlex.join(command.words)
