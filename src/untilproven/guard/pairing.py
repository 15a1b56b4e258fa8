"""Which test became which: by name, by where it stands, by what is in it."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from untilproven.guard.comparison import Comparison, Pair, Side
from untilproven.guard.facts import Declaration, Function, Test
from untilproven.guard.finding import Signal
from untilproven.guard.whereabouts import went_out_of_sight

How = Literal["same", "moved", "renamed", "hidden"]
Key = Callable[["Placed"], object]

_ALIKE = 0.6
_LONG = 60
"""So long is a text that nobody writes twice by chance."""
_RELATED = 0.5
_MOST_COMPARED = 4_000
"""Beyond that, tests that changed both their names and their text are taken as removed and added."""
_WORD = re.compile(r"\w+")
IN_NAMES = re.compile(r"::|\.| > |/")
"""What stands between the parts of a name."""
_TEST = re.compile(r"^(?:test|Test)(?=[_A-Z])|_?(?:test|(?<=[a-z])Test)$")


class Placed:
    """A declaration in its file."""

    def __init__(self, pair: Pair, side: Side, declaration: Declaration) -> None:
        self.pair, self.side, self.declaration = pair, side, declaration
        self.name = declaration.name

    @cached_property
    def text(self) -> str:
        return self.declaration.text

    @property
    def path(self) -> str:
        return self.side.path

    @property
    def line(self) -> int:
        return self.declaration.line

    @cached_property
    def test(self) -> Test:
        return self.side.test(self.declaration)

    @cached_property
    def function(self) -> Function:
        return self.side.function(self.declaration)

    @cached_property
    def body(self) -> str:
        """Its text without white space and without its own name."""
        return "".join(self.text.replace(self.short, "", 1).split())

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.text)) - {self.short}

    @cached_property
    def short(self) -> str:
        """The last part of its name."""
        return IN_NAMES.split(self.name)[-1]


class Became(NamedTuple):
    """A declaration of the old version and what it is now."""

    before: Placed
    after: Placed
    how: How

    @property
    def differs(self) -> bool:
        return self.before.text != self.after.text


class Tests(NamedTuple):
    kept: tuple[Became, ...]
    """They may be under another name, in another file, or where no runner collects them (`hidden`)."""
    removed: tuple[Placed, ...]
    added: tuple[Placed, ...]


def tests_of(comparison: Comparison) -> Tests:
    before = [one for was, _ in placed(comparison) for one in was]
    after = [one for _, now in placed(comparison) for one in now]
    kept: list[Became] = []
    left, free = [one for one in before if one.declaration.is_test], [one for one in after if one.declaration.is_test]
    left, free = _retitled(left, free, kept)
    for how, key in _KEYS:
        left, free = _match(left, free, how, key, kept)
    left, free = _alike(left, free, "renamed", kept)
    left, free = _in_its_place(left, free, kept)
    if left:
        known = {(one.pair.path, one.name) for one in before if not one.declaration.is_test}
        others = [one for one in after if _may_hide_a_test(one) and (one.pair.path, one.name) not in known]
        left, others = _match(left, others, "hidden", lambda one: one.body, kept)
        left, _ = _alike(left, others, "hidden", kept)
    return Tests(tuple(_with_hidden(kept, comparison)), tuple(left), tuple(free))


def _with_hidden(kept: list[Became], comparison: Comparison) -> Iterator[Became]:
    """Where the file went to where no runner looks, its tests did."""
    texts = [pair.after.text for pair in comparison.pairs if pair.after and pair.path.endswith((".rs", "Cargo.toml"))]
    for one in kept:
        is_gone = one.before.path != one.after.path and went_out_of_sight(one.before.path, one.after.path, texts=texts)
        yield one._replace(how="hidden") if is_gone else one


@lru_cache(maxsize=1)
def functions_of(comparison: Comparison) -> tuple[tuple[Placed | None, Placed], ...]:
    """Functions that are no tests, new and differing ones: as they were, and as they are."""
    return tuple(found for before, after in placed(comparison) for found in _differing(before, after))


def _differing(before: list[Placed], after: list[Placed]) -> Iterator[tuple[Placed | None, Placed]]:
    """What stood in its file word for word, be it in a class of another name, does not differ."""
    named = defaultdict(list)
    for one in before:
        if not one.declaration.is_test:
            named[one.name].append(one)
    for one in after:
        if one.declaration.is_test:
            continue
        was = named[one.name].pop(0) if named[one.name] else None
        if was.text != one.text if was else not (one.pair.before and one.text in one.pair.before.text):
            yield was, one


@lru_cache(maxsize=1)
def placed(comparison: Comparison) -> tuple[tuple[list[Placed], list[Placed]], ...]:
    """All declarations of each file that somebody here wrote: as they were, and as they are."""
    pairs = (pair for pair in comparison.pairs if pair.kind not in {"dependencies", "cache"})
    return tuple((_on(pair, pair.before), _on(pair, pair.after)) for pair in pairs)


def _on(pair: Pair, side: Side | None) -> list[Placed]:
    return [Placed(pair, side, one) for one in side.facts.declarations] if side else []


def _match(
    left: list[Placed], free: list[Placed], how: How, key: Key, kept: list[Became]
) -> tuple[list[Placed], list[Placed]]:
    """Those of both sides that have the same key, in the order in which they stand."""
    if not left:
        return left, free
    found: dict[object, list[Placed]] = defaultdict(list)
    for one in free:
        found[key(one)].append(one)
    rest = []
    taken = set()
    for one in left:
        if candidates := found.get(key(one)):
            other = candidates.pop(0)
            taken.add(id(other))
            kept.append(Became(one, other, how))
        else:
            rest.append(one)
    return rest, [one for one in free if id(one) not in taken]


def _retitled(left: list[Placed], free: list[Placed], kept: list[Became]) -> tuple[list[Placed], list[Placed]]:
    """Those whose name another has now, and whose text stands under a new one."""
    was, now = ({(one.pair.path, one.name): one for one in side} for side in (left, free))
    new = [one for key, one in now.items() if key not in was]
    given_away = [one for key, one in was.items() if new and key in now and now[key].text != one.text]
    long = [one for one in given_away if len(one.body) >= _LONG and one.body != now[one.pair.path, one.name].body]
    found: list[Became] = []
    _match(long, new, "renamed", lambda one: one.body, found)
    kept += found
    gone, taken = {id(one.before) for one in found}, {id(one.after) for one in found}
    return [one for one in left if id(one) not in gone], [one for one in free if id(one) not in taken]


def _alike(left: list[Placed], free: list[Placed], how: How, kept: list[Became]) -> tuple[list[Placed], list[Placed]]:
    """Changed in name and in text, and still the same test to a reader: most of its words are there."""
    if not left or not free or len(left) * len(free) > _MOST_COMPARED:
        return left, free
    scored = sorted(
        ((likeness(one, other), number, place) for number, one in enumerate(left) for place, other in enumerate(free)),
        key=lambda entry: (-entry[0], entry[1], entry[2]),
    )
    gone: set[int] = set()
    taken: set[int] = set()
    for score, number, place in scored:
        if score < _ALIKE:
            break
        if number not in gone and place not in taken:
            gone.add(number)
            taken.add(place)
            kept.append(Became(left[number], free[place], how))
    return (
        [one for number, one in enumerate(left) if number not in gone],
        [one for place, one in enumerate(free) if place not in taken],
    )


def _in_its_place(left: list[Placed], free: list[Placed], kept: list[Became]) -> tuple[list[Placed], list[Placed]]:
    """The only new one where the only one that is gone stood, between the same two, with a good part of its words."""
    if not left or not free:
        return left, free
    was = _between(left, {id(one.before.declaration): at for at, one in enumerate(kept)})
    now = _between(free, {id(one.after.declaration): at for at, one in enumerate(kept)})
    gone, taken = set(), set()
    for place, stood in was.items():
        here = now.get(place, [])
        if len(stood) == len(here) == 1 and likeness(stood[0], here[0]) >= _RELATED:
            gone.add(id(stood[0]))
            taken.add(id(here[0]))
            kept.append(Became(stood[0], here[0], "renamed"))
    return [one for one in left if id(one) not in gone], [one for one in free if id(one) not in taken]


def _between(some: list[Placed], kept: dict[int, int]) -> dict[tuple[str, int, int], list[Placed]]:
    """By file, and by the one before and the one behind of those that are kept; -1 where there is none."""
    found = defaultdict(list)
    for side in {one.side: None for one in some}:
        known = [(kept.get(id(each)), each) for each in side.facts.declarations if each.is_test]
        before, behind = -1, [-1]
        for number, _ in reversed(known):
            behind.append(behind[-1] if number is None else number)
        of_side = {id(one.declaration): one for one in some if one.side is side}
        for at, (number, each) in enumerate(known):
            if one := of_side.get(id(each)):
                found[one.pair.path, before, behind[len(known) - 1 - at]].append(one)
            before = before if number is None else number
    return found


def likeness(one: Placed, other: Placed) -> float:
    together = len(one.words | other.words)
    return len(one.words & other.words) / together if together else 0.0


def _said_by_name(one: Placed) -> str:
    """What is left of its name without the word that it is a test: `testAddsUp` is `addsUp` and `adds_up`."""
    around = one.name[: len(one.name) - len(one.short)]
    return around + (_TEST.sub("", one.short).replace("_", "").lower() or one.short)


def _may_hide_a_test(one: Placed) -> bool:
    """A function that is no test, in a file of tests or in one that has some."""
    if one.declaration.is_test:
        return False
    return one.pair.is_test or one.side.has_tests


_KEYS: tuple[tuple[How, Key], ...] = (
    ("same", lambda one: (one.pair.path, one.name)),
    ("moved", lambda one: one.name),
    ("renamed", lambda one: one.body),
    ("renamed", lambda one: (one.pair.path, _said_by_name(one))),
)


def signal_of(
    name: str,
    one: Became,
    *,
    was: str | None = None,
    now: str | None = None,
    amount: float = 1,
    explained: tuple[str, ...] = (),
) -> Signal:
    """About a test that was there before, at the place where it is now."""
    after = one.after
    return Signal(name, after.path, after.line, after.name, was=was, now=now, amount=amount, explained=explained)
