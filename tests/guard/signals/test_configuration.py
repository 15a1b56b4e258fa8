"""Configuration that asks for less than it did."""

import pytest

from guard.signals.compared import found, names
from untilproven.guard.signals.configuration import configuration

PYTEST = "[tool.pytest.ini_options]\naddopts = [{}]\n"


@pytest.mark.parametrize(
    ("before", "after", "now"),
    [
        ('"-q"', '"-q", "--ignore=tests/test_a.py"', "--ignore tests/test_a.py"),
        ('"-q"', '"-q", "--deselect", "tests/test_a.py::test_b"', "--deselect tests/test_a.py::test_b"),
        ('"-q"', '"-q", "-k", "not slow"', "-k not slow"),
        ('"-q"', '"-m", "not slow"', "-m not slow"),
        ('"-q"', '"--collect-only"', "--collect-only"),
    ],
)
def test_options_that_keep_tests_from_running(before: str, after: str, now: str) -> None:
    (signal,) = found(
        configuration, {"pyproject.toml": PYTEST.format(before)}, {"pyproject.toml": PYTEST.format(after)}
    )
    assert (signal.name, signal.subject, signal.now) == ("collection-narrowed", "pytest.addopts", now)


@pytest.mark.parametrize("after", ['"-ra", "--strict-markers"', '"-n", "auto"', '"--ignore=docs"', '"-p", "xdist"'])
def test_options_that_do_not(after: str) -> None:
    before = {"pyproject.toml": PYTEST.format('"-q"')}
    assert found(configuration, before, {"pyproject.toml": PYTEST.format(after)}) == []


@pytest.mark.parametrize(
    ("path", "text", "loose", "strict", "what"),
    [
        ("pytest.ini", "[pytest]\nnorecursedirs = {}\n", "build tests/slow", "build", "collection"),
        ("pytest.ini", "[pytest]\ntestpaths = {}\n", "tests", "tests e2e", "collection"),
        ("pytest.ini", "[pytest]\npython_files = {}\n", "test_*.py", "test_*.py *_test.py", "collection"),
        ("pytest.ini", "[pytest]\nxfail_strict = {}\n", "false", "true", "collection"),
        ("jest.config.js", "module.exports = {{ testPathIgnorePatterns: [{}] }};", "'a.test.js'", "", "collection"),
        (
            "package.json",
            '{{"jest": {{"testMatch": [{}]}}}}',
            '"**/a.test.js"',
            '"**/a.test.js", "**/*.spec.js"',
            "collection",
        ),
        ("package.json", '{{"jest": {{"passWithNoTests": {}}}}}', "true", "false", "collection"),
        ("vitest.config.ts", "export default {{ test: {{ exclude: [{}] }} }};", "'a.spec.ts'", "", "collection"),
        (".mocharc.yml", "ignore: [{}]\n", "test/slow.js", "", "collection"),
        ("Cargo.toml", "[package]\nname = 'a'\n[lib]\ntest = {}\n", "false", "true", "collection"),
        (".coveragerc", "[run]\nomit =\n    a/x.py\n    {}\n", "a/hard.py", "", "coverage"),
        ("codecov.yml", "ignore: [{}]\n", "src/hard", "", "coverage"),
        ("pyproject.toml", "[tool.ruff.lint]\nselect = [{}]\n", "'E'", "'E', 'F'", "lint"),
        ("ruff.toml", "[lint]\nignore = [{}]\n", "'E', 'F'", "'E'", "lint"),
        ("tox.ini", "[flake8]\nextend-ignore = {}\n", "E1,F4", "E1", "lint"),
        (".pylintrc", "[MESSAGES CONTROL]\ndisable=a,\n    {}\n", "b", "", "lint"),
        (".eslintrc.yml", "rules:\n  eqeqeq: {}\n", "off", "error", "lint"),
        (".eslintrc.json", '{{"rules": {{"complexity": [{}, 10]}}}}', "1", "2", "lint"),
        ("biome.json", '{{"linter": {{"rules": {{"style": {{"useConst": "{}"}}}}}}}}', "off", "error", "lint"),
        (".golangci.yml", "linters:\n  disable: [{}]\n", "a, errcheck", "a", "lint"),
        ("Cargo.toml", "[lints.rust]\nunsafe_code = '{}'\n", "warn", "forbid", "lint"),
        (".eslintignore", "dist\n{}\n", "src/hard.js", "", "lint"),
        (".pre-commit-config.yaml", "repos: [{{repo: a, hooks: [{}]}}]\n", "{id: a}", "{id: a}, {id: mypy}", "lint"),
        ("mypy.ini", "[mypy]\nstrict = {}\n", "False", "True", "types"),
        ("mypy.ini", "[mypy]\nstrict = True\n[mypy-a.*]\nignore_errors = {}\n", "True", "False", "types"),
        ("pyproject.toml", "[tool.mypy]\nexclude = [{}]\n", "'a', 'b'", "'a'", "types"),
        ("pyrightconfig.json", '{{"reportUnknownMemberType": "{}"}}', "none", "error", "types"),
        ("tsconfig.json", '{{"compilerOptions": {{"strictNullChecks": {}}}}} // said', "false", "true", "types"),
    ],
)
def test_a_setting_is_loosened_one_way_and_tightened_the_other(
    path: str, text: str, loose: str, strict: str, what: str
) -> None:
    before, after = {path: text.format(strict)}, {path: text.format(loose)}
    (signal,) = found(configuration, before, after)
    assert (signal.name.partition("-")[0], signal.path) == (what, path)
    assert found(configuration, after, before) == []


