import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.core.naming import iteration_name, loop_id, new_loop_id, quoted, slug
from untilproven.errors import InvalidName
from untilproven.model.fields import LOOP_ID_PATTERN

suffixes = st.text("0123456789abcdef", min_size=8, max_size=8)


@given(st.text())
def test_any_task_gives_a_slug_that_can_stand_in_a_path(task: str) -> None:
    made = slug(task)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", made)
    assert len(made) <= 30


@given(st.text(), suffixes)
def test_a_made_id_is_accepted_back(task: str, suffix: str) -> None:
    made = new_loop_id(task, suffix)
    assert loop_id(made) == made
    assert re.fullmatch(LOOP_ID_PATTERN, made)


@pytest.mark.parametrize(
    ("task", "made"),
    [
        ("Fix all TypeScript errors", "fix-all-typescript-errors"),
        ("Überprüfe die Straße", "uberprufe-die-strae"),
        ("修复测试", "task"),
        ("", "task"),
        ("---", "task"),
        ("a" * 29 + " b", "a" * 29),
        ("../../etc/passwd", "etc-passwd"),
        ("do \x1b[31mthings", "do-things"),
    ],
)
def test_slugs_are_folded_cut_and_never_empty(task: str, made: str) -> None:
    assert slug(task) == made


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ralph--a1b2c3d",
        "ralph-a-A1B2C3D4",
        "ralph-a-g1b2c3d4",
        "ralph-a/b-a1b2c3d4",
        "ralph-..-a1b2c3d4",
        "../ralph-a-a1b2c3d4",
        "ralph-a-a1b2c3d4\n",
        "ralph-a\x00-a1b2c3d4",
        "ralph-" + "a" * 10_000 + "-a1b2c3d4",
        "ralph-тест-a1b2c3d4",
        "ralph-a-\u04301b2c3d4",  # a Cyrillic letter among the hex digits
        "my-test-fix",
    ],
)
def test_an_id_that_is_not_one_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidName) as refused:
        loop_id(text)
    assert "not a loop id" in refused.value.message
    assert len(refused.value.message) < 400
    assert refused.value.message.isascii()
    assert "\n" not in refused.value.message
    assert refused.value.exit_code == 2


@given(st.text(max_size=200))
def test_only_the_pattern_decides_what_is_an_id(text: str) -> None:
    if re.fullmatch(LOOP_ID_PATTERN, text) and len(text) <= 128:
        assert loop_id(text) == text
    else:
        with pytest.raises(InvalidName):
            loop_id(text)


def test_a_suffix_must_be_eight_hex_digits() -> None:
    with pytest.raises(InvalidName):
        new_loop_id("x", "xyz")


def test_iteration_names_have_three_digits_and_grow() -> None:
    assert [iteration_name(n) for n in (1, 42, 999, 1000, 12345)] == [
        "iteration-001",
        "iteration-042",
        "iteration-999",
        "iteration-1000",
        "iteration-12345",
    ]


def test_quoted_text_is_short_and_harmless() -> None:
    assert quoted("\x1b[31m" + "x" * 500) == "'\\x1b[31m" + "x" * 55 + "...'"
