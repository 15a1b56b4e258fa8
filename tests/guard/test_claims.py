"""What two assertions ask, each in its own words."""

import pytest

from untilproven.guard.claims import ask_the_same
from untilproven.guard.facts import Assertion, Strength

EXACTLY, PARTLY = Strength.EXACTLY, Strength.PARTLY


def asked(text: str, about: str, strength: Strength, expected: str | None = None) -> Assertion:
    return Assertion(text, about, strength, 1, expected)


EMPTY = [
    asked("assert.Len(t, c.Errors, 0)", "c.Errors", PARTLY, "0"),
    asked("assert.Equal(t, 0, len(c.Errors))", "len(c.Errors)", EXACTLY, "0"),
    asked("assert.Empty(t, c.Errors)", "c.Errors", EXACTLY, '""'),
    asked("assertTrue(c.Errors.isEmpty())", "c.Errors", EXACTLY, "empty"),
    asked("assertThat(c.Errors).hasSize(0)", "c.Errors", PARTLY, "0"),
    asked("expect(c.Errors).toHaveLength(0)", "c.Errors", PARTLY, "0"),
    asked("assert c.Errors == []", "c.Errors", EXACTLY, "[]"),
    asked("assert(!Object.keys(c.Errors).length)", "Object.keys(c.Errors).length", PARTLY, "0"),
]


@pytest.mark.parametrize("old", EMPTY)
@pytest.mark.parametrize("new", EMPTY)
def test_that_something_is_empty_is_said_in_many_ways(old: Assertion, new: Assertion) -> None:
    assert ask_the_same(old, new)


@pytest.mark.parametrize(
    "new",
    [
        asked("assert.NotEmpty(t, c.Errors)", "c.Errors", Strength.SOMETHING),
        asked("assertFalse(c.Errors.isEmpty())", "c.Errors", Strength.SOMETHING, "notempty"),
        asked("assert!(!c.Errors.is_empty())", "c.Errors.is_empty()", Strength.SOMETHING),
        asked("assert not c.Errors.is_empty()", "c.Errors.is_empty()", Strength.SOMETHING),
        asked('assert.NotEqual(t, "", c.Errors)', "c.Errors", PARTLY, '""'),
        asked("assert c.Errors != []", "c.Errors", PARTLY, "[]"),
        asked('assertThat(c.Errors).isNotEqualTo("")', "c.Errors", PARTLY, '""'),
        asked("assert(Object.keys(c.Errors).length)", "Object.keys(c.Errors).length", Strength.SOMETHING),
        asked("assert(!!c.Errors.length)", "c.Errors.length", Strength.SOMETHING),
        asked("assert.Empty(t, c.Keys)", "c.Keys", EXACTLY, '""'),
        asked("assert.Len(t, c.Errors, 1)", "c.Errors", PARTLY, "1"),
        asked("assert.Equal(t, 0, c.Errors)", "c.Errors", EXACTLY, "0"),
    ],
)
def test_and_not_by_these(new: Assertion) -> None:
    assert not ask_the_same(EMPTY[0], new)


def test_the_beginning_of_a_text() -> None:
    old = asked("assertThat(d.substring(0, e.length())).isEqualTo(e)", "d.substring(0, e.length())", EXACTLY, "e")
    assert ask_the_same(old, asked("assertThat(d).startsWith(e)", "d", PARTLY, "e"))
    assert not ask_the_same(old, asked("assertThat(d).contains(e)", "d", PARTLY, "e"))
    assert not ask_the_same(old, asked("assertThat(d).startsWith(f)", "d", PARTLY, "f"))


def test_a_whole_with_the_part_in_it() -> None:
    old = asked('assert "b" in text', "text", PARTLY, '"b"')
    assert ask_the_same(old, asked('assert text == "abc"', "text", EXACTLY, '"abc"'))
    assert not ask_the_same(old, asked('assert text == "ac"', "text", EXACTLY, '"ac"'))
    assert not ask_the_same(asked('assert text == "abc"', "text", EXACTLY, '"abc"'), old)
    denied = asked('assertThat(text).doesNotContain("b")', "text", PARTLY, '"b"')
    assert not ask_the_same(denied, asked('assertThat(text).isEqualTo("abc")', "text", EXACTLY, '"abc"'))


@pytest.mark.parametrize(
    ("longer", "is_more"),
    [('"\\r\\nmonth\\r\\n"', True), ('"a month"', True), ('"months"', False), ('"month|x"', False), ('"day"', False)],
)
def test_a_longer_part_asks_for_the_shorter_one_as_well(longer: str, *, is_more: bool) -> None:
    old, new = (asked(f"assert {text} in said", "said", PARTLY, text) for text in ('"month"', longer))
    assert ask_the_same(old, new) is is_more
    assert not ask_the_same(old, asked(f"assert {longer} in heard", "heard", PARTLY, longer))
