"""What attributes of Rust say about whether something is built and run."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from untilproven.guard.facts import Running
from untilproven.guard.languages.syntax import Formula, flat, how_often

_DEPENDS = re.compile(
    r"(?:target_\w+|feature|panic|unix|windows|debug_assertions|miri|docsrs|doc|doctest|wasm_browser|emscripten"
    r"|overflow_checks|sanitize|relocation_model|version|accessible|rustversion\w*)\b"
)
_ON_DEMAND = re.compile(
    r"(?:\w+_)?(?:unstable|nightly|loom|shuttle|kani|fuzz\w*|coverage\w*|tarpaulin\w*|integration\w*|slow|e2e|bench\w*)(?:_tests?)?"
)
"""Names by which projects keep some of their tests for a run of their own."""
_TOKENS = re.compile(r"\"(?:[^\"\\]|\\.)*\"|[\w:]+|[(),=]")
_TESTS = re.compile(r"(?:^|::|_)(?:test|tests|rstest|test_case|quickcheck|gtest|parameterized|proptest)$|\wtest$")
Verdict = tuple[Running, str | None]


class Attribute(NamedTuple):
    name: str
    """With its path: `tokio::test`."""
    value: str
    """What stands in its parentheses, or behind its `=`."""
    text: str

    @property
    def last(self) -> str:
        return self.name.rsplit("::", 1)[-1]


@lru_cache(maxsize=1024)
def read(text: str) -> Attribute | None:
    """None for what is no attribute."""
    found = re.match(r"#!?\[\s*(?:unsafe\()?([\w:]+)\s*(.*)\]\s*$", text, re.DOTALL)
    if found is None:
        return None
    value = found[2].strip().removeprefix("=").strip()
    if value.startswith("(") and value.endswith(")"):
        value = value[1:-1]
    return Attribute(found[1], flat(value), text)


def attributes(marks: Iterable[str]) -> Iterator[Attribute]:
    for mark in marks:
        if mark.startswith("#") and (attribute := read(mark)) is not None:
            yield attribute
            yield from _conditional(attribute)


def _conditional(attribute: Attribute) -> Iterator[Attribute]:
    """Of `cfg_attr(all(), ignore)`: those whose condition always holds."""
    if attribute.name != "cfg_attr":
        return
    condition, *rest = split(attribute.value) or [""]
    if _how_often(condition) is Running.ALWAYS:
        yield from (one for part in rest if (one := read(f"#[{part}]")) is not None)


def split(text: str) -> list[str]:
    """At the commas that stand in no brackets and no string."""
    parts, depth = [""], 0
    for piece in re.findall(r"\"(?:[^\"\\]|\\.)*\"|.", text, re.DOTALL):
        depth += (piece in {"(", "[", "{"}) - (piece in {")", "]", "}"})
        if piece == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return [part.strip() for part in parts if part.strip()]


def is_test_attribute(attribute: Attribute) -> bool:
    if attribute.name == "cfg_attr":
        return any(
            (one := read(f"#[{part}]")) is not None and is_test_attribute(one) for part in split(attribute.value)[1:]
        )
    return attribute.name != "cfg" and bool(_TESTS.search(attribute.name))


def running(marks: Iterable[str]) -> Verdict:
    """From all attributes that it, and what it stands in, has."""
    verdicts: list[Verdict] = [(Running.ALWAYS, None)]
    for attribute in attributes(marks):
        if attribute.name == "ignore":
            verdicts.append((Running.NEVER, attribute.value.strip('"') or "ignore"))
        elif attribute.name == "cfg":
            verdicts.append((_how_often(attribute.value), attribute.text))
        elif attribute.name == "cfg_attr":
            condition, *rest = split(attribute.value) or [""]
            if any(re.match(r"(?:\w+::)*ignore\b", part) for part in rest):
                often = _how_often(condition)
                verdicts.append((Running(Running.ALWAYS - often), attribute.text))
    found = min(verdicts, key=lambda verdict: verdict[0])
    return found if found[0] is not Running.ALWAYS else verdicts[0]


def _how_often(condition: str) -> Running:
    """In the builds that run tests."""
    words = _TOKENS.findall(condition)
    formula, _ = _formula(words, 0)
    plain = how_often(formula, _known)
    return plain or how_often(formula, lambda name: None if _ON_DEMAND.fullmatch(name) else _known(name))


def _formula(words: list[str], at: int) -> tuple[Formula, int]:
    if at >= len(words):
        return ("and",), at
    word = words[at]
    if word in {"all", "any", "not"} and words[at + 1 : at + 2] == ["("]:
        parts: list[Formula] = []
        at += 2
        while at < len(words) and words[at] != ")":
            part, at = _formula(words, at)
            parts.append(part)
            at += words[at : at + 1] == [","]
        return ({"all": "and", "any": "or", "not": "not"}[word], *parts), at + 1
    if words[at + 1 : at + 2] == ["="]:
        return " ".join(words[at : at + 3]), at + 3
    if words[at + 1 : at + 2] == ["("]:  # version(...), accessible(...)
        end = words.index(")", at) if ")" in words[at:] else len(words)
        return word, end + 1
    return word, at + 1


def _known(name: str) -> bool | None:
    """A name of a project's own is not set unless somebody asks for it."""
    if name == "test":
        return True
    if name in {"true", "false"}:
        return name == "true"
    return None if _DEPENDS.match(name) else False
