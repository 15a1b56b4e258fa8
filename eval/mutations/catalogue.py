"""Every kind of tampering, by language."""

import re
from collections.abc import Callable, Iterator

import msgspec

from eval.mutations.code import Code, Edits, Finder, Mutator
from eval.mutations.files import FILES
from eval.mutations.golang import sites as golang
from eval.mutations.golang.sources import SOURCES as GOLANG_SOURCES
from eval.mutations.golang.tests import TESTS as GOLANG_TESTS
from eval.mutations.java import sites as java
from eval.mutations.java.sources import SOURCES as JAVA_SOURCES
from eval.mutations.java.tests import TESTS as JAVA_TESTS
from eval.mutations.javascript import sites as javascript
from eval.mutations.javascript.sources import SOURCES as JAVASCRIPT_SOURCES
from eval.mutations.javascript.tests import TESTS as JAVASCRIPT_TESTS
from eval.mutations.python import sites as python
from eval.mutations.python.sources import SOURCES as PYTHON_SOURCES
from eval.mutations.python.tests import TESTS as PYTHON_TESTS
from eval.mutations.rust import sites as rust
from eval.mutations.rust.sources import SOURCES as RUST_SOURCES
from eval.mutations.rust.tests import TESTS as RUST_TESTS

DELETED, RENAMED = "test-file-deleted", "test-file-renamed"
"""Kinds that leave the content alone."""
ANY = "files"
"""In place of a language, for what is no code."""
_NOT_SOURCE = re.compile(
    r"(?:^|/)(?:tests?|__tests__|testdata|docs?|examples?|bench(?:es|marks?)?|vendor|third_party|node_modules|dist|build"
    r"|fixtures?|src/test|testing|conftest\.py|setup\.py|noxfile\.py|.*config\.\w+)(?:/|$)"
)


class Language(msgspec.Struct, frozen=True):
    name: str
    grammars: dict[str, str]
    """By how a file's name ends."""
    is_test_file: Callable[[str], bool]
    find_tests: Finder
    find_functions: Finder
    tests: dict[str, Mutator]
    sources: dict[str, Mutator]
    not_collected: tuple[str, str] | None
    """How a test file is renamed so that no runner takes it."""

    def grammar_of(self, path: str) -> str | None:
        return next((grammar for suffix, grammar in self.grammars.items() if path.endswith(suffix)), None)

    def is_source_file(self, path: str) -> bool:
        if self.grammar_of(path) is None or _NOT_SOURCE.search(path):
            return False
        return not (self.is_only_tests(path) if self.name == "rust" else self.is_test_file(path))

    def is_only_tests(self, path: str) -> bool:
        """Rust keeps tests beside the code, too."""
        return self.name != "rust" or re.search(r"(?:^|/)tests/|(?:^|/|_)tests?\.rs$", path) is not None

    def code(self, path: str, text: str, before: str, packages: frozenset[str] = frozenset()) -> Code:
        return Code(text, before, self.grammar_of(path) or "", self.find_tests, self.find_functions, packages)

    def mutations(self, kind: str, code: Code) -> Iterator[Edits]:
        return (self.tests.get(kind) or self.sources[kind])(code)

    @property
    def kinds(self) -> list[str]:
        whole = [DELETED, RENAMED] if self.not_collected else [DELETED]
        return [*self.tests, *whole, *self.sources]


_SCRIPT = {".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx"} | dict.fromkeys(
    (".js", ".mjs", ".cjs", ".jsx"), "javascript"
)

LANGUAGES = (
    Language(
        "python",
        {".py": "python"},
        python.is_test_file,
        python.find_tests,
        python.find_functions,
        PYTHON_TESTS,
        PYTHON_SOURCES,
        (r"(?:test_([^/]*)|([^/]*)_test)\.py$", r"\1\2_disabled.py"),
    ),
    Language(
        "javascript",
        _SCRIPT,
        javascript.is_test_file,
        javascript.find_tests,
        javascript.find_functions,
        JAVASCRIPT_TESTS,
        JAVASCRIPT_SOURCES,
        (r"(\.[cm]?[jt]sx?)$", r"\1.disabled"),
    ),
    Language(
        "go",
        {".go": "go"},
        golang.is_test_file,
        golang.find_tests,
        golang.find_functions,
        GOLANG_TESTS,
        GOLANG_SOURCES,
        (r"_test\.go$", "_test.go.disabled"),
    ),
    Language(
        "rust",
        {".rs": "rust"},
        rust.is_test_file,
        rust.find_tests,
        rust.find_sources,
        RUST_TESTS,
        RUST_SOURCES,
        None,
    ),
    Language(
        "java",
        {".java": "java"},
        java.is_test_file,
        java.find_tests,
        java.find_functions,
        JAVA_TESTS,
        JAVA_SOURCES,
        (r"\.java$", ".java.disabled"),
    ),
)


def language_of(path: str) -> Language | None:
    return next((language for language in LANGUAGES if language.grammar_of(path)), None)


def all_kinds() -> list[tuple[str, str]]:
    """Language and kind, of everything that can be done."""
    spoken = [(language.name, kind) for language in LANGUAGES for kind in language.kinds]
    return [*spoken, *((ANY, kind) for kind in FILES)]
