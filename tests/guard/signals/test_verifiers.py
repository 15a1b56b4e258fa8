"""Which commands verify, behind whatever runs them."""

import pytest

from untilproven.guard.signals.commands import commands_in
from untilproven.guard.signals.verifiers import checks_in


def checks(line: str) -> list[tuple[str, str]]:
    return [(check.purpose, check.tool) for check in checks_in(commands_in(line))]


@pytest.mark.parametrize(
    ("line", "purpose", "tool"),
    [
        ("pytest -x", "tests", "pytest"),
        ("uv run --frozen --group dev pytest", "tests", "pytest"),
        ("python -Im coverage run --branch -m pytest tests", "tests", "pytest"),
        ("NODE_ENV=test cross-env A=b npx jest", "tests", "jest"),
        ("xvfb-run -a npm run test:e2e", "tests", "npm test:e2e"),
        ("npm t", "tests", "npm test"),
        ("pnpm -r run lint", "lint", "npm lint"),
        ("yarn type-check", "types", "npm type-check"),
        ("bun test", "tests", "npm test"),
        ("yarn workspace test run lint", "lint", "npm lint"),
        ("pnpm --filter test exec tsc", "types", "tsc"),
        ("npx playwright test", "tests", "playwright test"),
        ("node --test", "tests", "node --test"),
        ("node test/index.js", "tests", "test/index.js"),
        ("go test ./...", "tests", "go test"),
        ("go vet ./...", "lint", "go vet"),
        ("cargo +nightly miri test", "tests", "cargo miri"),
        ("cargo clippy -- -D warnings", "lint", "cargo clippy"),
        ('rustup run "$NIGHTLY" -- cargo miri test', "tests", "cargo miri"),
        ("./gradlew :app:testDebugUnitTest", "tests", "gradle testDebugUnitTest"),
        ("./mvnw -B verify", "tests", "mvn verify"),
        ("tox -e lint", "lint", "tox lint"),
        ("tox", "anything", "tox"),
        ("tox -e py-release", "anything", "tox py-release"),
        ("make -j4 test", "tests", "make test"),
        ("bash -c 'pytest tests'", "tests", "pytest"),
        ("bash ci/test.sh", "tests", "ci/test.sh"),
        ("./run.sh", "anything", "run.sh"),
        ("$(PYTEST) -x", "tests", "pytest"),
        ("mypy src", "types", "mypy"),
        ("coverage report --fail-under=90", "tests", "coverage report"),
        ("bundle exec rspec", "tests", "rspec"),
        ("uv run --only-group tox tox run -e lint", "lint", "tox lint"),
        ("uvx --from pytest ruff check", "lint", "ruff"),
        ("npm run test:typescript", "types", "npm test:typescript"),
        ("mvn verify artifact:compare -Dmaven.test.skip", "lint", "mvn artifact:compare"),
        ("mvn test animal-sniffer:check@android -DskipTests", "lint", "mvn animal-sniffer:check"),
    ],
)
def test_what_verifies(line: str, purpose: str, tool: str) -> None:
    assert checks(line) == [(purpose, tool)]


@pytest.mark.parametrize(
    "line",
    [
        *("rustup component add clippy", "rustup default nightly"),
        *("pip install pytest", "uv tool install tox", "npm ci", "npm install jest", "go build ./...", "cargo build"),
        *("echo pytest", "make clean", "make docs", "python -c 'import pytest'", "coverage xml", "pytest --version"),
        *("node -e 'test()'", "cd tests", "python -m build", "mvn clean", "git commit -m test", "npm run build"),
        *("npx playwright install-deps", "react-scripts build", "npm run release -- --ci", "yarn workspace test build"),
    ],
)
def test_what_does_not(line: str) -> None:
    assert checks(line) == []


def test_several_targets_are_several_commands() -> None:
    assert checks("make lint test") == [("lint", "make lint"), ("tests", "make test")]
