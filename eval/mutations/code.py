"""A file in two versions, the tests and functions in it, and edits to the newer text."""

import json
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

import msgspec
import yaml
from ast_grep_py import SgNode, SgRoot


class Edit(NamedTuple):
    start: int
    end: int
    text: str


Edits = tuple[Edit, ...]
Span = tuple[int, int]


class Site(msgspec.Struct, frozen=True, eq=False):
    """A test that runs, or a function."""

    name: str
    """Qualified within the file."""
    node: SgNode
    """The declaration; of a test, the call or the function."""
    whole: Span
    """With decorators, attributes, annotations."""
    body: SgNode
    statements: tuple[SgNode, ...]
    asserts: tuple[SgNode, ...] = ()
    """Statements that assert, wherever in it."""


Finder = Callable[[SgNode], Iterable[Site]]


class Code:
    """What a mutator is given. `before` is the text that the honest change began with: a test that is new has nothing
    to lose."""

    def __init__(
        self, text: str, before: str, grammar: str, tests: Finder, functions: Finder, packages: frozenset[str]
    ) -> None:
        """`packages` are the names under which Python finds what is in the tree."""
        self.packages = packages
        self.text = text
        self.before = before
        self.grammar = grammar
        self._find_tests = tests
        self._find_functions = functions
        self.root = SgRoot(text, grammar).root()

    @cached_property
    def tests(self) -> tuple[Site, ...]:
        return tuple(self._known(self._find_tests))

    @cached_property
    def functions(self) -> tuple[Site, ...]:
        return tuple(self._known(self._find_functions))

    def _known(self, find: Finder) -> Iterator[Site]:
        """Those that were there before, and whose name is theirs alone."""
        sites = list(find(self.root))
        named = Counter(site.name for site in sites)
        known = named if self.text == self.before else {site.name for site in find(self._root_before)}
        for site in sites:
            if named[site.name] == 1 and site.name in known:
                asserts = tuple(one for one in site.asserts if one.text() in self.before)
                if asserts or not site.asserts:
                    yield msgspec.structs.replace(site, asserts=asserts)

    @cached_property
    def _root_before(self) -> SgNode:
        return SgRoot(self.before, self.grammar).root()

    def indent(self, at: int) -> str:
        """Of the line."""
        start = self.text.rfind("\n", 0, at) + 1
        line = self.text[start:at]
        return line[: len(line) - len(line.lstrip())]


Mutator = Callable[[Code], Iterator[Edits]]
"""All the places where a file offers itself, one after the other; none when it offers nothing."""


def span(node: SgNode) -> Span:
    return node.range().start.index, node.range().end.index


def over(node: SgNode, text: str) -> Edit:
    return Edit(*span(node), text)


def cut(text: str, start: int, end: int) -> Edit:
    """Without leaving an empty line, if nothing else stands on it."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last + 1
    if not text[first:start].strip() and not text[end:last].strip(" \t\r\n;,"):
        return Edit(first, last, "")
    return Edit(start, end, "")


def before(code: Code, statement: SgNode, text: str) -> Edit:
    """A line before a statement, or several."""
    start, _ = span(statement)
    indent = code.indent(start)
    return Edit(start, start, "".join(f"{line}\n{indent}" for line in text.splitlines()))


def applied(text: str, edits: Edits) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def is_sound(path: str, text: str, honest: str, grammar: str | None) -> bool:
    """Whether it parses as well as it did."""
    if grammar is None:
        return _loads(path, honest) <= _loads(path, text)
    if _broken(text, grammar) > _broken(honest, grammar):
        return False
    return grammar != "python" or _compiles(honest) <= _compiles(text)


def _broken(text: str, grammar: str) -> int:
    return len(SgRoot(text, grammar).root().find_all(kind="ERROR"))


def _compiles(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "honest", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True


def _loads(path: str, text: str) -> bool:
    """Also true for what nobody here can load."""
    try:
        match PurePosixPath(path).suffix:
            case ".json":
                json.loads(text)
            case ".toml":
                tomllib.loads(text)
            case ".yml" | ".yaml":
                yaml.safe_load(text)
    except (ValueError, yaml.YAMLError):
        return False
    return True
