"""Other programs' settings are added to and taken out of with everything else as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.session.plugins.jsonc import NotJson, parse
from untilproven.session.plugins.settings import Hook, with_hooks, without_hooks
from untilproven.session.plugins.splice import added, removed

HOOKS = (
    Hook("Stop", "ralph hook stop --agent claude --within 3600", 3600),
    Hook("Prompt", "ralph hook prompt --agent claude", 60),
)
FOREIGN = {"hooks": [{"type": "command", "command": "echo ralph hook"}]}
SHAPES = {
    "empty object": "{}",
    "empty object and a line": "{}\n",
    "empty over lines": "{\n}\n",
    "a comment alone": "{\n  // nothing yet\n}\n",
    "one key": '{"a": 1}',
    "no blanks": '{"a":1,"b":[1,2]}',
    "two spaces": '{\n  "model": "x",\n  "env": {"A": "b"}\n}\n',
    "four spaces": '{\n    "model": "x"\n}\n',
    "tabs": '{\n\t"model": "x"\n}\n',
    "CRLF": '{\r\n  "model": "x"\r\n}\r\n',
    "a byte order mark": '\ufeff{\n  "model": "x"\n}\n',
    "no line at the end": '{\n  "model": "x"\n}',
    "comments": '// mine\n{\n  "model": "x" // the good one\n  /* and\n  so on */\n}\n// end\n',
    "a comma at the end": '{\n  "model": "x",\n}\n',
    "a comma and a comment": '{\n  "model": "x", // why\n}\n',
    "empty hooks": '{\n  "hooks": {}\n}\n',
    "an empty event": '{\n  "hooks": {\n    "Stop": []\n  }\n}\n',
    "hooks of others": json.dumps({"hooks": {"Stop": [FOREIGN], "Other": [FOREIGN]}, "z": None}, indent=2),
    "hooks of others in one line": json.dumps({"hooks": {"Stop": [FOREIGN]}}),
    "a key twice": '{"hooks": {"Stop": 1}, "hooks": {"Stop": []}}',
    "what looks like a comment": '{\n  "url": "http://x/*y*/",\n  "q": "\\"//"\n}\n',
    "letters of all kinds": '{\n  "name": "żółw 🐢"\n}\n',
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_what_is_added_is_read_and_what_was_there_stays(text: str) -> None:
    new = with_hooks(text, HOOKS)
    before, after = parse(text).plain(), parse(new).plain()
    for hook in HOOKS:
        assert after["hooks"][hook.event][-1] == hook.entry()
    assert {key: value for key, value in after.items() if key != "hooks"} == {
        key: value for key, value in before.items() if key != "hooks"
    }
    for words in text.replace("//", "\n//").splitlines():
        assert words.strip().rstrip(",{}[]") in new
    assert ("\r\n" in text) == ("\r\n" in new)
    assert new.count("\n") == 0 if "\n" not in text and text != "{}" else new.count("\n") > 1
    assert new.startswith("\ufeff") == text.startswith("\ufeff")


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_what_was_added_can_be_taken_out(text: str) -> None:
    left = without_hooks(with_hooks(text, HOOKS))
    kept = text in _WITH_OTHERS
    assert parse(left).plain() == {
        key: value for key, value in parse(text).plain().items() if key != "hooks" or kept
    } | (
        {"hooks": {}} if text == SHAPES["a key twice"] else {}  # the one before must not come into force
    )
    if "hooks" not in text and text != SHAPES["empty over lines"]:
        assert left == text


_WITH_OTHERS = {SHAPES["hooks of others"], SHAPES["hooks of others in one line"]}


def test_hooks_of_others_stay_to_the_byte() -> None:
    for text in _WITH_OTHERS:
        assert without_hooks(with_hooks(text, HOOKS)) == text


def test_a_hook_of_ours_that_the_user_has_put_among_others_is_found() -> None:
    ours = {"type": "command", "command": "/opt/x/bin/ralph hook stop --agent claude"}
    text = json.dumps({"hooks": {"Stop": [{"matcher": "", "hooks": [FOREIGN["hooks"][0], ours]}]}}, indent=2)
    left = parse(without_hooks(text)).plain()
    assert left == {"hooks": {"Stop": [{"matcher": "", "hooks": FOREIGN["hooks"]}]}}


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("", 1, "empty"),
        ('{\n"a": 1\n"b": 2\n}', 3, "instead of `,` or `}`"),
        ('{\n\n"a": nope}', 3, "instead of a value"),
        ('{"a": 1}\n}', 2, "after the end"),
        ('{"a": "\n"}', 1, "instead of a value"),
        ("{'a': 1}", 1, "instead of a key"),
        ('{\n"a" 1}', 2, "instead of `:`"),
        ("[1,,2]", 1, "instead of a value"),
        ('{"a": [1, 2', 1, "the end of the file"),
        ("/* {}", 1, "instead of a value"),
        ("[" * 5000, 1, "nested deeper"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(NotJson, match=why) as caught:
        parse(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[]", "the whole file is not an object"),
        ('{\n"hooks": []}', "line 2: `hooks` is not an object"),
        ('{"hooks": null}', "`hooks` is not an object"),
        ('{"hooks": {\n\n"Stop": {}}}', r"line 3: `hooks\.Stop` is not an array"),
    ],
)
def test_settings_of_another_form_are_refused(text: str, what: str) -> None:
    with pytest.raises(NotJson, match=what):
        with_hooks(text, HOOKS)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), _VALUES, max_size=4), st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_any_settings_come_back_as_they_were(
    value: dict[str, object], indent: int | str | None, ascii_only: bool
) -> None:
    value.pop("hooks", None)
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert parse(text).plain() == value
    assert json.loads(with_hooks(text, HOOKS)) == {
        **value,
        "hooks": {hook.event: [hook.entry()] for hook in HOOKS},
    }
    assert without_hooks(with_hooks(text, HOOKS)) == text


@given(st.lists(_VALUES, min_size=1, max_size=4), st.data(), st.sampled_from([None, 2]))
def test_any_item_can_be_taken_out_of_a_list(items: list[object], data: st.DataObject, indent: int | None) -> None:
    text = json.dumps(items, indent=indent)
    at = data.draw(st.integers(0, len(items) - 1))
    assert json.loads(removed(text, parse(text), at)) == items[:at] + items[at + 1 :]
    assert json.loads(added(json.dumps({"a": items}, indent=indent), ("a",), 5)) == {"a": [*items, 5]}
