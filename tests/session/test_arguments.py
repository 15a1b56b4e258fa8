"""What can be typed behind /ralph."""

import pytest

from untilproven.errors import UsageError
from untilproven.session import StartLoopOptions, parse_ralph_args
from untilproven.session.arguments import parse_words


def test_options_are_taken_with_a_space_or_an_equals_sign() -> None:
    for text in (
        '"Fix all errors in src/" --max-iterations 25 --completion-promise ALL_FIXED',
        "'Fix all errors in src/' --max-iterations=25 --completion-promise=ALL_FIXED",
        "--completion-promise=ALL_FIXED Fix all errors in src/ --max-iterations 25",
    ):
        found = parse_ralph_args(text)
        assert found.prompt == "Fix all errors in src/"
        assert found.options == StartLoopOptions(max_iterations=25, completion_promise="ALL_FIXED")


def test_values_may_have_spaces_and_quotes_in_them() -> None:
    found = parse_ralph_args(
        'task --until "npm test -- --grep \'a b\'" --until=\'make "all"\' --completion-promise "ALL DONE"'
    )
    assert found.options.until == ["npm test -- --grep 'a b'", 'make "all"']
    assert found.options.completion_promise == "ALL DONE"


def test_arguments_inside_quotes_are_part_of_the_task() -> None:
    assert parse_ralph_args('"explain --max-iterations 5 to me"').prompt == "explain --max-iterations 5 to me"


@pytest.mark.parametrize("task", ["--max-iterations=5 is not obeyed", "--until", "--fix", "--", "-n=x"])
def test_a_task_in_quotes_may_begin_with_an_option(task: str) -> None:
    found = parse_ralph_args(f'"{task}" --max-iterations "3" --until "--version" --completion-promise "ALL --DONE"')
    assert (found.prompt, found.options.max_iterations, found.options.until) == (task, 3, ["--version"])
    assert found.options.completion_promise == "ALL --DONE"


def test_an_apostrophe_is_no_quote() -> None:
    found = parse_ralph_args("Fix the user's bug, don't stop --max-iterations 3")
    assert found.prompt == "Fix the user's bug, don't stop"
    assert found.options.max_iterations == 3


def test_lines_of_a_task_stay_lines() -> None:
    assert parse_ralph_args("Do this:\n- one\n- two\n").prompt == "Do this:\n- one\n- two"


def test_a_task_may_begin_with_dashes() -> None:
    assert parse_ralph_args("--max-iterations 2 -- --fix the parser").prompt == "--fix the parser"
    assert parse_words(["--trust-promise", "--", "--until", "x"]).prompt == "--until x"
    with pytest.raises(UsageError, match="no option"):
        parse_ralph_args("--fix the parser")


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "-inf", "1.5", "many", "", "1e999"])
def test_a_limit_that_is_none_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="--max-iterations"):
        parse_ralph_args(f"task --max-iterations={value}")


@pytest.mark.parametrize("text", ["", "   ", "--trust-promise", '""', "--max-iterations 3"])
def test_no_task_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no task"):
        parse_ralph_args(text)


@pytest.mark.parametrize("text", ["task --until", "task --completion-promise=", "task --until ''"])
def test_an_option_without_a_value_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_ralph_args(text)
