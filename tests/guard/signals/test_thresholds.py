"""Bars that are lower than they were."""

import pytest

from guard.signals.compared import found, names
from untilproven.guard.signals.thresholds import thresholds

CODECOV = "coverage:\n  status:\n    project:\n      default:\n        target: {}\n        informational: {}\n"
JACOCO = "<project><plugin>jacoco</plugin><minimum>{}</minimum><minimum>{}</minimum></project>\n"


@pytest.mark.parametrize(
    ("path", "text", "was", "now"),
    [
        ("pyproject.toml", "[tool.coverage.report]\nfail_under = {}\n", "92.5", "90"),
        ("setup.cfg", "[coverage:report]\nfail_under = {}\n", "90", "10"),
        (".coveragerc", "[report]\nfail_under = {}\n", "90", "10"),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "--cov=a --cov-fail-under={}"\n', "90", "10"),
        ("pytest.ini", "[pytest]\naddopts = -q\n    --cov-fail-under {}\n", "90", "10"),
        ("package.json", '{{"jest": {{"coverageThreshold": {{"global": {{"lines": {}}}}}}}}}', "90", "10"),
        (".nycrc", '{{"check-coverage": true, "branches": {}}}', "90", "10"),
        (
            "vitest.config.ts",
            "export default {{ test: {{ coverage: {{ thresholds: {{ lines: {} }} }} }} }};",
            "90",
            "10",
        ),
        ("vite.config.ts", "export default {{ test: {{ coverage: {{ thresholds: {{ lines: {} }} }} }} }};", "90", "10"),
        ("stryker.conf.json", '{{"thresholds": {{"break": {}}}}}', "60", "0"),
        ("codecov.yml", "coverage:\n  status:\n    patch:\n      default:\n        target: {}%\n", "80", "1"),
        ("build.gradle.kts", "jacoco {{ }}\nlimit {{ minimum = {}.toBigDecimal() }}\n", "0.9", "0.5"),
        ("Makefile", "cov:\n\tpytest --cov\n\tcoverage report --fail-under={}\n", "90", "10"),
        (
            ".github/workflows/a.yml",
            "jobs:\n  a:\n    steps:\n      - run: coverage report --fail-under={}\n",
            "90",
            "10",
        ),
    ],
)
def test_a_lower_number_is_seen_wherever_it_stands(path: str, text: str, was: str, now: str) -> None:
    (signal,) = found(thresholds, {path: text.format(was)}, {path: text.format(now)})
    assert (signal.name, signal.path, signal.was, signal.now) == ("threshold-lowered", path, was, now)
    assert signal.amount == pytest.approx(float(was) - float(now))
    assert found(thresholds, {path: text.format(now)}, {path: text.format(was)}) == []


def test_the_line_is_that_of_the_key() -> None:
    text = "[tool.coverage.run]\nbranch = true\n\n[tool.coverage.report]\nfail_under = {}\n"
    (signal,) = found(thresholds, {"pyproject.toml": text.format(9)}, {"pyproject.toml": text.format(8)})
    assert signal.line == 5


@pytest.mark.parametrize(
    ("path", "text", "was", "now"),
    [
        ("package.json", '{{"scripts": {{"lint": "eslint . --max-warnings={}"}}}}', "0", "99"),
        (".flake8", "[flake8]\nmax-complexity = {}\n", "8", "20"),
        ("pyproject.toml", "[tool.ruff.lint.mccabe]\nmax-complexity = {}\n", "8", "20"),
        ("clippy.toml", "cognitive-complexity-threshold = {}\n", "20", "90"),
        ("codecov.yml", "coverage:\n  status:\n    project:\n      default:\n        threshold: {}%\n", "1", "30"),
    ],
)
def test_a_limit_is_raised(path: str, text: str, was: str, now: str) -> None:
    assert names(thresholds, {path: text.format(was)}, {path: text.format(now)}) == ["limit-raised"]
    assert found(thresholds, {path: text.format(now)}, {path: text.format(was)}) == []


