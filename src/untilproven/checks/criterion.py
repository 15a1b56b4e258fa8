"""A criterion in the user's words: a command inside it, or a description that nothing verifies by itself."""

import re

import msgspec

from untilproven.checks import line as lines
from untilproven.checks.wrappers import base

_VERDICT = (
    r"(?:must |should |shall |will )?"
    r"(?:(?:pass|succeed|work)(?:es|s)?|(?:is|are) (?:green|passing|clean)|runs? cleanly"
    r"|exits? (?:with )?(?:code |status )?(?:0|zero)|returns? (?:0|zero))"
    r"(?: (?:without|with no) (?:errors?|warnings?|failures?))?"
)
_QUOTED = rf"`([^`\n]+)`(?:\s+{_VERDICT})?\s*[.!]?"
_PLAIN = rf"(\S.*?)\s+{_VERDICT}\s*[.!]?"
_PERHAPS = ("`", "pass", "succe", "work", "is ", "are ", "run", "exit", "return")
"""Without one of these a line is no criterion in words, and the patterns, slow to make, are not needed."""

_PROGRAMS = frozenset(
    {"bun", "bundle", "bash", "cargo", "cmake", "composer", "coverage", "ctest", "deno", "docker", "dotnet", "eslint"}
    | {"flake8", "go", "gradle", "gradlew", "hatch", "jest", "just", "make", "meson", "mix", "mocha", "mvn", "mvnw"}
    | {"mypy", "ninja", "node", "nox", "npm", "npx", "php", "phpstan", "phpunit", "pnpm", "poetry", "prettier"}
    | {"py.test", "pyright", "pytest", "python", "python3", "rake", "rspec", "rubocop", "ruff", "sbt", "sh", "swift"}
    | {"tox", "tsc", "uv", "vitest", "yarn", "zig", "cd"}
)
_SUBJECT_FIRST = frozenset({"go", "just", "make", "node", "sh", "python", "docker", "swift", "coverage", "deno"})
"""Names that also begin an English sentence ("make sure it works"): they need a second word that looks typed."""
_TYPED = r"[-./:=]|\d|^(?:test|tests|check|lint|build|run|vet|compose|all|ci|verify|docs|report)$"


class Criterion(msgspec.Struct, frozen=True):
    text: str
    command: str | None = None


def read(text: str) -> Criterion:
    """The command of "npx tsc --noEmit passes"; none for "the code is clean and well documented"."""
    stripped = text.strip()
    if not any(word in stripped.lower() for word in _PERHAPS):
        return Criterion(text)
    if quoted := re.fullmatch(_QUOTED, stripped, re.IGNORECASE):
        return Criterion(text, quoted[1].strip())
    plain = re.fullmatch(_PLAIN, stripped, re.IGNORECASE)
    if plain and _is_command(plain[1]):
        return Criterion(text, plain[1])
    return Criterion(text)


def _is_command(text: str) -> bool:
    line = lines.read(text)
    if line is None:
        return False
    if not line.programs or not all(p.startswith(("./", "/")) or base(p) in _PROGRAMS for p in line.programs):
        return False
    words = [word.text for word in line.words]
    at = words.index(line.programs[-1])
    if words[at] in _SUBJECT_FIRST:
        return len(words) > at + 1 and bool(re.search(_TYPED, words[at + 1]))
    return True
