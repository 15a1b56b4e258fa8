"""What a path of the tree is to a check, by its name alone: every question here is about text."""

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from untilproven.guard.shadows import shadows_a_runner

Kind = Literal["test", "configuration", "ci", "script", "mixed", "dependencies", "cache", "source"]

_CACHES = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".nyc_output", ".jest-cache"}
    | {".jest", ".vitest", ".parcel-cache", ".turbo", ".gradle", ".import_linter_cache", ".ccache", ".testmondata"}
    | {".phpunit.cache", ".phpunit.result.cache", ".coverage", ".eslintcache", ".stylelintcache", "htmlcov"}
)
_CACHED = r".*\.(?:pyc|pyo|tsbuildinfo)|\.coverage\..*|(?:coverage|lcov)\.(?:xml|info)"
_BUILT = {
    "target": frozenset({"debug", "release", ".fingerprint", "classes", "test-classes", "maven-status"})
    | {"surefire-reports", "failsafe-reports", "test-results"},
    "build": frozenset({"classes", "test-results", "tmp", "libs", "kotlin", "intermediates", "reports"})
    | {"CMakeFiles", "Testing", "CMakeCache.txt", "CTestTestfile.cmake"},
    "node_modules": frozenset({".cache", ".vite", ".vitest"}),
    "bin": frozenset({"Debug", "Release"}),
    "obj": frozenset({"Debug", "Release"}),
}
"""Directories of build tools, by what they put there: output that is newer than its source is not made again."""

_DEPENDENCIES = frozenset(
    {".venv", "venv", ".virtualenv", "virtualenv", ".tox", ".nox", "__pypackages__", "site-packages", "dist-packages"}
    | {"node_modules", "bower_components", "jspm_packages", ".yarn", ".pnp.cjs", ".pnp.loader.mjs", ".pnpm-store"}
    | {"vendor", ".bundle", "Pods", "elm-stuff", ".pixi", ".conda"}
)
_OF_ENVIRONMENTS = frozenset({"bin", "lib", "lib64", "include", "share", "Scripts", "pyvenv.cfg"})

_CI = (
    r"\.github/(?:workflows|actions)/.*|\.gitlab-ci(?:/.*|\.ya?ml)|\.circleci/.*|\.buildkite/.*|\.woodpecker(?:/.*|\.ya?ml)"
    r"|\.(?:travis|drone|cirrus|appveyor|semaphore/.*)\.?(?:ya?ml)?|appveyor\.ya?ml|azure-pipelines.*\.ya?ml"
    r"|bitbucket-pipelines\.ya?ml|Jenkinsfile.*|\.pre-commit-config\.ya?ml|codecov\.ya?ml|\.codecov\.ya?ml"
)

_CODE = r"(?:[cm]?[jt]sx?|json|ya?ml|toml)"
_CONFIGURATION = (
    r"conftest\.py|\.?pytest\.(?:ini|toml)|tox\.(?:ini|toml)|\.coveragerc|noxfile\.py|nose\.cfg|\.noserc|unittest\.cfg"
    r"|(?:site|user)customize\.py|.*\.pth|pyvenv\.cfg"
    r"|(?:jest|vitest|playwright|cypress|karma|ava|wdio|protractor|nightwatch|web-test-runner|jasmine|testcafe|stryker)"
    rf"[\w.-]*\.(?:config|conf|setup|workspace|preset|environment)[\w.-]*\.{_CODE}"
    rf"|(?:jest|vitest|mocha|karma|test)[-_.](?:setup|preset|globals|environment|bootstrap)[\w.-]*\.{_CODE}"
    rf"|set-?up-?[tT]ests?(?:-after-env)?\.{_CODE}|\.(?:mocharc|nycrc|c8rc|taprc|jestrc|jasmine)(?:\.{_CODE})?"
    rf"|(?:babel|tsconfig|\.babelrc)[.-](?:test|jest|spec)s?\.{_CODE}"
    r"|phpunit\.(?:xml|dist\.xml)(?:\.dist)?|behat\.ya?ml|codeception\.ya?ml|\.rspec(?:-local)?|cucumber\.ya?ml|\.cucumberrc"
    r"|testng.*\.xml|junit-platform\.properties|.*\.runsettings|xunit\.runner\.json|CTest(?:Custom|Config|Testfile)\.cmake"
    r"|nextest\.toml|tarpaulin\.toml|\.env\.test|\.npmrc"
    r"|mypy\.ini|\.mypy\.ini|pyrightconfig\.json|\.?ruff\.toml|\.flake8|\.?pylintrc|\.bandit|\.eslintrc.*|eslint\.config\..*"
    r"|\.eslintignore|biome\.jsonc?|\.golangci\.(?:ya?ml|toml|json)|\.?clippy\.toml|\.?rustfmt\.toml|phpstan\.neon(?:\.dist)?"
    r"|psalm\.xml|\.rubocop.*\.ya?ml|\.importlinter|\.prettierrc.*|\.stylelintrc.*"
)
_CONFIGURED_IN = (
    r"(?:.*/)?\.(?:cargo|mvn|config/nextest)(?:/.*)?\.(?:toml|config|xml|properties)|(?:.*/)?\.cargo/config"
    r"|(?:.*/)?[^/]+\.(?:dist|egg)-info/.*"
)

