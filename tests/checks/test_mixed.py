"""What files that say many things say about tests."""

import pytest

from untilproven.checks.mixed import about_tests

SAME = [
    ("package.json", '{"dependencies": {}}', '{"dependencies": {"a": "1"}, "version": "2"}'),
    ("pyproject.toml", "[project]\nname = 'a'\n", "[project]\nname = 'a'\ndependencies = ['b']\n[tool.poetry]\n"),
    ("Cargo.toml", "[dependencies]\n", "[dependencies]\na = '1'\n"),
    ("go.mod", "module a\n", "module a\nrequire b v1.0.0\n"),
    ("requirements.txt", "a\n", "a\nb\n"),
    ("package-lock.json", "{}", '{"a": 1}'),
]
OTHER = [
    ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "exit 0"}}'),
    ("package.json", "{}", '{"jest": {"testPathIgnorePatterns": ["."]}}'),
    ("package.json", "{}", "not json at all"),
    ("pyproject.toml", "", "[tool.pytest.ini_options]\naddopts = '-k zero'\n"),
    ("pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n", "[tool.coverage.report]\nfail_under = 10\n"),
    ("setup.cfg", "[tool:pytest]\naddopts =\n", "[tool:pytest]\naddopts = -x\n"),
    ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n"),
    ("pyproject.toml", "", "[tool.ruff.lint]\nignore = ['ALL']\n"),
    ("setup.cfg", "[metadata]\n", "[coverage:report]\nfail_under = 0\n"),
    ("Cargo.toml", "", "[lib]\ntest = false\n"),
    ("go.mod", "module a\n", "module a\nreplace b => ./stub\n"),
    ("go.mod", "module a\nreplace (\n\tb => ./c\n)\n", "module a\nreplace (\n\tb => ./d\n)\n"),
    ("Makefile", "test:\n\tpytest\n", "test:\n\ttrue\n"),
    ("sub/Makefile", "test:\n\tpytest\n", "test:\n\ttrue\n"),
    ("pom.xml", "<project/>", "<project><skipTests/></project>"),
]


@pytest.mark.parametrize(("path", "before", "after"), SAME)
def test_what_is_not_about_tests_is_no_difference(path: str, before: str, after: str) -> None:
    assert about_tests(path, before.encode()) == about_tests(path, after.encode())


@pytest.mark.parametrize(("path", "before", "after"), OTHER)
def test_what_is_about_tests_is(path: str, before: str, after: str) -> None:
    assert about_tests(path, before.encode()) != about_tests(path, after.encode())


def test_a_new_file_that_says_nothing_about_tests_is_no_difference() -> None:
    assert about_tests("pyproject.toml", None) == about_tests("pyproject.toml", b"[project]\nname = 'a'\n")
    assert about_tests("pyproject.toml", None) != about_tests("pyproject.toml", b"[tool.pytest.ini_options]\nx = 1\n")


def test_what_cannot_be_read_is_compared_as_it_is() -> None:
    assert about_tests("pyproject.toml", b"\xff[") != about_tests("pyproject.toml", b"")
    assert about_tests("package.json", b"[" * 100_000) != about_tests("package.json", b"{}")
