"""JSON with comments: read as JSON is, and changed only where it changes."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untilproven.queue.formats import jsonc
from untilproven.queue.formats.contract import Misread
from untilproven.queue.formats.node import Node, plain

SCALARS = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=8)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner))
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)
GAPS = st.sampled_from(["", " ", "\n", "\r\n  ", "\t", '/* " */', "// ]\n", "/**/ "])


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def member(root: Node, key: str) -> tuple[Node, list[Node]]:
    """A list in an object, and its items."""
    found = root.value[key] if isinstance(root.value, dict) else root
    assert isinstance(found.value, list)
    return found, found.value


def spread(text: str, gap: str) -> str:
    """The text with a gap wherever one may be."""
    pieces, quoted, escaped = [], False, False
    for one in text:
        if one == '"' and not escaped:
            quoted = not quoted
        escaped = quoted and one == "\\" and not escaped
        pieces.append(one + gap if not quoted and one in "{}[],:" else one)
    return "".join(pieces)


@settings(max_examples=100)
@given(VALUES, st.sampled_from([None, 2]), GAPS)
def test_what_is_json_is_read_as_json(value: Any, indent: int | None, gap: str) -> None:
    assert plain(jsonc.parse(spread(json.dumps(value, indent=indent), gap))) == value


@settings(max_examples=100)
@given(st.text(st.sampled_from([*'{}[],:"\\/* \n01e-.tfnul', "\ufeff"]), max_size=15))
def test_what_is_no_json_is_refused_or_has_a_trailing_comma_or_a_comment(text: str) -> None:
    try:
        ours = plain(jsonc.parse(text))
    except Misread:
        assert not is_json(text)
        return
    if "/" not in text and ",]" not in "".join(text.split()) and ",}" not in "".join(text.split()):
        assert ours == json.loads(text.removeprefix("\ufeff"))


@settings(max_examples=100)
@given(
    st.lists(OBJECTS, max_size=3),
    st.lists(OBJECTS, max_size=2),
    st.text(max_size=4),
    SCALARS,
    st.sampled_from([None, 2, "\t"]),
    GAPS,
)
def test_only_what_is_set_or_added_changes(
    items: list[dict[str, Any]], more: list[Any], key: str, value: Any, indent: Any, gap: str
) -> None:
    text = spread(json.dumps({"before": 1, "items": items, "after": [1]}, indent=indent), gap)
    editor = jsonc.Editor(text)
    assert editor.text() == text
    listed, entries = member(editor.root, "items")
    for entry in entries:
        editor.set(entry, key, value)
    editor.append(listed, more)
    after = plain(jsonc.parse(editor.text()))
    assert after == {"before": 1, "items": [*({**one, key: value} for one in items), *more], "after": [1]}


def test_comments_trailing_commas_and_layout_stay() -> None:
    text = '{\r\n\t"a": [\r\n\t\t{"n": 1, /* one */ "s": "x"}, // first\r\n\t],\r\n}\r\n'
    editor = jsonc.Editor(text)
    listed, [entry] = member(editor.root, "a")
    editor.set(entry, "s", "y")
    editor.set(entry, "t", True)
    editor.append(listed, [{"n": 2}])
    lines = [
        "{",
        '\t"a": [',
        '\t\t{"n": 1, /* one */ "t": true, "s": "y"},',
        "\t\t{",
        '\t\t\t"n": 2',
        "\t\t}, // first",
    ]
    assert editor.text() == "\r\n".join([*lines, "\t],", "}", ""])


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("", 1, "empty"),
        ("// nothing\n", 1, "empty"),
        ('{"a": 1\n"b": 2}', 2, "comma"),
        ('{"a": NaN}', 1, "no JSON"),
        ('{"a": 01}', 1, "no JSON"),
        ("{'a': 1}", 1, "double quotes"),
        ('{"a": "x\ny"}', 1, "does not end"),
        ('{"a": 1}\n{', 2, "more after the end"),
        ("[" * 100, 1, "deeper than 64"),
        ('{"a": ' * 100, 1, "deeper than 64"),
        ('{"a" 1}', 1, "colon"),
        ("[1,,2]", 1, "value belongs"),
        ('{"a": 1%s}' % ("0" * 5000), 1, "no JSON"),
    ],
)
def test_mistakes_are_named_with_their_line(text: str, line: int, why: str) -> None:
    with pytest.raises(Misread, match=why) as caught:
        jsonc.parse(text)
    assert caught.value.line == line


def test_more_values_than_can_be_believed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonc, "MOST", 100)
    jsonc.parse("[" + "0,\n" * 99 + "]")
    with pytest.raises(Misread, match="more than 100 values") as caught:
        jsonc.parse("[" + "0,\n" * 100 + "]")
    assert caught.value.line == 100