_MIXED = (
    r"package\.json|pyproject\.toml|(?:GNU)?[mM]akefile|.*\.mk|setup\.(?:cfg|py)|Cargo\.(?:toml|lock)|go\.(?:mod|sum|work)"
    r"|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-(?:lock|workspace)\.yaml|bun\.lockb?|deno\.(?:jsonc?|lock)"
    r"|requirements.*\.(?:txt|in)|constraints.*\.txt|Pipfile(?:\.lock)?|(?:poetry|uv|pdm)\.lock|environment\.ya?ml"
    r"|Gemfile(?:\.lock)?|.*\.gemspec|Rakefile|composer\.(?:json|lock)|pom\.xml|(?:build|settings)\.gradle(?:\.kts)?"
    r"|gradle(?:-wrapper)?\.properties|(?:.*\.)?versions\.(?:toml|properties)|.*\.(?:cs|fs|vb)proj|.*\.slnx?|Directory\..*\.props|packages\.lock\.json|CMakeLists\.txt"
    r"|tsconfig.*\.json|vite\.config\..*|babel\.config\..*|\.babelrc|bunfig\.toml|[jJ]ustfile|Taskfile\.ya?ml"
    r"|rust-toolchain(?:\.toml)?|meson\.build|BUILD(?:\.bazel)?|WORKSPACE|Package\.(?:swift|resolved)|mix\.(?:exs|lock)"
)
_TEST_DIRECTORIES = frozenset(
    {"test", "tests", "__tests__", "__test__", "spec", "__snapshots__", "__mocks__", "testdata", "test_data", "e2e"}
    | {"cypress", "unittests", "unit_tests", "integration_tests", "functional_tests", "test-data", "test-fixtures"}
)
_TEST_DIRECTORY = r"[a-z]+Test(?:Fixtures)?|(?:.*[.a-z])?(?:Unit|Integration|Functional)?Tests|.*\.Test|.*\.Specs?"
_TEST = (
    r"test_.*\.py|.*_tests?\.py|tests?\.py|.*[.](?:test|spec|e2e|cy)[.](?:[cm]?[jt]sx?|vue|svelte)|tests?\.[cm]?[jt]sx?"
    r"|test[-_].*\.[cm]?[jt]sx?|.*[-_](?:test|spec)\.[cm]?[jt]sx?|.*_test\.(?:go|rs|rb|exs?|dart|lua|c|cc|cpp|cxx|ml|zig)"
    r"|tests?\.(?:rs|zig)|.*_tests\.rs|test_.*\.(?:rb|rs|c|cc|cpp|lua|exs)|.*_spec\.(?:rb|lua|cr)"
    r"|(?:Test.+|.+(?:Tests?|TestCase|IT|Spec|Specs))\.(?:java|kt|kts|scala|groovy|php|cs|fs|vb|swift|hs|m|mm)"
    r"|.*\.(?:snap|t|bats|feature)|.*[tT]est\.(?:phpt|elm)|.*\.phpt"
)
_PRODUCT = r"((?:.*/)?)src/(?:main|[a-z]\w*Main)/(?:java|kotlin|scala|groovy)/.*(?<!Test)(?<!Tests)(?<!TestCase)\.\w+"
"""Where builds for the JVM keep what is delivered: a `TypeSpec` there is no test, nor is a package called `test`."""
_SHOWN = r"(?:.*/)?_?(?:examples?|samples?|demos?)/.*"
_PROSE = (
    r".*\.(?:md|mdx|rst|txt|adoc|markdown)|(?:.*/)?(?:LICENSE|CHANGELOG|AUTHORS|CODEOWNERS|\.gitignore)[^/]*|docs?/.*"
)


