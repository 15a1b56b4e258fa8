"""Configuration as values, whatever it is written in."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from untilproven.guard.signals.documents import NotUnderstood, below, values_in
from untilproven.guard.signals.trees import Value

YAML = """\
# a comment
a: &anchor
  b: 1
  c: "quo\\"ted"
d:
  <<: *anchor
  c: 'it''s'
e: [x, {f: true}, null]
g: |
  one
    two
h: >
  one
  two
"on": [push]
"""


def test_yaml() -> None:
    assert values_in("a.yml", YAML.encode()) == {
        "a": {"b": "1", "c": 'quo"ted'},
        "d": {"b": "1", "c": "it's"},
        "e": ["x", {"f": "true"}, "null"],
        "g": "one\n  two",
        "h": "one two",
        "on": ["push"],
    }


words = st.from_regex(r"[a-j]([a-j_./-]| (?=[a-j])){0,10}[a-j]", fullmatch=True)
values = st.recursive(
    words,
    lambda inside: st.lists(inside, min_size=1, max_size=3) | st.dictionaries(words, inside, min_size=1, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(words, values, min_size=1, max_size=4), st.sampled_from([None, False, True]))
def test_yaml_is_read_as_another_reader_reads_it(value: dict[str, Value], flow: bool | None) -> None:
    text = yaml.safe_dump(value, default_flow_style=flow)
    assert values_in("a.yaml", text.encode()) == yaml.load(text, yaml.BaseLoader)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.json", '{"a": {"b": [1, true, null, "c"]}}'),
        ("tsconfig.json", '{\n  // said here\n  "a": {"b": [1, true, null, "c",],}, /* and there */\n}'),
        (".eslintrc", '{"a": {"b": [1, true, null, "c"]}}'),
        ("a.config.js", "module.exports = {a: {'b': [1, true, ``, 'c']}};"),
        ("a.config.ts", "export default defineConfig({ a: { b: [1, true, '', 'c'] } } satisfies Config);"),
    ],
)
def test_the_same_in_other_words(path: str, text: str) -> None:
    assert values_in(path, text.encode()) == {"a": {"b": ["1", "true", "", "c"]}}


def test_ini_and_toml() -> None:
    assert values_in("tox.ini", b"[testenv]\ncommands =\n    a\n    b # c\n") == {"testenv": {"commands": "\na\nb"}}
    assert values_in("a.toml", b"[a]\nb = 1.5\nc = true\n") == {"a": {"b": "1.5", "c": "true"}}


def test_a_list_of_objects_in_javascript_is_one() -> None:
    text = b"export default [js.configs.recommended, { rules: { a: 'off' } }, { rules: { b: ['error', 3] } }];"
    assert below(values_in("eslint.config.js", text), "rules") == {"a": "off", "b": ["error", "3"]}


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.json", b"{"),
        ("a.toml", b"a ="),
        ("a.ini", b"a = 1"),
        ("a.yml", b"a: [\n"),
        ("a.yml", b"\x00"),
        ("a.json", b"[" * 5000 + b"]" * 5000),
        ("a.yml", b"[" * 5000 + b"]" * 5000),
        ("a.config.js", b"x = " + b"{a:" * 3000 + b"1" + b"}" * 3000),
    ],
)
def test_what_is_not_understood_is_said(path: str, content: bytes) -> None:
    with pytest.raises(NotUnderstood):
        values_in(path, content)
