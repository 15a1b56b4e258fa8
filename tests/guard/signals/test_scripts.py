"""Commands outside of CI by which people verify."""

import pytest

from guard.signals.compared import found, names
from untilproven.guard.signals.scripts import scripts


def package(test: str, **others: str) -> dict[str, str]:
    lines = ", ".join(f'"{name}": "{command}"' for name, command in {**others, "test": test}.items())
    return {"package.json": f'{{"scripts": {{{lines}}}}}'}


@pytest.mark.parametrize(
    ("before", "after", "name", "now"),
    [
        ("jest", "echo ok", "command-neutralised", "echo ok"),
        ("jest", "exit 0", "command-neutralised", "exit 0"),
        ("jest", "jest || true", "command-neutralised", "jest"),
        ("jest", "jest; exit 0", "command-neutralised", "jest"),
        ("jest", "jest --listTests", "command-neutralised", "--listTests"),
        ("./all-of-it", "./all-of-it || :", "command-neutralised", "./all-of-it"),
        ("acme verify", "acme verify || :", "command-neutralised", "acme verify; :"),
        ("jest", "jest --passWithNoTests", "command-weakened", "--passWithNoTests"),
        ("jest", "jest -t easy", "command-weakened", "-t easy"),
        ("jest", "jest src/easy.test.js", "command-weakened", "only src/easy.test.js"),
        ("vitest run", "vitest run --exclude hard", "command-weakened", "--exclude hard"),
        ("mocha", "mocha --grep easy", "command-weakened", "--grep easy"),
        ("eslint . && jest", "eslint .", "command-weakened", "no jest"),
    ],
)
def test_a_script_of_a_package(before: str, after: str, name: str, now: str) -> None:
    (signal,) = found(scripts, package(before), package(after))
    assert (signal.name, signal.subject, signal.now) == (name, "test", now)
    assert found(scripts, package(after), package(before)) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jest", "jest --coverage"),
        ("jest", "npx jest --ci"),
        ("jest", "vitest run"),
        ("jest", "npm run unit"),
        ("jest", "node scripts/all.js"),
        ("jest", "$(GO) test ./..."),
        ("jest", "yarn node --flag $(yarn bin jest)"),
        ("jest && eslint .", "eslint . && jest"),
        ("jest && (report || true)", "jest --ci && (report || true)"),
        ("echo no tests yet && exit 1", "jest"),
        ("jest --testPathIgnorePatterns old", "jest"),
        ("jest -t easy", "jest -t easy --ci"),
        ("jest src/a.test.js", "jest src/a.test.js src/b.test.js"),
    ],
)
def test_what_honest_people_change(before: str, after: str) -> None:
    assert found(scripts, package(before), package(after)) == []


def test_a_script_that_is_no_check_may_become_anything() -> None:
    assert found(scripts, package("jest", start="node ."), package("jest", start="true")) == []
    assert found(scripts, package("jest", start="node a/b.js"), package("jest", start="true")) == []


def test_what_else_verifies_is_said() -> None:
    (signal,) = found(
        scripts, package("jest", e2e="playwright test"), package("jest --passWithNoTests", e2e="playwright test")
    )
    assert signal.explained == ("others-left",)


def test_what_goes_with_the_project_is_not_it() -> None:
    before, after = package("jest")["package.json"], package("true")["package.json"]
    (signal,) = found(scripts, {"examples/a/package.json": before}, {"examples/a/package.json": after})
    assert (signal.name, signal.explained) == ("command-neutralised", ("side-project",))


