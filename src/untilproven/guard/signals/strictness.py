"""Keys of configuration by which way is stricter. Each is the name of a signal, and keys as `settings` calls them."""

import re

from untilproven.guard.outskirts import is_beside

COLLECTION, COVERAGE, LINT, TYPES = "collection-narrowed", "coverage-narrowed", "lint-loosened", "types-loosened"

Keys = tuple[tuple[str, re.Pattern[str]], ...]


def _keys(*rows: tuple[str, str]) -> Keys:
    return tuple((signal, re.compile(pattern)) for signal, pattern in rows)


MORE_IS_LESS = _keys(
    (COLLECTION, r"pytest\.norecursedirs|jest\.(?:.*\.)?(?:testPathIgnorePatterns|modulePathIgnorePatterns)"),
    (COLLECTION, r"vitest\.(?:.*\.)?(?<!coverage\.)(?<!optimizeDeps\.)exclude|mocha\.(?:ignore|exclude)"),
    (COLLECTION, r"playwright\.(?:.*\.)?(?:testIgnore|grepInvert)|mocha\.f?grep|nextest\..*\.default-filter"),
    (COVERAGE, r"coverage\.(?:run|report)\.omit|coverage\.report\.(?:exclude_lines|exclude_also)|nyc\.exclude"),
    (COVERAGE, r"jest\.(?:.*\.)?coveragePathIgnorePatterns|vitest\.coverage\.exclude|codecov\.ignore"),
    (COVERAGE, r"sonar\.(?:coverage\.)?exclusions"),
    (LINT, r"(?:ruff|flake8)\.(?:extend-)?(?:ignore|exclude)|ruff\.(?:extend-)?per-file-ignores\..*"),
    (LINT, r"flake8\.per-file-ignores|pylint\.(?:.*\.)?disable|biome\..*ignore"),
    (LINT, r"eslint\.(?:.*\.)?(?:ignorePatterns|ignores)"),
    (LINT, r"golangci\.linters\.disable|golangci\.run\.skip-.*|golangci\.issues\.exclude(?:-.*)?"),
    (TYPES, r"mypy\.(?:.*\.)?(?:exclude|disable_error_code)|pyright\.(?:ignore|exclude)"),
)
"""Lists of what is left out."""
LESS_IS_LESS = _keys(
    (COLLECTION, r"pytest\.(?:testpaths|python_files|python_classes|python_functions)"),
    (COLLECTION, r"jest\.(?:.*\.)?(?:testMatch|testRegex|roots)|vitest\.include|mocha\.spec|ava\.files"),
    (COLLECTION, r"playwright\.(?:.*\.)?(?:testMatch|testDir)|playwright\.projects\.name"),
    (COVERAGE, r"coverage\.run\.source"),
    (LINT, r"(?:ruff|flake8)\.(?:extend-)?select|golangci\.linters\.enable|pre-commit\.repos\.hooks\.id"),
)
"""Lists of what is looked at."""
ON_IS_STRICT = _keys(
    (TYPES, r"mypy\.(?:.*\.)?(?:strict\w*|disallow_\w+|check_untyped_defs|warn_(?!unused_configs)\w+)"),
    (TYPES, r"mypy\.(?:.*\.)?(?:no_implicit_\w+|extra_checks)"),
    (TYPES, r"tsconfig\.compilerOptions\.(?:strict\w*|noImplicit\w+|noUnchecked\w+|noUnused\w+|exactOptional\w+)"),
    (TYPES, r"tsconfig\.compilerOptions\.(?:checkJs|useUnknownInCatchVariables|noFallthrough\w+)"),
    (COLLECTION, r"pytest\.(?:xfail_strict|strict(?:_config|_markers|_parametrization_ids)?)"),
    (COLLECTION, r"cargo\.(?:lib|test)\.test|cargo\.package\.autotests|cargo\.test\.harness"),
)
ON_IS_LOOSE = _keys(
    (COLLECTION, r"(?:jest|vitest)\.(?:.*\.)?passWithNoTests|vitest\.(?:.*\.)?dangerouslyIgnoreUnhandledErrors"),
    (COLLECTION, r"mocha\.invert|testenv.*\.ignore_outcome"),
    (TYPES, r"mypy\.(?:.*\.)?ignore_errors"),
    (LINT, r"golangci\.linters\.disable-all|golangci\.issues\.new"),
)
LEVELS = _keys(
    (LINT, r"eslint\.(?:.*\.)?rules\.[^.]+|biome\.linter\.rules\..*"),
    (LINT, r"cargo\.(?:workspace\.)?lints\.\w+\.[\w-]+(?:\.level)?"),
    (TYPES, r"pyright\.(?:typeCheckingMode|report\w+)"),
)
LEVEL = {
    **dict.fromkeys(("off", "0", "none", "allow", "false"), 0),
    **dict.fromkeys(("warn", "1", "information", "info", "basic"), 1),
    **dict.fromkeys(("warning", "standard"), 2),
    **dict.fromkeys(("error", "2", "deny", "strict", "true", "on"), 3),
    "forbid": 4,
}
RETRIES = re.compile(r"nextest\..*\.retries|playwright\.(?:.*\.)?retries|vitest\.retry|mocha\.retries")
FOUND_BY_DEFAULT = {
    "pytest.python_files": ("test_a.py", "test_zip.py"),
    "pytest.python_classes": ("TestA", "TestZip"),
    "pytest.python_functions": ("test_a", "test_zip"),
}
"""What a runner finds that was told nothing."""

OF_TESTS = re.compile(r"(?:^|[^A-Za-z])(?i:tests?|testing|specs?|e2e|unittests?)(?:$|[^A-Za-z])|[a-z](?:Test|Spec)")
NOBODY_TESTS = re.compile(
    r"(?i)(?:\*\*/|/|\./|<rootDir>/)*(?:\.?\*?\.?(?:git|hg|svn|bzr|cache|idea|output|temp|tox|nox|venv|egg|egg-info)"
    r"|\.\*|\{arch\}|CVS|_darcs|env\*?|build|dist|lib|out|docs?|node_modules|vendor|site-packages|(?:__)?fixtures(?:__)?"
    r"|(?:__)?(?:tests?|specs?)(?:__)?/(?:__)?(?:helpers?|support|mocks?)(?:__)?"
    r"|(?:[\w.-]+/)*_version\\?\.py|coverage|typings|\*\.(?:d|config)\..*|\.\.\.\S*[eE]xclude|\$\{.*)(?:/\**)*(?:/.*)?"
)
"""What is left out of every project."""
CHOSEN = re.compile(r"playwright\..*|mocha\.(?:f?grep|invert)|nextest\..*|testenv:.*")
"""Said where one run takes some tests and another the rest."""
_AMONG_TESTS = re.compile(r"(?:jest|mocha)\..*")
_PLAIN = re.compile(r"[\w.-]+")


def counts(item: str) -> bool:
    """Whether it is left out on purpose; with a sign in front it is taken in again."""
    return not item.startswith("!") and NOBODY_TESTS.fullmatch(item) is None


def is_chosen(key: str, items: list[str]) -> bool:
    """Of a plain word it can not be seen whether it stands for tests or for what holds none."""
    if CHOSEN.fullmatch(key):
        return True
    others = [item for item in items if not _PLAIN.fullmatch(item) or is_beside(f"{item}/")]
    return _AMONG_TESTS.fullmatch(key) is not None and not others and not any(map(OF_TESTS.search, items))


def signal_for(keys: Keys, key: str) -> str | None:
    return next((signal for signal, pattern in keys if pattern.fullmatch(key)), None)
