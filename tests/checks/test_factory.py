"""From what the user asked for to checks."""

from pathlib import Path

import pytest

from untilproven.checks.factory import check_of, checks_for
from untilproven.errors import UsageError
from untilproven.model.task import Command, Completion, Explicit, FileExists, TestPassing, Validate


def test_a_known_test_runner_becomes_tests_and_everything_else_a_command() -> None:
    checks = checks_for(["pytest -q", "npx tsc --noEmit passes", "make test", "some tool of mine", "`npm test` passes"])
    assert [(check.kind, check.name) for check in checks] == [
        ("tests", "pytest -q"),
        ("command", "npx tsc --noEmit"),
        ("command", "make test"),
        ("command", "some tool of mine"),
        ("tests", "npm test"),
    ]


def test_a_check_that_is_given_twice_is_run_once() -> None:
    assert len(checks_for(["make test", "make test passes"])) == 1


@pytest.mark.parametrize("line", ["", "  ", "a\0b"])
def test_an_empty_check_is_a_usage_error(line: str) -> None:
    with pytest.raises(UsageError):
        checks_for([line])


@pytest.mark.parametrize(
    ("completion", "kind", "name"),
    [
        (FileExists(path="a.md"), "file_exists", "a.md exists"),
        (Validate(script="a.ts"), "validate", "a.ts"),
        (Command(command="make"), "command", "make"),
        (Command(command="pytest"), "tests", "pytest"),
        (TestPassing(), "tests", "pytest (only RALPH-001)"),
        (TestPassing(grep="login"), "tests", "pytest (only login)"),
        (TestPassing(command="npm test"), "tests", "npm test (only RALPH-001)"),
        (TestPassing(command="./t"), "command", "./t -- --grep RALPH-001"),
        (TestPassing(command="./t --grep x"), "command", "./t --grep x"),
    ],
)
def test_every_completion_of_a_task_becomes_its_check(
    tmp_path: Path, completion: Completion, kind: str, name: str
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    check = check_of(completion, task_id="RALPH-001", root=tmp_path)
    assert check is not None
    assert (check.kind, check.name) == (kind, name)


def test_a_task_id_that_no_program_can_be_given_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        check_of(Validate(script="a.sh"), task_id="a\0b", root=tmp_path)


def test_the_agents_own_word_is_no_check(tmp_path: Path) -> None:
    assert check_of(Explicit(), task_id="x", root=tmp_path) is None


def test_tests_that_are_nowhere_to_be_found_say_what_to_add(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        check_of(TestPassing(), task_id="x", root=tmp_path)
    assert raised.value.exit_code == 2
    assert 'until = ["pytest -q"]' in raised.value.hint
