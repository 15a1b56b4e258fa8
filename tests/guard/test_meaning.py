"""Two ways to write a value: when they are the same."""

import pytest

from untilproven.guard.meaning import mean_the_same

SAME = [
    ('"a" "b"', '"ab"'),
    ('"a" + "b"', "'ab'"),
    ('"a" + "b" + c', '"ab" + c'),
    ('("x",)', '(("x"),)'),
    ('assert ("No " "x",) == e.args', 'assert (("No " "x"),) == e.args'),
    ('f"<{x!r}, " f"{y!r}>"', 'f"<{x!r}, {y!r}>"'),
    ("f'plain'", '"plain"'),
    ("0x10", "16"),
    ("1_000", "1000"),
    ("10L", "10"),
    ("10D", "10.0"),
    ("3u64", "3"),
    ('r"\\d"', '"\\\\d"'),
    ('r#"a"b"#', '"a\\"b"'),
    ('`a"b`', '"a\\"b"'),
    ("[1, 2,]", "[1, 2]"),
    ("f(1, 2,)", "f(1, 2)"),
    ("f((x))", "f(x)"),
]
OTHER = [
    ("1", "2"),
    ("(x,)", "(x)"),
    ("assert (x,) == y", "assert (x) == y"),
    ('b"a"', '"a"'),
    ('"a b"', '"a  b"'),
    ('f"{x}"', '"{x}"'),
    ("`${x}`", '"${x}"'),
    ('"a" + "b".upper()', '"ab".upper()'),
    ("3 * 'a' + 'b'", "3 * 'ab'"),
    ("f(1)", "f1"),
    ("(a + b) * c", "a + b * c"),
    ("0.1", "0.01"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_another_form(one: str, other: str) -> None:
    assert mean_the_same(one, other)
    assert mean_the_same(other, one)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_something_else(one: str, other: str) -> None:
    assert not mean_the_same(one, other)


def test_no_end_of_quotes_is_no_harm() -> None:
    assert mean_the_same("fn f<'a>(x: &'a str", "fn f<'a>(x: &'a str")
    assert not mean_the_same('"' * 5, "'" * 6)
