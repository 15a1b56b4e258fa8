"""What more than one language needs to turn syntax into facts."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import product
from textwrap import dedent
from typing import NamedTuple

from ast_grep_py import Config, SgNode, SgRoot

from untilproven.guard.facts import Assertion, Commented, Declaration, Running, Strength


class Marked(Declaration, frozen=True, eq=False):
    """A declaration that other lines decide about too: attributes before it, marks on what it stands in, its file's
    build constraint, a table it runs through. They are part of its text, so that a change of them is a change of it."""

    marks: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join((*self.marks, self.node.text()))


def of_kinds(*kinds: str) -> Config:
    """What to look for in a tree."""
    return {"rule": {"any": [{"kind": kind} for kind in kinds]}}


class Nodes:
    """Of a tree, looked for when they are first asked for."""

    def __init__(self, find: Callable[[], Iterable[SgNode]]) -> None:
        self._find = find

    def __iter__(self) -> Iterator[SgNode]:
        return iter(self._found)

    @cached_property
    def _found(self) -> list[SgNode]:
        return list(self._find())


def flat(text: str) -> str:
    """White space collapsed."""
    return " ".join(text.split())


def flat_text(node: SgNode) -> str:
    return flat(node.text())


def line_of(node: SgNode) -> int:
    return node.range().start.line + 1


def parsed(text: str, grammar: str, line: int = 1) -> SgNode:
    """A part of a file by itself, its lines numbered as in the file."""
    return SgRoot("\n" * (line - 1) + text, grammar).root()


def is_broken(root: SgNode) -> bool:
    return root.find(kind="ERROR") is not None


class Claim(NamedTuple):
    """What a condition says of a value when it holds."""

    about: str
    strength: Strength
    expected: str | None = None
    tolerance: float | None = None
    error: str | None = None

    def asserted(self, node: SgNode, text: str | None = None) -> Assertion:
        return Assertion(
            text=flat_text(node) if text is None else text,
            about=flat(self.about),
            strength=self.strength,
            line=line_of(node),
            expected=None if self.expected is None else flat(self.expected),
            tolerance=self.tolerance,
            error=self.error,
        )


def in_any_order(one: list[Claim], other: list[Claim]) -> bool:
    """Either of two ways to say that some things have some values: each of them has one, and no two the same."""
    if len(one) < 2 or any(claim.strength is not Strength.EXACTLY for claim in (*one, *other)):
        return False
    things = [{flat(claim.about) for claim in side} for side in (one, other)]
    values = [{flat(claim.expected or "") for claim in side} for side in (one, other)]
    return things[0] == things[1] and values[0] == values[1] and len(things[0]) == len(values[0]) == len(one)


def number_in(text: str) -> float | None:
    """Of a literal in any notation with points and exponents: `1e-6`, `0.01f64`, `1_000`."""
    found = re.match(r"[-+]?\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?", text)
    return float(found[0].replace("_", "")) if found else None


_NAMED = re.compile(r"(?<![\w.])[A-Za-z_][\w:]*(?:\.[A-Za-z_]\w*)*")
_TEXTS = re.compile(r"\"(?:\\.|[^\"\\])*\"")
_OF_ANY_CODE = frozenset(
    {"nil", "true", "false", "err", "error", "len", "cap", "t", "if", "assert", "assert_eq", "assert_ne"}
)


def names_one_thing(condition: str, asked: str) -> bool:
    """Both name a thing, a field of it, or a function that is called; `tt.ok` and `tt.want` are two things."""
    was, now = (frozenset(_NAMED.findall(_TEXTS.sub("", text))) - _OF_ANY_CODE for text in (condition, asked))
    return bool(was & now)


Formula = str | tuple["Formula", ...]
"""A condition of a build: a name, or `("and", ...)`, `("or", ...)`, `("not", one)`."""
_MOST_NAMES = 8


def how_often(formula: Formula, known: Callable[[str], bool | None]) -> Running:
    """Whether it holds in each, some or none of the builds, given what is known of each name."""
    names = sorted(_names_in(formula))
    open_names = [name for name in names if known(name) is None]
    if len(open_names) > _MOST_NAMES:
        return Running.SOMETIMES
    settled = {name: bool(known(name)) for name in names}
    seen = {
        _holds(formula, settled | dict(zip(open_names, values, strict=True)))
        for values in product((True, False), repeat=len(open_names))
    }
    if len(seen) > 1:
        return Running.SOMETIMES
    return Running.ALWAYS if True in seen else Running.NEVER


def _names_in(formula: Formula) -> Iterator[str]:
    if isinstance(formula, str):
        yield formula
    else:
        for part in formula[1:]:
            yield from _names_in(part)


def _holds(formula: Formula, values: dict[str, bool]) -> bool:
    if isinstance(formula, str):
        return values[formula]
    word, *parts = formula
    if word == "not":
        return not any(_holds(part, values) for part in parts)
    if word == "and":
        return all(_holds(part, values) for part in parts)
    return any(_holds(part, values) for part in parts)


TODO = re.compile(r"\b(?:TODO|FIXME|HACK|XXX)\b")
_FEWEST_WORDS_OF_PROSE = 4
_MOST_TRIES = 2


def code_in_comments(
    comments: Iterable[SgNode], is_code: Callable[[str], bool], declares_test: Callable[[str], bool]
) -> Iterator[Commented]:
    """`comments` are those between slashes and stars, or behind two slashes, that are no documentation, in the order
    of the file; what is asked of `is_code` has these taken off. Lines of prose before and after code are left out."""
    for line, lines in _blocks(comments):
        like = [at for at, text in enumerate(lines) if _is_like_code(text) and not _is_prose(text)]
        if not like:
            continue
        for end in dict.fromkeys((len(lines), *(at + 1 for at in reversed(like[-_MOST_TRIES:])))):
            text = "\n".join(lines[like[0] : end])
            if is_code(text):
                yield Commented(text, line + like[0], end - like[0], declares_test(text))
                break


def _is_like_code(text: str) -> bool:
    last = text.rstrip()[-1:]
    if last in {";", "{", "}"} or ":=" in text or " = " in text or text.lstrip().startswith(("#[", "@")):
        return True
    return last in {")", ","} and re.search(r"\w!?\(", text) is not None


def _is_prose(text: str) -> bool:
    """Several words in a row, with nothing between them that code would have."""
    return bool(re.match(rf"\s*(?:[A-Za-z',`-]+ ){{{_FEWEST_WORDS_OF_PROSE}}}", text))


def _blocks(comments: Iterable[SgNode]) -> Iterator[tuple[int, list[str]]]:
    """Comments that stand one below another, with the line of the first."""
    block: list[str] = []
    first, column = 0, -1
    for comment in comments:
        start, text = comment.range().start, comment.text()
        if text.startswith("/*"):
            yield start.line + 1, dedent(text[2:].removesuffix("*/")).splitlines()
            continue
        if block and start.line == first + len(block) and start.column == column:
            block.append(text[2:])
            continue
        if block:
            yield first + 1, block
        block, first, column = [text[2:].rstrip()], start.line, start.column
    if block:
        yield first + 1, block
