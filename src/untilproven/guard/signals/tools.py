"""Programs by what they verify, and those that run others."""

import re
from typing import Literal

Purpose = Literal["tests", "lint", "types", "anything"]
"""`anything` is said of what runs other commands that are not seen here: a script, a task runner."""


def _all(names: str, purpose: Purpose) -> dict[str, Purpose]:
    return dict.fromkeys(names.split(), purpose)


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


TOOLS: dict[str, Purpose] = {
    **_all(
        """pytest py.test unittest nosetests nose2 stestr trial behave robot doctest mutmut runtests.py jest vitest
        mocha ava tap tape karma jasmine wtr web-test-runner lab nyc c8 uvu qunit zuul testem
        stryker rspec cucumber phpunit pest ctest prove bats gotestsum ginkgo cargo-nextest""",
        "tests",
    ),
    **_all(
        """ruff flake8 pylint pycodestyle pydocstyle pyflakes black isort bandit vulture interrogate codespell
        lint-imports eslint jshint jscs standard xo biome oxlint tslint stylelint prettier dprint pre-commit prek
        golangci-lint golint staticcheck gofmt gofumpt goimports revive errcheck gosec misspell rustfmt rubocop phpcs
        shellcheck yamllint hadolint actionlint zizmor ktlint detekt clang-format clang-tidy""",
        "lint",
    ),
    **_all(
        "mypy pyright basedpyright pytype pyre ty tsc vue-tsc tsd tstyche attw flow phpstan psalm dtslint publint",
        "types",
    ),
    **_all("tox tox4 nox hatch invoke doit act bazel bazelisk earthly dagger", "anything"),
}

WHOLE_SUITES = frozenset({"tox", "nox"})
"""Of other programs that may run anything, it is not known that they verify."""

_CARGO = {
    **_all("test t nextest llvm-cov tarpaulin miri", "tests"),
    **_all("clippy fmt deny", "lint"),
    **_all("check c hack semver-checks", "types"),
}
_MAVEN = _all("test verify install package integration-test", "tests")
_GRADLE = _all("test check build allTests", "tests") | _all("lint", "lint")

SUBCOMMANDS: dict[str, dict[str, Purpose]] = {
    "go": {"test": "tests", "vet": "lint"},
    "cargo": _CARGO,
    "cross": _CARGO,
    "dotnet": {"test": "tests", "format": "lint"},
    "swift": {"test": "tests"},
    "flutter": {"test": "tests", "analyze": "lint"},
    "dart": {"test": "tests", "analyze": "lint"},
    "deno": {"test": "tests", "lint": "lint", "check": "types"},
    "bun": {"test": "tests"},
    "mvn": _MAVEN,
    "mvnw": _MAVEN,
    "gradle": _GRADLE,
    "gradlew": _GRADLE,
    "mix": {"test": "tests", "credo": "lint", "dialyzer": "types"},
    "zig": {"test": "tests"},
    "sbt": {"test": "tests", "+test": "tests"},
    "meson": {"test": "tests"},
    "react-scripts": {"test": "tests"},
    "playwright": {"test": "tests"},
    "cypress": {"run": "tests"},
    "ninja": {"test": "tests"},
}
"""Of programs that do many things, the words that verify."""

PACKAGE_RUNNERS = _set("npm pnpm yarn bun composer poe npm-run-all run-s run-p deno lerna nx turbo")
"""They run scripts of a package by name."""
TARGET_RUNNERS = _set("make gmake just task rake invoke inv grunt gulp wireit moon tox tox4 nox hatch")
"""They run targets that a file of the project defines."""
MANY_TARGETS = _set("make gmake just rake invoke npm-run-all run-s run-p")
"""Each word is a target of its own."""
WRAPPERS = _set(
    """sudo env time nice timeout gtimeout xvfb-run command exec npx bunx pnpx uv uvx pipx poetry pdm pipenv rye pixi
    conda bundle coverage cross-env dotenv retry stdbuf docker docker-compose podman nix nix-shell travis_wait
    travis_retry dbus-run-session kcov valgrind wine busybox doppler c8 nyc rustup"""
)
"""What they run stands behind them."""
SHELLS = _set("sh bash zsh dash source . pwsh powershell cmd")
INTERPRETER = re.compile(
    r"(?:python|pypy|py)[\d.]*(?:\.exe)?|node|nodejs|ruby|perl|php|tsx|ts-node|deno|bun|julia|Rscript"
)
HARMLESS = _set(
    """cd ls pwd cat echo printf export set mkdir cp mv rm ln chmod touch tar unzip curl wget git true : exit pip pip3
    apt apt-get brew choco gem rustup corepack nvm source . which env sleep date test [ [[ uname dpkg yum dnf"""
)
"""Programs of which no verifying is expected."""
NOT_VERIFYING = _set("--version -V --help -h version help install uninstall add sync cache pip ci i publish pack audit")

_EDGE, _END = r"(?i)(?:^|[^a-z])", r"(?:$|[^a-z])"
_OF_TYPES = r"types?|type-?check|typescript|tsc|mypy|pyright|tsd|attw"
_OF_LINT = r"(?:es|js|ts|go)?(?:lint(?:er|ing|ers)?|style|flake8|ruff|clippy|vet|fmt|format|prettier)"
_OF_TESTS = (
    r"(?:run)?_?(?:unit|smoke)?(?:tests?|specs?|e2e|unit|integration|cov(?:erage)?|tox|pytest|gotest|testall|checks?"
    r"|verify|validate|(?<!bench[:-])ci)"
)
SAYS: tuple[tuple[Purpose, re.Pattern[str]], ...] = (
    ("types", re.compile(f"{_EDGE}(?:{_OF_TYPES}){_END}")),
    ("lint", re.compile(f"{_EDGE}(?:{_OF_LINT}){_END}")),
    ("tests", re.compile(f"{_EDGE}(?:{_OF_TESTS}){_END}")),
)
"""What a script or a target is for, by words of its name."""
CHECKING_GOAL = re.compile(
    r"(?:[\w.]+:)?[\w.-]+:(?:check|verify|compare|validate|enforce|analyze|lint|test|cmp)(?:-\w+)*"
)
"""Goals of Maven's plugins that verify."""
PREPARES = re.compile(f"{_EDGE}(?:install|setup|deps|clean|build|docs?|publish|release|deploy|upload|report){_END}")