def test_a_bar_that_only_informs_is_none() -> None:
    before, after = {"codecov.yml": CODECOV.format(90, "false")}, {"codecov.yml": CODECOV.format(90, "true")}
    (signal,) = found(thresholds, before, after)
    assert (signal.name, signal.subject.rpartition(".")[2]) == ("threshold-lowered", "informational")


def test_each_of_several_bars_is_compared_with_its_own() -> None:
    (signal,) = found(thresholds, {"pom.xml": JACOCO.format(0.9, 0.5)}, {"pom.xml": JACOCO.format(0.9, 0.4)})
    assert (signal.was, signal.now) == ("0.5", "0.4")


def test_a_bar_that_is_gone_is_told_from_a_file_that_is_gone() -> None:
    bar, none = "[report]\nfail_under = 90\n", "[report]\nshow_missing = true\n"
    (signal,) = found(thresholds, {".coveragerc": bar}, {".coveragerc": none})
    assert (signal.name, signal.was, signal.explained) == ("threshold-removed", "90", ())
    (signal,) = found(thresholds, {".coveragerc": bar}, {})
    assert (signal.name, signal.explained) == ("threshold-removed", ("file-removed",))


def test_of_several_bars_one_is_gone() -> None:
    text = "module.exports = {{ coverageThreshold: {{ global: {{ lines: 90{} }} }} }};"
    (signal,) = found(
        thresholds, {"jest.config.js": text.format(", branches: 80")}, {"jest.config.js": text.format("")}
    )
    assert (signal.name, signal.was, signal.explained) == ("threshold-removed", "80", ("others-left",))


def test_a_bar_that_moved_is_compared_with_where_it_is_now() -> None:
    before = {"setup.cfg": "[coverage:report]\nfail_under = 90\n"}
    assert found(thresholds, before, {"pyproject.toml": "[tool.coverage.report]\nfail_under = 90\n"}) == []
    (signal,) = found(thresholds, before, {"pyproject.toml": "[tool.coverage.report]\nfail_under = 80\n"})
    assert (signal.name, signal.path) == ("threshold-lowered", "pyproject.toml")


def test_options_of_the_same_name_belong_to_their_tools() -> None:
    before = {"tox.ini": "[testenv:lint]\ncommands = interrogate --fail-under 100 src\n"}
    moved = {"tox.ini": "[testenv:lint]\ncommands = interrogate src\n"}
    told = {**moved, "pyproject.toml": "[tool.interrogate]\nfail-under = 100\n"}
    assert [signal.subject for signal in found(thresholds, before, moved)] == ["interrogate.fail-under"]
    assert found(thresholds, before, told) == []


def test_numbers_of_other_keys_do_not_count() -> None:
    before = {"package.json": '{"version": "2.0.0", "jest": {"testTimeout": 9000}}', "a.py": "fail_under = 90\n"}
    after = {"package.json": '{"version": "1.0.0", "jest": {"testTimeout": 10}}', "a.py": "fail_under = 10\n"}
    assert found(thresholds, before, after) == []


def test_what_is_left_uncovered_is_not_compared_with_a_share() -> None:
    text = "module.exports = {{ coverageThreshold: {{ global: {{ lines: {} }} }} }};"
    assert found(thresholds, {"jest.config.js": text.format(80)}, {"jest.config.js": text.format(-10)}) == []
    assert names(thresholds, {"jest.config.js": text.format(-10)}, {"jest.config.js": text.format(-90)}) == [
        "threshold-lowered"
    ]


@pytest.mark.parametrize("text", ["", "[", "\x00", "[report\nfail_under = 90", "[report]\nfail_under = many\n"])
def test_what_can_not_be_read_says_nothing(text: str) -> None:
    assert found(thresholds, {"pyproject.toml": text}, {"pyproject.toml": f"{text} "}) == []
