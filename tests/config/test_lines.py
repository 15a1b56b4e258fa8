import time
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.config.lines import DEEPEST, TooDeep, key_lines

TRICKY = '''\
# max_iterations = 1
top = 1 # not = this
text = """
fake = 1
[fake]
\\""" still = "inside" """""
literal = \'\'\'
fake = 2
it's = 3\'\'\'\'\'
list = [ "a = 1", # fake = 3
  "]",
  { fake = 4 },
]
inline = { a = 1, b.c = "}", "d e" = [1, 2], deep = { x = """
""", y = 2 } }
dotted . key = 1.5
"quoted.key" = 1979-05-27 07:32:00
'lit' = '\\'
"esc\\u0061ped" = 1
empty = {}
[table]
inside = 1

[ table . "sub" ]
x = 2
[[array]]
y = 1
[[array]]
y = 2
last = 1'''


def test_each_key_is_found_on_its_own_line() -> None:
    tomllib.loads(TRICKY)
    found = key_lines(TRICKY)
    expected = {
        ("top",): 2,
        ("text",): 3,
        ("literal",): 7,
        ("list",): 10,
        ("list", "fake"): 12,
        ("inline",): 14,
        ("inline", "a"): 14,
        ("inline", "b"): 14,
        ("inline", "b", "c"): 14,
        ("inline", "d e"): 14,
        ("inline", "deep"): 14,
        ("inline", "deep", "x"): 14,
        ("inline", "deep", "y"): 15,
        ("dotted",): 16,
        ("dotted", "key"): 16,
        ("quoted.key",): 17,
        ("lit",): 18,
        ("escaped",): 19,
        ("empty",): 20,
        ("table",): 21,
        ("table", "inside"): 22,
        ("table", "sub"): 24,
        ("table", "sub", "x"): 25,
        ("array",): 26,
        ("array", "y"): 27,
        ("array", "last"): 30,
    }
    assert found == expected


KEYS = st.text("ab", min_size=1, max_size=3)
VALUES = st.sampled_from(
    ['"x = 1"', "'#'", '"""\nq = 1\n"""', "'''\n[t]\n'''", "[\n1, # z = 1\n]", "{}", "1.5", "true"]
)


@given(st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES)))
def test_nothing_in_a_value_is_taken_for_a_key(tables: dict[str, dict[str, str]]) -> None:
    text = "".join(
        f"[{table}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()) for table, keys in tables.items()
    )
    written = text.split("\n")
    found = key_lines(text)
    assert set(found) == {(table,) for table in tables} | {(t, key) for t, keys in tables.items() for key in keys}
    for path, line in found.items():
        assert written[line - 1].startswith(f"[{path[0]}]" if len(path) == 1 else f"{path[1]} = ")


@pytest.mark.parametrize(
    "text",
    [
        "\n" + ".".join("a" * 500_000) + " = 1",
        "\n" + ".".join("a" * 500_000),
        "\n[" + ".".join("a" * 500_000) + "]",
        "\na = " + "[" * 500_000,
        "\na = " + "{a=" * 300_000,
        "\na = {" + ".".join("a" * 200_000) + " = 1}",
        "\n[" + ".".join("a" * 20) + "]\n" + ".".join("a" * 20) + " = 1",
    ],
)
def test_what_would_keep_the_parser_busy_for_hours_is_refused_by_line(text: str) -> None:
    with pytest.raises(TooDeep) as refused:
        key_lines(text)
    assert refused.value.line == 2 + text.count("]\n")


def test_the_deepest_that_is_allowed_is_read() -> None:
    assert key_lines(".".join("a" * DEEPEST) + " = 1")


@pytest.mark.parametrize("unit", ['\\"""\n', '"', "'''\\'", "[", "{", "}", "]", "=", "a=[}", '"\\'])
def test_a_broken_file_is_left_at_its_first_mistake(unit: str) -> None:
    begun = time.monotonic()
    try:
        key_lines('"""' + unit * (300_000 // len(unit)))
        key_lines(unit * (300_000 // len(unit)))
    except TooDeep:
        pass
    assert time.monotonic() - begun < 20
