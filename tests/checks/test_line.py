"""Which program a line ends in; everything that is not a plain chain is left alone."""

import pytest

from untilproven.checks import line
from untilproven.checks.wrappers import program_at


@pytest.mark.parametrize(
    "text",
    [
        "pytest | tee log",
        "pytest > log",
        "a; b",
        "a || b",
        "(a)",
        "a & b",
        "a `b`",
        "&& a",
        "a &&",
        "",
        "'open",
        "a # b",
    ],
)
def test_more_than_a_plain_chain_is_not_read(text: str) -> None:
    assert line.read(text) is None


def test_a_chain_is_read_to_its_last_command() -> None:
    read = line.read("cd 'my dir' && X=1 make && A=\"b c\" pytest -k 'a && b' $ARGS")
    assert read is not None
    assert read.directory == "my dir"
    assert read.programs == ("cd", "make", "pytest")
    assert [word.text for word in read.words] == ["A=b c", "pytest", "-k", "a && b", "$ARGS"]


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("pytest -q", "pytest"),
        ("A=1 B=2 .venv/bin/pytest", ".venv/bin/pytest"),
        ("python3.12 -X dev -m pytest -q", "pytest"),
        ("uv run --with foo -- pytest", "pytest"),
        ("uv run --extra test python -m unittest", "unittest"),
        ("poetry run coverage run -m pytest", "pytest"),
        ("env A=1 npx --yes jest", "jest"),
        ("bundle exec rspec", "rspec"),
        ("python script.py pytest", None),
        ("coverage run script.py", None),
        ("uv run", None),
        ("A=1", None),
    ],
)
def test_the_program_behind_wrappers_is_found(text: str, program: str | None) -> None:
    words = text.split()
    at = program_at(words)
    assert (None if at is None else words[at]) == program
