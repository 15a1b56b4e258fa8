"""Which commands verify something: test runners, linters, type checkers, and what may run them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from untilproven.guard.signals.commands import Command

Purpose = Literal["tests", "lint", "types", "anything"]
"""`anything` is said of what runs other commands that are not seen here: a script, a task runner."""

_TOOLS: dict[str, Purpose] = {
    **dict.fromkeys(
        ("pytest", "py.test", "unittest", "nosetests", "nose2", "stestr", "trial", "behave", "robot", "doctest")
        + ("jest", "vitest", "mocha", "ava", "tap", "tape", "karma", "jasmine", "playwright", "cypress", "wtr", "lab")
        + (
            "nyc",
            "c8",
            "rspec",
            "phpunit",
            "pest",
            "ctest",
            "prove",
            "bats",
            "gotestsum",
            "ginkgo",
            "cucumber",
            "mutmut",
        )
        + (
            "stryker",
            "cargo-nextest",
            "uvu",
            "qunit",
            "zuul",
            "testem",
            "web-test-runner",
            "react-scripts",
            "runtests.py",
        ),
        "tests",
    ),
    **dict.fromkeys(
        ("ruff", "flake8", "pylint", "pycodestyle", "pydocstyle", "pyflakes", "black", "isort", "bandit", "vulture")
        + ("eslint", "jshint", "jscs", "standard", "xo", "biome", "oxlint", "tslint", "stylelint", "prettier", "dprint")
        + ("golangci-lint", "golint", "staticcheck", "gofmt", "gofumpt", "goimports", "revive", "errcheck", "gosec")
        + (
            "rubocop",
            "shellcheck",
            "yamllint",
            "codespell",
            "pre-commit",
            "prek",
            "lint-imports",
            "interrogate",
            "rustfmt",
        )
        + ("hadolint", "actionlint", "zizmor", "ktlint", "detekt", "phpcs", "clang-format", "clang-tidy", "misspell"),
        "lint",
    ),
    **dict.fromkeys(
        ("mypy", "pyright", "basedpyright", "pytype", "pyre", "ty", "tsc", "vue-tsc", "tsd", "attw", "flow", "phpstan")
        + ("psalm", "dtslint", "publint"),
        "types",
    ),
    **dict.fromkeys(
        ("tox", "tox4", "nox", "hatch", "invoke", "doit", "act", "bazel", "bazelisk", "earthly", "dagger"), "anything"
    ),
}
_TASK_RUNNERS = frozenset(
    {"make", "gmake", "just", "task", "rake", "ninja", "nx", "turbo", "lerna", "wireit", "moon", "grunt", "gulp"}
    | {"npm", "pnpm", "yarn", "bun", "npm-run-all", "run-s", "run-p", "concurrently", "composer", "mix", "poe", "inv"}
    | {"deno", "go", "cargo", "cross", "mvn", "mvnw", "gradle", "gradlew", "dotnet", "swift", "rails", "zig", "sbt"}
    | {"stack", "cabal", "tox", "nox", "hatch", "invoke", "melos", "flutter", "dart", "xcodebuild", "meson", "node"}
)
_WRAPPERS = frozenset(
    {"sudo", "env", "time", "nice", "timeout", "gtimeout", "xvfb-run", "command", "exec", "npx", "bunx", "pnpx", "uv"}
    | {
        "poetry",
        "pdm",
        "pipenv",
        "rye",
        "pixi",
        "conda",
        "bundle",
        "coverage",
        "cross-env",
        "dotenv",
        "retry",
        "stdbuf",
    }
    | {
        "docker",
        "docker-compose",
        "podman",
        "nix",
        "nix-shell",
        "uvx",
        "pipx",
        "travis_wait",
        "travis_retry",
        "dbus-run-session",
    }
    | {
        "kcov",
        "valgrind",
        "firejail",
        "hatch",
        "yarn",
        "pnpm",
        "npm",
        "bun",
        "wine",
        "arch",
        "busybox",
        "doppler",
        "c8",
        "nyc",
    }
)
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "source", ".", "pwsh", "powershell", "cmd"})
_INTERPRETER = re.compile(
    r"(?:python|pypy|py)[\d.]*(?:\.exe)?|node|nodejs|ruby|perl|php|tsx|ts-node|deno|bun|julia|Rscript"
)
_SUB: dict[str, dict[str, Purpose]] = {
    "go": {"test": "tests", "vet": "lint"},
    "cargo": {
        "test": "tests",
        "t": "tests",
        "nextest": "tests",
        "llvm-cov": "tests",
        "tarpaulin": "tests",
        "miri": "tests",
    }
    | {
        "clippy": "lint",
        "fmt": "lint",
        "deny": "lint",
        "check": "types",
        "c": "types",
        "hack": "types",
        "semver-checks": "types",
    },
    "dotnet": {"test": "tests", "format": "lint"},
    "swift": {"test": "tests"},
    "flutter": {"test": "tests", "analyze": "lint"},
    "dart": {"test": "tests", "analyze": "lint"},
    "deno": {"test": "tests", "lint": "lint", "check": "types"},
    "bun": {"test": "tests"},
    "mvn": {"test": "tests", "verify": "tests", "install": "tests", "package": "tests", "integration-test": "tests"}
    | {"deploy": "tests"},
    "gradle": {"test": "tests", "check": "tests", "build": "tests", "allTests": "tests", "lint": "lint"},
    "mix": {"test": "tests", "credo": "lint", "dialyzer": "types"},
    "zig": {"test": "tests"},
    "sbt": {"test": "tests", "+test": "tests"},
    "meson": {"test": "tests"},
    "ninja": {"test": "tests"},
}
_SUB["cross"] = _SUB["cargo"]
_SUB["mvnw"], _SUB["gradlew"] = _SUB["mvn"], _SUB["gradle"]

_SAYS: tuple[tuple[Purpose, re.Pattern[str]], ...] = (
    ("types", re.compile(r"(?i)(?:^|[^a-z])(?:types?|type-?check|tsc|mypy|pyright|tsd|attw)(?:$|[^a-z])")),
    ("lint", re.compile(r"(?i)(?:^|[^a-z])(?:es|js|ts|go)?(?:lint(?:er|ing|ers)?|style|flake8|ruff|clippy|vet|fmt|format|prettier)(?:$|[^a-z])")),
    ("tests", re.compile(r"(?i)(?:^|[^a-z])(?:run)?_?(?:unit|smoke)?(?:tests?|specs?|e2e|unit|integration|cov(?:erage)?|tox|pytest|cargo-test|gotest|testall|checks?|verify|validate|ci)(?:$|[^a-z])")),
)  # fmt: skip
_NOT_RUN = re.compile(
    r"(?i)(?:^|[^a-z])(?:install|setup|deps|clean|build|docs?|publish|release|deploy|upload|report)(?:$|[^a-z])"
)
_OF_TARGETS = frozenset({"make", "gmake", "just", "rake", "invoke", "npm-run-all", "run-s", "run-p"})
_TARGET = re.compile(r"[A-Za-z_][\w:.-]*")
_VERSION = frozenset(
    {"--version", "-V", "--help", "-h", "version", "help", "install", "uninstall", "add", "sync", "cache", "pip"}
)


class Check(msgspec.Struct, frozen=True):
    """A command that verifies."""

    purpose: Purpose
    tool: str
    """`pytest`, `go test`, `npm run lint`."""
    command: Command

    @property
    def is_heard(self) -> bool:
        return not self.command.is_swallowed


@lru_cache(maxsize=4096)
def _check_in(command: Command) -> Check | None:
    """None for a command that verifies nothing, as far as can be seen."""
    words = _without_assignments(command.words)
    if not words:
        return None
    found = _tool(words)
    return Check(found[0], found[1], command) if found else None


def checks_in(commands: Iterable[Command]) -> list[Check]:
    return [check for command in commands for one in _apart(command) if (check := _check_in(one))]


def _apart(command: Command) -> Iterator[Command]:
    """`make lint test` are two commands."""
    words = _without_assignments(command.words)
    targets = [word for word in words[1:] if _TARGET.fullmatch(word)]
    if len(targets) < 2 or base(words[0]) not in _OF_TARGETS:
        yield command
        return
    rest = [word for word in words if word not in targets]
    for target in targets:
        yield msgspec.structs.replace(command, words=(*rest, target))


def purpose_of_name(name: str) -> Purpose | None:
    """What a script, a target or an action of this name is for."""
    if _NOT_RUN.search(name) and not re.search(r"(?i)(?:^|[^a-z])(?:test|lint)", name):
        return None
    return next((purpose for purpose, says in _SAYS if says.search(name)), None)


def _tool(words: list[str]) -> tuple[Purpose, str] | None:
    first = base(words[0])
    if first in _SHELLS:
        return _of_shell(words)
    if _INTERPRETER.fullmatch(first) and not (first in _SUB and words[1:2] and words[1] in _SUB[first]):
        return _of_interpreter(words)
    if first in _WRAPPERS and not _VERSION.isdisjoint(words[1:3]):
        return None
    if first in _WRAPPERS and first != "hatch":
        for at, word in enumerate(words[1:], start=1):
            name = base(word)
            if name in _TOOLS and first not in {"npm", "pnpm", "yarn", "bun"}:
                return _tool(words[at:])
            if word == "-m" or _INTERPRETER.fullmatch(name) or name in _SHELLS:
                return _tool(["python", *words[at:]] if word == "-m" else words[at:])
            if name in _TASK_RUNNERS and first not in {"npm", "pnpm", "yarn", "bun"}:
                return _tool(words[at:])
    if first in _TASK_RUNNERS:
        return _of_runner(first, words)
    if first in _TOOLS:
        return None if words[1:2] and words[1] in _VERSION and first != "pre-commit" else (_TOOLS[first], first)
    if first in _WRAPPERS:
        return ("tests", "coverage report") if any(word.startswith("--fail-under") for word in words) else None
    return _of_path(words[0])


def _of_shell(words: list[str]) -> tuple[Purpose, str] | None:
    for at, word in enumerate(words[1:], start=1):
        if word in {"-c", "-lc", "-ec", "-xc"}:
            return _tool(words[at + 1].split()) if words[at + 1 : at + 2] and words[at + 1].split() else None
        if not word.startswith("-"):
            return _of_path(word, runs=True)
    return None


def _of_interpreter(words: list[str]) -> tuple[Purpose, str] | None:
    for at, word in enumerate(words[1:], start=1):
        if re.fullmatch(r"-[A-Za-z]*m", word):
            rest = words[at + 1 :]
            return _tool(rest) if rest and (base(rest[0]) in _TOOLS or base(rest[0]) in _WRAPPERS) else None
        if word == "--test":
            return "tests", "node --test"
        if re.fullmatch(r"-[a-z]*[cep]|--(?:eval|print)", word):
            return None
        if not word.startswith("-"):
            if base(word) in {"setup.py", "manage.py", "runtests.py", "x.py"}:
                return ("tests", f"{base(word)} test") if "test" in words else None
            return _of_path(word, runs=True) if "/" in word or "." in word else None
    return None


def _of_path(word: str, *, runs: bool = False) -> tuple[Purpose, str] | None:
    """A script; of one whose name says nothing, anything may be expected."""
    if not runs and "/" not in word and not word.endswith((".sh", ".bat", ".ps1")):
        return None
    if word.startswith(("/", "~", "$HOME", "http")) or " " in word:
        return None
    purpose = purpose_of_name(word)
    if purpose is None and _NOT_RUN.search(word):
        return None
    return purpose or "anything", word.removeprefix("./")


def _of_runner(first: str, words: list[str]) -> tuple[Purpose, str] | None:
    if first in {
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "composer",
        "poe",
        "npm-run-all",
        "run-s",
        "run-p",
        "deno",
        "lerna",
        "nx",
        "turbo",
    }:
        return _of_packages(first, words)
    named = [word for word in words[1:] if not word.startswith(("-", "+")) and "=" not in word]
    if first in _SUB:
        known = _SUB[first]
        for word in named:
            name = word.rpartition(":")[2]
            if purpose := known.get(name):
                return purpose, f"{first.removesuffix('w')} {name}"
            if first in {"gradle", "gradlew", "sbt", "mvn", "mvnw"} and (said := purpose_of_name(_spaced(name))):
                return said, f"{first.removesuffix('w')} {name}"
        return None
    if first in _TOOLS:
        said = purpose_of_name(" ".join(named))
        return said or "anything", first if not named else f"{first} {' '.join(named[:3])}"
    for word in named:
        if said := purpose_of_name(word):
            return said, f"{first} {word}"
    if all(_NOT_RUN.search(word) for word in named) and named:
        return None
    return "anything", f"{first} {' '.join(named[:3])}".strip()


def _of_packages(first: str, words: list[str]) -> tuple[Purpose, str] | None:
    for word in words[1:]:
        if word.startswith("-") or word in {
            "run",
            "run-script",
            "workspaces",
            "workspace",
            "exec",
            "task",
            "foreach",
            "dlx",
        }:
            continue
        if word in {"t", "tst"} and first == "npm":
            return "tests", "npm test"
        if word in {"ci", "install", "i", "add", "publish", "pack", "audit", "build"}:
            return None
        if base(word) in _TOOLS:
            return _TOOLS[base(word)], base(word)
        if purpose := purpose_of_name(_spaced(word)):
            return purpose, f"{first} {word}"
    return None


def _spaced(name: str) -> str:
    """`testDebugUnitTest` in words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)


def _without_assignments(words: Sequence[str]) -> list[str]:
    at = next((at for at, word in enumerate(words) if not re.match(r"[A-Za-z_]\w*=", word)), len(words))
    return [word.lstrip("@-") if not at_ and len(word) > 1 else word for at_, word in enumerate(words[at:])]


def base(word: str) -> str:
    """A program's name without where it lies, or what a variable is called that holds it."""
    if found := re.fullmatch(r"\$[({]?([A-Z_]+)[)}]?", word):
        return found[1].lower()
    return word.rpartition("/")[2].removesuffix(".cmd").removesuffix(".exe")
