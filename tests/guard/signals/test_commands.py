"""Lines of shell: what they run, and whether its failure is heard."""

import time

import pytest

from untilproven.guard.signals.commands import commands_in


def heard(script: str, *, stops: bool = False) -> dict[str, bool]:
    return {command.text: not command.is_swallowed for command in commands_in(script, stops=stops)}


@pytest.mark.parametrize(
    ("script", "unheard"),
    [
        ("a", ""),
        ("a || true", "a"),
        ("a || :", "a"),
        ("a || exit 0", "a"),
        ("a || echo no", "a"),
        ("a || exit 1", ""),
        ("a || echo no && exit 1", ""),
        ("a || (echo no; exit 1)", ""),
        ("a || { echo no; exit 1; }", ""),
        ("a && b || true", "ab"),
        ("a && (b || true)", "b"),
        ("(a || true) && b", "a"),
        ("(a; b) || true", "ab"),
        ("a | cat", "a"),
        ("a | tee log", ""),
        ("a; true", "a"),
        ("a; exit 0", "a"),
        ("a; exit 1", ""),
        ("a &", "a"),
        ("a & pid=$!; b; wait $pid", ""),
        ("a || \\\n  true", "a"),
        ("a # || true", ""),
        ("a ${{ b || format('py{0}', c) }}", ""),
        ("a '|| true'", ""),
        ('a "$(x || true)"', ""),
        ("a 2>&1", ""),
        ("cat <<END\na || true\nEND\nb", ""),
    ],
)
def test_whose_failure_is_not_heard(script: str, unheard: str) -> None:
    found = heard(script)
    assert {text[0] for text, is_heard in found.items() if not is_heard and text[0] in "ab"} == set(unheard)


@pytest.mark.parametrize(
    ("script", "is_heard"),
    [
        ("a\nexit 0", True),
        ("set +e\na\necho", False),
        ("set +e\na\nset -e\necho", False),
        ("set +e\necho\nset -e\na", True),
        ("set +e\na\nexit $?", True),
        ("set +e\na\nstatus=$?\nexit $status", True),
        ("set +o errexit\na\necho", False),
    ],
)
def test_a_shell_that_stops_by_itself(script: str, is_heard: bool) -> None:
    assert heard(script, stops=True)["a"] is is_heard


def test_words_lose_their_quotes_and_keep_what_is_in_them() -> None:
    (command,) = commands_in("""pytest -k 'not "slow"' "${{ matrix.args }}" a\\ b""")
    assert command.words == ("pytest", "-k", 'not "slow"', "${{ matrix.args }}", "a b")


def test_lines_are_counted() -> None:
    assert [(one.text, one.line) for one in commands_in("# first\n\na \\\n  b\nc")] == [("a b", 2), ("c", 4)]


def test_each_line_for_itself() -> None:
    found = commands_in("a; true\nb\nc || \\\n  true\n", apart=True)
    assert [(one.words[0], one.line, one.is_swallowed) for one in found if one.words[0] in "abc"] == [
        ("a", 0, True),
        ("b", 1, False),
        ("c", 2, True),
    ]


@pytest.mark.parametrize("script", ["(" * 9000, "<<A\n" * 5000, '"' * 9999, "a || " * 4000, "${{" * 6000, "\\"])
def test_hostile_text_ends_soon(script: str) -> None:
    begun = time.process_time()
    commands_in(script)
    assert time.process_time() - begun < 5


def test_what_a_condition_asks_is_no_command() -> None:
    assert [one.text for one in commands_in('if [[ "$A" == 1 || ( "$A" == 2 ) ]]; then a; fi')] == [
        "[[ $A == 1 || ( $A == 2 ) ]]",
        "a",
    ]
