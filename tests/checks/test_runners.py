"""What each runner is asked for, and that the user's line keeps its meaning."""

from pathlib import Path

import pytest

from untilproven.checks.runners.known import Asked, ask, is_test_runner
from untilproven.contract import Exchange, Supervision
from untilproven.process.room import DirectoryRoom

SCRATCH = Exchange(outside=Path("/outside"), inside=Path("/scratch"))


def found_for(line: str, root: Path, scratch: Exchange = SCRATCH) -> Asked | None:
    return ask(line, DirectoryRoom(root, Supervision(marker="")), scratch)


def asked(line: str, root: Path) -> str | None:
    found = found_for(line, root)
    return found.line if found else None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cd sub && go test ./... -args -x", "cd sub && go test -json ./... -args -x >/scratch/go.json 2>&1"),
        ("cargo +nightly test -q -- --quiet x", "cargo +nightly test -- x >/scratch/cargo.txt 2>&1"),
        (
            "A=1 cargo nextest run -p x -- y",
            (
                "NEXTEST_EXPERIMENTAL_LIBTEST_JSON=1 A=1 cargo nextest run -p x --message-format libtest-json -- y"
                " >/scratch/cargo.txt 2>&1"
            ),
        ),
        ("npx jest 'a b'", "npx jest 'a b' --json --outputFile=/scratch/jest.json"),
        ("yarn jest", "yarn jest --json --outputFile=/scratch/jest.json"),
        (
            "vitest run",
            "vitest run --reporter=default --reporter=json --outputFile.json=/scratch/vitest.json",
        ),
        ("mocha x", "mocha x --reporter json --reporter-option output=/scratch/mocha.json"),
        ("ctest --test-dir b", "ctest --test-dir b --output-junit /scratch/ctest.xml"),
        ("rspec", "rspec --format progress --format json --out /scratch/rspec.json"),
        ("rspec -fd", "rspec -fd --format json --out /scratch/rspec.json"),
        ("vendor/bin/phpunit t", "vendor/bin/phpunit t --log-junit /scratch/phpunit.xml"),
        ("dotnet test", "dotnet test --logger trx --results-directory /scratch/trx"),
        ("./gradlew test", "./gradlew test --init-script /scratch/init.gradle"),
        (
            "A=1 python -m unittest -v t",
            "A=1 python /scratch/pyunit_reporter.py /scratch/unittest.json -v t",
        ),
    ],
)
def test_a_runner_is_asked_for_a_report_and_nothing_else_changes(line: str, expected: str, tmp_path: Path) -> None:
    assert asked(line, tmp_path) == expected


def test_pytest_keeps_its_arguments_and_its_cache_is_moved_away(tmp_path: Path) -> None:
    line = asked("pytest -q -k 'a or b' -- tests", tmp_path)
    assert line is not None
    assert line.startswith("pytest -q -k 'a or b' -o junit_family=xunit1 --junit-xml=/scratch/pytest.xml")
    assert line.endswith("-o cache_dir=/scratch/cache -- tests")


def test_pytest_without_a_cache_is_not_told_where_to_put_it(tmp_path: Path) -> None:
    assert "cache_dir" not in (asked("pytest -p no:cacheprovider", tmp_path) or "")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider --strict-config\n")
    assert "cache_dir" not in (asked("pytest", tmp_path) or "")


def test_node_is_asked_through_a_variable_that_keeps_the_users(tmp_path: Path) -> None:
    line = asked("node --test a.js", tmp_path)
    assert line is not None
    assert line.startswith('NODE_OPTIONS="${NODE_OPTIONS-} --test-reporter=spec')
    assert line.endswith("node --test a.js")


def test_maven_files_of_this_run_are_told_by_a_fresh_suffix(tmp_path: Path) -> None:
    first, second = (found_for("mvn -B verify", tmp_path) for _ in range(2))
    assert first
    assert second
    assert first.line != second.line
    suffix = first.line.rpartition("=")[2]
    reports = tmp_path / "module" / "target" / "surefire-reports"
    reports.mkdir(parents=True)
    documented = (Path(__file__).parent / "data" / "surefire-documented.xml").read_text()
    (reports / "TEST-demo.Old.xml").write_text(documented)
    assert first.reporting.read() == []
    (reports / f"TEST-demo.ATest-{suffix}.xml").write_text(documented.replace("SUFFIX", suffix))
    assert [(test.name, test.outcome) for test in first.reporting.read()] == [
        ("demo.ATest::ok", "passed"),
        ("demo.ATest::bad", "failed"),
        ("demo.ATest::skip", "skipped"),
        ("demo.ATest::flaky", "passed"),
    ]


@pytest.mark.parametrize(
    ("line", "script", "expected"),
    [
        ("npm test", "jest", "npm test -- --json --outputFile=/scratch/jest.json"),
        ("npm test -- -t x", "tsc && jest", "npm test -- -t x --json --outputFile=/scratch/jest.json"),
        ("CI=1 pnpm run test", "jest", "CI=1 pnpm run test --json --outputFile=/scratch/jest.json"),
        ("yarn test", "jest", "yarn test --json --outputFile=/scratch/jest.json"),
        ("npm t", "jest | tee log", None),
        ("npm test", "cargo test", None),
        ("npm test", "", None),
    ],
)
def test_a_script_passes_the_request_on_to_the_runner_it_ends_in(
    tmp_path: Path, line: str, script: str, expected: str | None
) -> None:
    (tmp_path / "package.json").write_text(f'{{"scripts": {{"test": "{script}"}}}}')
    assert asked(line, tmp_path) == expected


@pytest.mark.parametrize("line", ["npm test", "npm run test:unit", "go test", "python -m unittest", "make && pytest"])
def test_a_line_that_ends_in_a_test_runner_is_one(line: str) -> None:
    assert is_test_runner(line)


@pytest.mark.parametrize(
    "line",
    [
        *("go build", "cargo build", "node x.js", "mvn compile", "gradle jar", "dotnet build", "npm run build"),
        *("make test", "tox", "pytest; true", "pytest || true", "echo pytest", "./unittest", "npx tsc", "npm ci"),
        *("cargo test --no-run", "pytest --collect-only", "jest --version"),
    ],
)
def test_a_line_that_does_not_is_none(line: str) -> None:
    assert not is_test_runner(line)
