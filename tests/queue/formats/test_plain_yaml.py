"""Our part of YAML against PyYAML: what is read is read the same, and what is not read is refused with its line."""

import contextlib
import re
import time
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from untilproven.queue.formats import plain_yaml
from untilproven.queue.formats.contract import Misread
from untilproven.queue.formats.node import plain


class Core(yaml.SafeLoader):
    """PyYAML with the words of YAML 1.2, as the tools have it whose files these are: `yes` and 2026-01-01 are text.
    Keys are text as well, and `<<` is nothing special."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: ARG002
        return {self.construct_scalar(key): self.construct_object(value, deep=True) for key, value in node.value}


Core.yaml_implicit_resolvers = {}
for tag, pattern in (
    ("null", "~|null|Null|NULL|"),
    ("bool", "true|True|TRUE|false|False|FALSE"),
    ("int", "[-+]?[0-9]+"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"),
):
    Core.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"(?:{pattern})\Z"), None)
Core.add_constructor("tag:yaml.org,2002:int", lambda _, node: int(node.value))
Core.add_constructor("tag:yaml.org,2002:float", lambda _, node: float(node.value))


def theirs(text: str) -> Any:
    try:
        return yaml.load(text, Loader=Core)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError):
        return Misread


def agrees(text: str) -> bool:
    """Whether it was read; if so, as PyYAML reads it."""
    try:
        ours = plain(plain_yaml.parse(text))
    except Misread as wrong:
        if not 1 <= wrong.line <= text.count("\n") + 1:
            pytest.fail(f"there is no line {wrong.line} in {text!r}")
        return False
    assert ours == theirs(text), text
    assert repr(ours) == repr(theirs(text)), text  # 1 is not True, nor 1.0
    return True


WORDS = st.sampled_from(
    [
        "a",
        "tasks",
        "title: x",
        "- ",
        "- a",
        "-",
        "  ",
        "    ",
        "\t",
        "#",
        " # c",
        ":",
        ": ",
        '"',
        "'",
        "\\",
        "|",
        ">",
        "|-",
        ">+",
        "[",
        "]",
        "{",
        "}",
        ",",
        "?",
        "&a",
        "*a",
        "!x",
        "---",
        "...",
        "%",
        "@",
        "`",
        "true",
        "null",
        "~",
        "1",
        "1.5",
        "-3",
        "007",
        "1e3",
        ".5",
        "é",
        "\ufeff",
        "\r\n",
        "\n",
        "\n",
        "\n",
        "\n  ",
        "\n  - ",
        "\n- ",
        "a: ",
        "completed: true",
        "b:",
        "'it''s'",
        '"q\\n"',
        "x: [a, b]",
        "\u2028",
        "\x85",
        "\x0b",
        "\x00",
        "\x7f",
        "=",
        "<<",
    ]
)


@settings(max_examples=1000)
@given(st.lists(WORDS, max_size=25).map("".join))
def test_whatever_is_read_is_read_as_pyyaml_reads_it(text: str) -> None:
    agrees(text)


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=30)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
KEYS = st.sampled_from(["title", "completed", "parallel_group", "description", "a b", "x-1", "Ä"])
DOCUMENTS = st.dictionaries(
    KEYS, st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))
)


@settings(max_examples=100)
@given(DOCUMENTS.filter(bool), st.sampled_from(["|", ">", "'", '"', None]))
def test_what_pyyaml_writes_is_read_as_it_was_or_refused(document: dict[str, Any], style: str | None) -> None:
    agrees(yaml.safe_dump(document, default_style=style, allow_unicode=True, width=10_000, sort_keys=False))


@settings(max_examples=100)
@given(
    st.lists(
        st.fixed_dictionaries({"title": TEXTS, "completed": st.booleans(), "parallel_group": st.integers()}), min_size=1
    )
)
def test_the_lists_of_tasks_that_pyyaml_writes_are_read(tasks: list[dict[str, Any]]) -> None:
    lines = [
        f"- title: {plain_yaml.written(one['title'])}\n  completed: {str(one['completed']).lower()}\n"
        f"  parallel_group: {one['parallel_group']}\n"
        for one in tasks
    ]
    text = "tasks:\n" + "".join(lines)
    assert agrees(text)
    assert plain(plain_yaml.parse(text)) == {"tasks": tasks}


REAL = [
    "tasks:\n  - title: Create auth\n    completed: false\n  - title: Add a dashboard\n    completed: true\n",
    "# ours\n---\ntasks:\n- title: 'It''s done'   # really\n  completed: True\n\n- title: \"a: b # c\"\n",
    'commands:\n  test: "npm test"\n  lint: npm run lint\n  build: ""\nrules:\n  - "be kind"\n',
    "boundaries:\n  never_touch:\n    - \"src/legacy/**\"\n    - '*.lock'\n",
    "tasks:\n  - title: x\n    description: |\n      first\n        deeper\n\n      last\n    completed: false\n",
    "tasks:\n  - title: x\n    description: >-\n      folded\n      text\n\n      second\n",
    "tasks:\n  - title: x\n    description: |+\n      kept\n\n\n  - title: y\n",
    "tasks: []\n",
    "tasks:\n",
    "tasks:\n  -\n    title: under its dash\n",
    "\ufefftasks:\r\n  - title: on Windows\r\n    completed: false\r\n",
    "tags: [a, 'b, c', \"d\", 1, true]\nempty: {}\n",
    "url: http://example.org:80/x\ntime: 12:30\nversion: 1.0\nzip: 00123\nyes: no\ndate: 2026-01-01\n",
    "deep:\n  a:\n    b:\n      - c:\n          d: 1\n",
]


@pytest.mark.parametrize("text", REAL)
def test_what_people_write_is_read(text: str) -> None:
    assert agrees(text)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("", 1, "empty"),
        ("# only words\n", 1, "empty"),
        ("tasks:\n  - title: &a x\n", 2, "begins with &"),
        ("tasks:\n  - title: *a\n", 2, r"begins with \*"),
        ("tasks: !!python/object:os.system x\n", 1, "begins with !"),
        ("a: 1\n---\nb: 2\n", 2, "more than one document"),
        ("%YAML 1.2\n---\na: 1\n", 1, "directive"),
        ("a: one\n  two\n", 2, "several lines"),
        ("a: {b: 1}\n", 1, "braces"),
        ("a: [1, [2]]\n", 1, "brackets"),
        ("a: [1,\n  2]\n", 1, "brackets"),
        ("a: 'open\n", 1, "does not end"),
        ('a: "x" y\n', 1, "after the closing quote"),
        ('a: "\\x41"\n', 1, "escape"),
        ("a: b: c\n", 1, "colon"),
        ("\ta: 1\n", 1, "tab"),
        ("a: 1\n   b: 2\n", 2, "several lines|does not fit"),
        ("a: 1\na: 2\n", 2, "twice"),
        ("- - a\n", 1, "list in a list"),
        ("a: - b\n", 1, "line of its own"),
        ("a: |2\n    b\n", 1, "is not read"),
        ("a: |\n    b\n  c\n", 3, "indented less"),
        ("just words\n", 1, "not `key: value`"),
        ("\n" * (plain_yaml.MOST + 1), plain_yaml.MOST + 1, "more than 200000 lines"),
        ("a: \x1b[31m\n", 1, "not read"),
        ("a: x\u2028y\n", 1, "not read"),
        ("".join(f"{' ' * n}k:\n" for n in range(40)), 18, "deeper than 16"),
    ],
)
def test_what_is_not_read_is_refused_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(Misread, match=why) as caught:
        plain_yaml.parse(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "text",
    [
        "a" + " " * 300_000,
        "a: [" + "b, " * 100_000 + "]",
        "'" * 200_001,
        '"' + "\\" * 200_001,
        "a: " + "b #" * 100_000,
        "\n" * 300_000,
        "a: |\n" + "\n" * 200_000 + " x",
        "- " * 200_000,
    ],
    ids=range(8),
)
def test_a_hostile_text_takes_no_longer_than_its_length_asks_for(text: str) -> None:
    began = time.process_time()
    with contextlib.suppress(Misread):
        plain_yaml.parse(text)
    assert time.process_time() - began < 5