def test_a_project_that_had_none_is_not_weakened() -> None:
    after = {
        "ruff.toml": "ignore = ['E']\n",
        "tsconfig.json": '{"compilerOptions": {"strict": false}}',
        "packages/a/Cargo.toml": "[lib]\ntest = false\n",
    }
    assert found(configuration, {"Cargo.toml": "[package]\nname = 'a'\n"}, {"Cargo.toml": "[package]\n", **after}) == []


def test_what_keeps_tests_from_being_run_is_seen_the_first_time_it_is_said() -> None:
    after = {
        "tox.ini": "[pytest]\naddopts = -k easy\n",
        "jest.config.js": "module.exports = { testPathIgnorePatterns: ['a.test.js'] };",
        "web/package.json": '{"jest": {"testPathIgnorePatterns": ["b.test.js"]}}',
    }
    signals = found(configuration, {}, after)
    assert [(one.path, one.explained) for one in signals] == [("jest.config.js", ("new",)), ("tox.ini", ("new",))]


def test_names_of_tests_that_a_runner_was_not_told_before() -> None:
    before = {"pytest.ini": "[pytest]\naddopts = -q\n"}
    text = "[pytest]\naddopts = -q\npython_files = {}\n"
    assert names(configuration, before, {"pytest.ini": text.format("check_*.py")}) == ["collection-narrowed"]
    assert names(configuration, before, {"pytest.ini": text.format("test_*.py")}) == []


def test_what_may_be_said_for_it() -> None:
    def said(path: str, before: str, after: str) -> tuple[str, ...]:
        (signal,) = found(configuration, {path: before}, {path: after})
        return signal.explained

    assert said("pytest.ini", "[pytest]\ntestpaths = tests\n", "[pytest]\ntestpaths = test\n") == ("replaced",)
    assert said("pytest.ini", "[pytest]\nnorecursedirs = a\n", "[pytest]\nnorecursedirs = a b\n") == ("elsewhere",)
    assert said(".coveragerc", "[run]\nomit = a\n", "[run]\nomit =\n  a\n  tests/*\n") == ("tests-only",)
    assert said("mypy.ini", "[mypy]\nstrict = True\npretty = True\n", "[mypy]\npretty = True\n") == ("removed",)
    (signal,) = found(
        configuration,
        {"pytest.ini": "[pytest]\nnorecursedirs = a\n"},
        {"pytest.ini": "[pytest]\nnorecursedirs = a tests/types\n", "tests/types/b.py": "\n"},
    )
    assert signal.explained == ("new-place",)
    text = "export default {{ test: {{ exclude: ['a', {}] }} }};"
    path = "test/fixtures/one/vitest.config.ts"
    assert said(path, text.format(""), text.format("'b.test.ts'")) == ("in-tests",)


def test_a_setting_that_moved_is_the_same() -> None:
    before = {
        "setup.cfg": "[tool:pytest]\ntestpaths = tests\naddopts = -k easy\n[mypy]\nstrict = True\n",
        ".coveragerc": "[run]\nomit = a/*\n",
        ".flake8": "[flake8]\nignore = E1\n",
    }
    after = {
        "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\naddopts = '-k easy'\n"
        "[tool.mypy]\nstrict = true\n[tool.coverage.run]\nomit = ['a/*']\n",
        "tox.ini": "[flake8]\nextend-ignore = E1\n",
    }
    assert found(configuration, before, after) == []


def test_flags_that_strict_stands_for_are_not_missed() -> None:
    before = {"tsconfig.json": '{"compilerOptions": {"noImplicitAny": true, "strictNullChecks": true}}'}
    assert found(configuration, before, {"tsconfig.json": '{"compilerOptions": {"strict": true}}'}) == []


def test_cargo_finds_tests_that_are_listed_one_by_one() -> None:
    before = {"Cargo.toml": "[package]\nname = 'a'\n"}
    listed = "[package]\nname = 'a'\nautotests = false\n[[test]]\nname = 'all'\npath = 'tests/all.rs'\n"
    assert found(configuration, before, {"Cargo.toml": listed}) == []
    assert names(configuration, before, {"Cargo.toml": listed.partition("[[")[0]}) == ["collection-narrowed"]
    unit = listed.replace("autotests = false\n", "") + "[lib]\ntest = false\n"
    assert names(configuration, before, {"Cargo.toml": unit}) == ["collection-narrowed"]


def test_a_file_that_is_not_checked_where_it_was_not_before() -> None:
    def tree(excluded: str, path: str) -> dict[str, str]:
        return {"pyproject.toml": f'[tool.mypy]\nstrict = true\nexclude = ["{excluded}"]\n', path: "a = 1\n"}

    (signal,) = found(configuration, tree("docs", "b.py"), tree("examples/a.py", "examples/a.py"))
    assert (signal.name, signal.explained) == ("types-loosened", ("new-place",))
    (signal,) = found(configuration, tree("docs", "src/a.py"), tree("src/a.py", "src/a.py"))
    assert (signal.name, signal.explained) == ("types-loosened", ())
