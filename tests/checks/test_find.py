"""The check that a project already has, found without running anything."""

import tomllib
from pathlib import Path

import pytest

from untilproven.checks.factory import checks_for
from untilproven.checks.find import find_checks, nothing_found
from untilproven.contract import Room


def project(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [found.command for found in find_checks(root)]


@pytest.mark.parametrize(
    ("files", "commands"),
    [
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, ["pytest"]),
        ({"pytest.ini": ""}, ["pytest"]),
        ({"setup.cfg": "[tool:pytest]\n"}, ["pytest"]),
        ({"tests/test_a.py": "def test_a(): pass"}, ["pytest"]),
        ({"tests/test_a.py": "import unittest"}, ["python3 -m unittest discover -s tests"]),
        ({"test_a.py": "import unittest"}, ["python3 -m unittest"]),
        ({"package.json": '{"scripts": {"test": "jest"}}'}, ["npm test"]),
        ({"package.json": '{"scripts": {"test": "jest"}}', "pnpm-lock.yaml": ""}, ["pnpm test"]),
        ({"package.json": '{"scripts": {"test": "jest"}}', "yarn.lock": ""}, ["yarn test"]),
        ({"package.json": '{"devDependencies": {"vitest": "1"}}'}, ["npx vitest run"]),
        ({"package.json": '{"dependencies": {"jest": "1"}}'}, ["npx jest"]),
        ({"Cargo.toml": ""}, ["cargo test"]),
        ({"go.mod": ""}, ["go test ./..."]),
        ({"pom.xml": ""}, ["mvn test"]),
        ({"pom.xml": "", "mvnw": ""}, ["./mvnw test"]),
        ({"build.gradle.kts": "", "gradlew": ""}, ["./gradlew test"]),
        ({"CMakeLists.txt": "enable_testing()"}, ["cmake -B build && cmake --build build && ctest --test-dir build"]),
        ({"a.sln": ""}, ["dotnet test"]),
        ({"spec/a_spec.rb": ""}, ["rspec"]),
        ({".rspec": "", "Gemfile": "gem 'rspec'"}, ["bundle exec rspec"]),
        ({"phpunit.xml.dist": ""}, ["phpunit"]),
        ({"phpunit.xml": "", "composer.json": '{"require-dev": {"phpunit/phpunit": "9"}}'}, ["vendor/bin/phpunit"]),
        ({"Makefile": "check: a\n\ttrue\ntest:\n\ttrue\n"}, ["make test", "make check"]),
        ({"tox.ini": "[testenv]\n"}, ["tox"]),
        ({"noxfile.py": ""}, ["nox"]),
        ({"pytest.ini": "", "tests/test_a.py": "", "Makefile": "test:\n"}, ["pytest", "make test"]),
    ],
)
def test_a_project_is_known_by_its_files(tmp_path: Path, files: dict[str, str], commands: list[str]) -> None:
    assert project(tmp_path, files) == commands


@pytest.mark.parametrize("package", [{}, {"tests/__init__.py": ""}], ids=["directory", "package"])
def test_what_is_found_for_unittest_runs(room: Room, package: dict[str, str]) -> None:
    test = "import unittest, mine\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
    [command] = project(room.root, {"mine.py": "", "tests/test_a.py": test, **package})
    [check] = checks_for([command])
    assert check.run(room, timeout=60).passed


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
        {"package.json": "not json", "pyproject.toml": "not = = toml"},
        {"package.json": '{"scripts": 1, "devDependencies": []}', "pyproject.toml": "tool = 1"},
        {"Makefile": "test := 1\nlatest:\n"},
        {"CMakeLists.txt": "project(x)"},
        {".github/workflows/ci.yml": "run: make test"},
    ],
)
def test_nothing_is_found_where_nothing_is(tmp_path: Path, files: dict[str, str]) -> None:
    assert project(tmp_path, files) == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    project(outside, {"pytest.ini": "", "tests/test_a.py": "", "go.mod": ""})
    root.mkdir()
    for name in ("pytest.ini", "tests", "go.mod"):
        (root / name).symlink_to(outside / name)
    assert find_checks(root) == []


def test_a_workflow_that_runs_it_too_is_said_in_the_reason(tmp_path: Path) -> None:
    project(tmp_path, {"go.mod": "", ".github/workflows/ci.yml": "- run: go test ./..."})
    assert find_checks(tmp_path)[0].why == "go.mod is here; .github/workflows/ci.yml runs it too"


def test_the_line_to_add_is_valid_settings() -> None:
    line = nothing_found().hint.rpartition("\n")[2].strip()
    assert tomllib.loads(line) == {"until": ["pytest -q"]}