def test_a_script_that_is_gone() -> None:
    none = {"package.json": '{"scripts": {"build": "tsc"}}'}
    (signal,) = found(scripts, package("jest"), none)
    assert (signal.name, signal.subject, signal.was, signal.explained) == ("command-removed", "test", "jest", ())
    assert found(scripts, package("jest"), {"package.json": '{"scripts": {"unit": "jest"}}'}) == []
    assert found(scripts, package("jest"), {**none, "Makefile": "test:\n\tnpx jest\n"}) == []
    assert found(scripts, package("jest"), {}) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Makefile", "test: build\n\t{}\n\nbuild:\n\tgo build\n"),
        ("justfile", "test:\n    {}\n"),
        ("Taskfile.yml", "tasks:\n  test:\n    cmds:\n      - {}\n"),
        ("tox.ini", "[testenv]\ncommands =\n    {}\n"),
        ("pyproject.toml", '[tool.poe.tasks]\ntest = "{}"\n'),
        ("pyproject.toml", '[tool.hatch.envs.default.scripts]\ntest = "{}"\n'),
        ("pyproject.toml", '[tool.tox.env.py]\ncommands = [["{}"]]\n'),
        ("scripts/test.sh", "set -e\n{}\n"),
        ("run-tests", "#!/bin/sh\n{}\n"),
    ],
)
def test_every_place_where_commands_stand(path: str, text: str) -> None:
    before = {path: text.format("pytest tests")}
    assert names(scripts, before, {path: text.format("pytest tests || true")}) == ["command-neutralised"]
    assert names(scripts, before, {path: text.format("pytest tests --deselect tests/a.py::b")}) == ["command-weakened"]
    assert names(scripts, before, {path: text.format("pytest -v tests")}) == []


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("Makefile", "test:\n\tgo test ./...\n", "test:\n\t-go test ./...\n"),
        ("Makefile", "test:\n\tgo test ./...\n", "test:\n\t@true\n"),
        ("Makefile", "test:\n\tgo test ./...\n", "test:\n"),
        ("tox.ini", "[testenv]\ncommands = pytest\n", "[testenv]\ncommands = - pytest\n"),
        ("a.sh", "set -e\npytest\nmypy .\n", "pytest\nmypy .\n"),
        ("a.sh", "set -euo pipefail\npytest\nmypy .\n", "set -u\npytest\nmypy .\n"),
        ("a.sh", "pytest\n", "pytest\nexit 0\n"),
        ("Makefile", "test:\n\tgo test ./a\n\tgo test ./b\n", "test:\n\tgo test ./a || true\n\tgo test ./b\n"),
        ("Makefile", "test:\n\tgo test\n\tcd b; go test\n", "test:\n\tgo test\n\tcd b; go test || true\n"),
        ("Makefile", "test: build\n\tgo test ./...\n", "test: build\n\t@echo ok\n"),
        ("Makefile", "test-all: build\n\ttox\n", "test-all: build\n\ttox || true\n"),
        (
            "noxfile.py",
            "def tests(session):\n    session.run('pytest')\n",
            "def tests(session):\n    session.run('pytest', success_codes=[0, 1])\n",
        ),
    ],
)
def test_ways_of_each_place(path: str, before: str, after: str) -> None:
    assert names(scripts, {path: before}, {path: after}) == ["command-neutralised"]
    assert names(scripts, {path: after}, {path: before}) == []


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ("go test ./...", "go test -short ./...", "command-weakened"),
        ("go test ./...", "go test ./pkg", "command-weakened"),
        ("go test ./...", "go test -run TestA ./...", "command-weakened"),
        ("go test ./...", "go test -run '^$' -bench . ./...", None),
        ("go test ./...", "go test -race ./...", None),
        ("go test ./...", "go test $(PACKAGES)", None),
        ("cargo test", "cargo test -- --skip slow", "command-weakened"),
        ("cargo test", "cargo test --no-run", "command-neutralised"),
        ("cargo test", "cargo test --workspace", None),
        ("mvn verify", "mvn verify -DskipTests", "command-neutralised"),
        ("./gradlew build", "./gradlew build -x test", "command-neutralised"),
        ("ruff check .", "ruff check . --exit-zero", "command-neutralised"),
        ("prettier --check .", "prettier --write .", "command-neutralised"),
        ("pytest", "pytest --ignore=docs", None),
        ("pytest", "python -m pytest", None),
        ("pytest tests", "pytest -m 'not slow' tests", "command-weakened"),
    ],
)
def test_options_of_each_tool(before: str, after: str, name: str | None) -> None:
    found = names(scripts, {"Makefile": f"check:\n\t{before}\n"}, {"Makefile": f"check:\n\t{after}\n"})
    assert found == ([name] if name else [])


def test_a_script_that_asks_for_the_status_itself_need_not_stop() -> None:
    after = "pytest\nstatus=$?\nrm -rf tmp\nexit $status\n"
    assert found(scripts, {"a.sh": "set -e\npytest\nrm -rf tmp\n"}, {"a.sh": after}) == []


def test_a_target_that_needs_another_is_not_empty() -> None:
    before = "fmt: all go\n\tgofmt -w .\n"
    assert found(scripts, {"Makefile": before}, {"Makefile": "fmt: all\n"}) == []
    before = "cov:\n\tpytest --cov\n"
    assert found(scripts, {"Makefile": before}, {"Makefile": "cov: coverage\n\ncoverage:\n\tpytest --cov\n"}) == []


@pytest.mark.parametrize("text", ["{", "", '{"scripts": 3}', '{"scripts": {"test": ["a"]}}', '{"scripts": null}'])
def test_odd_files_say_nothing(text: str) -> None:
    assert names(scripts, {"package.json": text}, package("jest")) == []
    assert names(scripts, {"package.json": text}, {"package.json": f"{text} "}) == []


def test_a_tool_that_is_no_longer_needed_at_all() -> None:
    both = '{"scripts": {"test:types": "tsd && tstyche"}, "devDependencies": {"tsd": "1", "tstyche": "2"}}'
    (signal,) = found(scripts, {"package.json": both}, {"package.json": both.replace("tsd && ", "")})
    assert signal.explained == ()
    gone = both.replace("tsd && ", "").replace('"tsd": "1", ', "")
    (signal,) = found(scripts, {"package.json": both}, {"package.json": gone})
    assert (signal.name, signal.explained) == ("command-weakened", ("tool-dropped",))


def test_a_linter_that_is_gone_by_its_name() -> None:
    before = {"Makefile": "test:\n\tpytest\n\nflake8:\n\tflake8 src\n"}
    (signal,) = found(scripts, before, {"Makefile": "test:\n\tpytest\n"})
    assert (signal.name, signal.explained) == ("command-removed", ("lint-only",))


def test_a_target_that_ci_runs_by_itself_now() -> None:
    before = {"Makefile": "test:\n\tgo test ./...\n\nbuild:\n\tgo build\n", ".travis.yml": "script: make test\n"}
    after = {"Makefile": "build:\n\tgo build\n", ".travis.yml": "script: go test -race ./...\n"}
    assert found(scripts, before, after) == []
    assert names(scripts, before, {**after, ".travis.yml": "script: go test ./... || true\n"}) == ["command-removed"]
