"""Where commands stand outside of CI: scripts of packages, targets of makefiles, shell scripts and the like."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

import msgspec
from ast_grep_py import SgRoot

from untilproven.guard.comparison import Side
from untilproven.guard.signals.commands import Command, commands_in
from untilproven.guard.signals.documents import NotUnderstood, below, line_of, mapping, name_of, values_in, words
from untilproven.guard.signals.trees import Value
from untilproven.guard.signals.verifiers import Check, checks_in
from untilproven.guard.written import Unreadable, as_text

_MADE = re.compile(
    r"(?m)^([A-Za-z_.][^\s:=#]*(?:[ \t]+[A-Za-z_.][^\s:=#]*)*)[ \t]*::?(?!=)[^\n]*\n"
    r"((?:(?:\t(?:\\\n|[^\n])*|[ \t]*)(?:\n|$))*)"
)
_JUST = re.compile(r"(?m)^@?([A-Za-z_][\w-]*)[^\n:=]*:(?!=)[^\n]*\n((?:(?:[ \t]+[^\n]*|[ \t]*)(?:\n|$))*)")
_IDLE_VARIABLE = re.compile(
    r"(?m)^(?:override |export )*([A-Za-z_]\w*)[ \t]*[:?]*=[ \t]*@?(true|:|echo)[ \t]*(?:#.*)?$"
)
_IGNORED = re.compile(r"(?m)^\.IGNORE[ \t]*:([^\n]*\S[^\n]*)$")
_IGNORES_ALL = re.compile(
    r"(?m)^\.IGNORE[ \t]*:[ \t]*$|^(?:export )?(?:MAKE|GNUMAKE|M)FLAGS[ \t]*[:?+]*=.*[ \t=]"
    r"(?:-\w*[in]\w*|--ignore-errors|--dry-run|--just-print)(?:[ \t]|$)"
    r"|^SHELL[ \t]*[:?]*=[ \t]*\S*\b(?:true|echo)[ \t]*$"
)
_TASKS = (("poe", "tasks"), ("pdm", "scripts"), ("taskipy", "tasks"), ("rye", "scripts"))
_FACTORS = re.compile(r"(?m)^\s*\{?[\w.,!-]*\}?:\s+")
"""What a line of tox is only for."""
_SHELL_STOPS = re.compile(r"(?m)^\s*set\s+(?:-\w*e|-o\s+errexit)|^#!.*sh -\w*e")


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


class _File(msgspec.Struct, frozen=True):
    path: str
    content: bytes
    text: str

    @property
    def values(self) -> Value:
        return values_in(self.path, self.content)


def recipes_in(side: Side | None) -> dict[str, Recipe]:
    """By their names. What comes back is shared: look, but do not change."""
    return _recipes(side.path, side.content) if side is not None else {}


@lru_cache(maxsize=256)
def _recipes(path: str, content: bytes) -> dict[str, Recipe]:
    name = name_of(path)
    reader = next((reader for pattern, reader in _READERS if re.fullmatch(pattern, name)), None)
    if reader is None:
        if not re.match(rb"#!.*sh\b", content[:80]):
            return {}
        reader = _of_shell
    try:
        return {recipe.name: recipe for recipe in reader(_File(path, content, as_text(content, though_made=True)))}
    except (NotUnderstood, Unreadable):
        return {}


def _of_package(file: _File) -> Iterator[Recipe]:
    return _of_table(file, below(file.values, "scripts"))


def _of_table(file: _File, table: Value | None) -> Iterator[Recipe]:
    for name, value in mapping(table).items():
        script = "\n".join(words(below(value, "cmd") or below(value, "shell") or below(value, "command") or value))
        if script:
            yield Recipe(name, commands_in(script), line_of(file.text, f'"{name}"', name))


def _of_pyproject(file: _File) -> Iterator[Recipe]:
    tool = below(file.values, "tool")
    for keys in _TASKS:
        yield from _of_table(file, below(tool, *keys))
    for environment, table in mapping(below(tool, "hatch", "envs")).items():
        for recipe in _of_table(file, below(table, "scripts")):
            yield msgspec.structs.replace(recipe, name=f"{environment}:{recipe.name}")
    yield from _of_environments(file, below(tool, "tox", "env"))
    if legacy := words(below(tool, "tox", "legacy_tox_ini")):
        yield Recipe("tox", commands_in(legacy[0]), line_of(file.text, "legacy_tox_ini"))


def _of_taskfile(file: _File) -> Iterator[Recipe]:
    for name, task in mapping(below(file.values, "tasks")).items():
        steps = below(task, "cmds") or below(task, "cmd") or task
        lines = words(steps)
        if isinstance(steps, list):
            lines += [command for step in steps for command in words(below(step, "cmd"))]
        yield Recipe(name, commands_in("\n".join(lines), stops=True), line_of(file.text, f"{name}:"))


def _of_tox(file: _File) -> Iterator[Recipe]:
    return _of_environments(file, file.values)


def _of_environments(file: _File, environments: Value | None) -> Iterator[Recipe]:
    for name, table in mapping(environments).items():
        commands = below(table, "commands")
        lines = words(commands)
        if isinstance(commands, list):
            lines += [" ".join(words(one)) for one in commands if isinstance(one, list)]
        if lines:
            found = commands_in("\n".join(_FACTORS.sub("", line) for line in lines), stops=True)
            yield Recipe(name, tuple(map(_without_signs, found)), line_of(file.text, f"[{name}]", name))


def _of_nox(file: _File) -> Iterator[Recipe]:
    for function in SgRoot(file.text, "python").root().find_all(kind="function_definition"):
        name = function.field("name")
        found = []
        for call in function.find_all(pattern="session.run($$$ARGUMENTS)"):
            arguments = [
                one.text().strip("'\"") for one in call.get_multiple_matches("ARGUMENTS") if one.kind() == "string"
            ]
            unheard = re.search(r"success_codes\s*=", call.text()) is not None
            found.append(Command(tuple(arguments) or ("?",), 0, unheard))
        if found and name:
            yield Recipe(name.text(), tuple(found), function.range().start.line + 1)


def _of_makefile(file: _File) -> Iterator[Recipe]:
    text = _with_idle_programs(file.text)
    ignored = _ignored_by_make(text)
    for recipe in _of_targets(text, _MADE):
        if ignored is None or recipe.name in ignored:
            quiet = tuple(msgspec.structs.replace(one, is_swallowed=True) for one in recipe.commands)
            yield msgspec.structs.replace(recipe, commands=quiet)
        else:
            yield recipe


def _with_idle_programs(text: str) -> str:
    """With the value of each variable that stands for a program which does nothing."""
    for name, value in _IDLE_VARIABLE.findall(text):
        text = re.sub(rf"\$[({{]{name}[)}}]", value, text)
    return text


def _ignored_by_make(text: str) -> frozenset[str] | None:
    """Targets whose failure nobody hears; None for all of them."""
    if _IGNORES_ALL.search(text):
        return None
    return frozenset(name for found in _IGNORED.findall(text) for name in found.split())


def _of_justfile(file: _File) -> Iterator[Recipe]:
    return _of_targets(file.text, _JUST)


def _of_targets(text: str, pattern: re.Pattern[str]) -> Iterator[Recipe]:
    """Each line is a shell of its own."""
    for found in pattern.finditer(text):
        body = re.sub(r"(?m)^[ \t]+", "", found[2]).replace("$$", "$")
        commands = tuple(map(_without_signs, commands_in(body, apart=True)))
        line = text.count("\n", 0, found.start()) + 1
        needs = tuple(found[0].partition("\n")[0].partition(":")[2].split())
        for name in found[1].split():
            if not name.startswith("."):
                yield Recipe(name, commands, line, needs)


def _without_signs(command: Command) -> Command:
    """Make and tox: a minus in front of a command, and nobody hears its failure; an at, and it is not shown."""
    first = command.words[0].lstrip("@+-")
    signs = command.words[0].removesuffix(first)
    rest = command.words[1:]
    return Command((first, *rest) if first else rest or (":",), command.line, command.is_swallowed or "-" in signs)


def _of_shell(file: _File) -> Iterator[Recipe]:
    yield Recipe(name_of(file.path), commands_in(file.text), 1, stops=_SHELL_STOPS.search(file.text) is not None)


_READERS: tuple[tuple[str, Callable[[_File], Iterator[Recipe]]], ...] = (
    (r"package\.json|composer\.json", _of_package),
    (r"pyproject\.toml", _of_pyproject),
    (r"Taskfile\.ya?ml", _of_taskfile),
    (r"tox\.ini|setup\.cfg", _of_tox),
    (r"noxfile\.py", _of_nox),
    (r"(?:GNU)?[mM]akefile|.*\.mk", _of_makefile),
    (r"\.?[jJ]ustfile", _of_justfile),
    (r".*\.(?:sh|bash)", _of_shell),
)