def kind_of(
    path: str,
    *,
    scripts: Collection[str] = (),
    built: Collection[str] = (),
    installed: Collection[str] = (),
    is_new: bool = False,
) -> Kind:
    """`scripts` are files that the check lines run, `built` and `installed` directories that tools are known to fill;
    only what is new can stand in the way of a module that was found elsewhere before."""
    if _is_cache(path) or _is_below(path, built):
        return "cache"
    if is_dependency(path) or _is_below(path, installed):
        return "dependencies"
    kind = _by_name(path)
    if kind in {"source", "test"} and is_new and shadows_a_runner(path):
        return "configuration"
    return "script" if kind == "source" and path in scripts else kind


def is_called_test(path: str) -> bool:
    """Whether nothing but its own plain name says that it is one: no directory, and not what it is a test of."""
    directory, _, name = path.rpartition("/")
    plain = re.fullmatch(r"tests?(\.\w+)", name)
    return plain is not None and _by_name(f"{directory}/module{plain[1]}".lstrip("/")) == "source"


def is_written(path: str) -> bool:
    """Whether it is neither a cache nor installed: less to ask than which kind it is."""
    return not _is_cache(path) and not is_dependency(path)


@lru_cache(maxsize=4096)
def is_dependency(path: str) -> bool:
    """Whether it is installed rather than written."""
    parts = path.split("/")
    if not _DEPENDENCIES.isdisjoint(parts):
        return True
    return any(one in {"env", ".env"} and below in _OF_ENVIRONMENTS for one, below in pairwise(parts))


@lru_cache(maxsize=4096)
def is_prose(path: str) -> bool:
    """Whether it is for readers, and no program does anything else because of it."""
    return _is(_PROSE, path)


@lru_cache(maxsize=4096)
def is_shown(path: str) -> bool:
    """Whether it only shows how the product is used."""
    return _is(_SHOWN, path)


def _is(pattern: str, text: str) -> bool:
    """Patterns are made when they are first needed; a name may have a line break in it."""
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def _is_below(path: str, directories: Collection[str]) -> bool:
    return any(path.startswith(f"{directory}/") for directory in directories)


@lru_cache(maxsize=4096)
def _is_cache(path: str) -> bool:
    parts = path.split("/")
    if not _CACHES.isdisjoint(parts) or _is(_CACHED, parts[-1]):
        return True
    return any(
        part in _BUILT and not _BUILT[part].isdisjoint(parts[at + 1 : at + 3]) for at, part in enumerate(parts[:-1])
    )


@lru_cache(maxsize=4096)
def _by_name(path: str) -> Kind:
    *directories, name = path.split("/")
    if _is(_CI, path):
        return "ci"
    if _is(_CONFIGURATION, name) or _is(_CONFIGURED_IN, path):
        return "configuration"
    if _is(_MIXED, name):
        return "mixed"
    if product := re.fullmatch(_PRODUCT, path, re.DOTALL):
        directories = product[1].split("/")
    elif _is(_TEST, name):
        return "test"
    if not _TEST_DIRECTORIES.isdisjoint(directories):
        return "test"
    return "test" if any(_is(_TEST_DIRECTORY, part) for part in directories) else "source"
