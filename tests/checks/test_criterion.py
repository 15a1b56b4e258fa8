"""A criterion is split only when its head is clearly a command."""

import pytest

from untilproven.checks import criterion


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("npx tsc --noEmit passes", "npx tsc --noEmit"),
        ("`pytest -q` succeeds", "pytest -q"),
        ("`pytest -q`", "pytest -q"),
        ("`./odd-thing --now` exits with code 0.", "./odd-thing --now"),
        ("make test exits 0", "make test"),
        ("npm run docs succeeds", "npm run docs"),
        ("npm test must pass", "npm test"),
        ("cd web && npm test passes without errors", "cd web && npm test"),
        ("python -m mypy src is clean", "python -m mypy src"),
        ("CI=1 ./check.sh works", "CI=1 ./check.sh"),
        ("go vet ./... returns 0", "go vet ./..."),
    ],
)
def test_a_command_with_a_verdict_is_split(text: str, command: str) -> None:
    assert criterion.read(text) == criterion.Criterion(text, command)


@pytest.mark.parametrize(
    "text",
    [
        "the code is clean and well documented",
        "make sure it works",
        "make it so that everything passes",
        "go through the list until it passes",
        "node names are green",
        "all tests pass",
        "pytest",
        "the `foo` function works and `bar` passes",
        "I think pytest passes",
        "just works",
        "",
    ],
)
def test_a_description_has_no_command(text: str) -> None:
    assert criterion.read(text) == criterion.Criterion(text)
