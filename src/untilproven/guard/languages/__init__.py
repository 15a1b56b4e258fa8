"""How facts are read from the syntax of a language: one module for each."""

from functools import cache, lru_cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import Protocol

from ast_grep_py import SgNode

from untilproven.guard.facts import Declaration, Facts, Function, Test


class Language(Protocol):
    """What a module here offers."""

    def facts(self, root: SgNode, path: str) -> Facts:
        """What the whole file says; quick, for it is asked of every file that differs."""

    def test(self, declaration: Declaration) -> Test:
        """What is inside a test; asked only where its text differs."""

    def function(self, declaration: Declaration) -> Function:
        """What is inside a function; asked only where its text differs."""


_MODULES = {
    "python": ("python", (".py", ".pyi")),
    "javascript": ("javascript", (".js", ".mjs", ".cjs", ".jsx")),
    "typescript": ("javascript", (".ts", ".mts", ".cts")),
    "tsx": ("javascript", (".tsx",)),
    "go": ("golang", (".go",)),
    "rust": ("rust", (".rs",)),
    "java": ("java", (".java",)),
    "kotlin": ("kotlin", (".kt", ".kts")),
}
"""By the grammar's name: the module here, and the names of files."""

_BY_SUFFIX = {suffix: grammar for grammar, (_, suffixes) in _MODULES.items() for suffix in suffixes}


@lru_cache(maxsize=1024)
def grammar_of(path: str) -> str | None:
    """None for a file in no language that is read here."""
    return _BY_SUFFIX.get(PurePosixPath(path).suffix)


@cache
def language_of(grammar: str) -> Language:
    module, _ = _MODULES[grammar]
    return import_module(f"untilproven.guard.languages.{module}")
