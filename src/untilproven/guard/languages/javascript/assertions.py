"""From a chain of calls to the assertions in it, in whichever dialect."""

from typing import NamedTuple

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.languages.javascript.claims import claim, in_order
from untilproven.guard.languages.javascript.implied import answered, implied, is_wait
from untilproven.guard.languages.javascript.matchers import ASSERTS, CHAINED
from untilproven.guard.languages.javascript.nodes import Link, bare, is_constant, string_of, written
from untilproven.guard.languages.javascript.scope import Scope
from untilproven.guard.languages.syntax import Claim, flat_text, line_of

FAILING = frozenset({"fail", "unreachable"})
_EXPECTING = frozenset({"expect", "should"})
_LOOSE_TYPES = frozenset({"toExtend", "toMatchTypeOf", "toBeCallableWith", "toBeConstructibleWith"})
_WITH_VALUE = frozenset({"soft", "poll", "element"})
_ASSERTING = frozenset({"assert", "tap", "tape", "QUnit", "chai", "strict", "expect"})
_BARE = frozenset(
    {"strictEqual", "deepStrictEqual", "deepEqual", "notStrictEqual", "equal", "rejects", "throws", "doesNotThrow"}
)
_CALLED_WORDS = frozenset({"and", "that", "with", "withContext", "withMessage", "catch", "then", "notify", "finally"})
_PREPARING = frozenset({"expect", "async", "timeout", "step", "plan", "register", "use", "comment"})
_LONGEST_PREFIX = 3


class Found(NamedTuple):
    assertion: Assertion
    is_weak: bool = False
    """It counts only where nothing else does."""
    is_barrier: bool = False
    """It fails where it is reached, and so says that it is not."""


def found_in(links: list[Link], scope: Scope, *, is_statement: bool) -> list[Found]:
    """`is_statement` if nothing is done with the value of the chain."""
    names = [link.name for link in links]
    whole = links[-1].node
    if _fails(links, scope):
        return [Found(made(whole, Claim(written(whole), Strength.SOMETHING)), is_weak=True, is_barrier=True)]
    at = 1 if names[0] in {"chai", "this"} and len(links) > 1 else 0
    if names[at] in _EXPECTING:
        return _expecting(links[at:], whole, scope)
    if names[0] == "expectTypeOf":
        return _typed(links, whole)
    if "should" in names[1:]:
        return _should(links, names.index("should", 1), whole, scope)
    if (asserted := _asserted(links, scope)) is not None:
        name, given = asserted
        actual, args = in_order(name, given[0], given[1:])
        return [_found(whole, actual, claim(name, actual, args, scope, is_negated=names[0] == "refute"))]
    if (answers := answered(links)) or not is_statement:
        return [Found(one) for one in answers]
    if (said := implied(links, whole, scope)) is not None:
        strength, about = said
        return [Found(made(whole, Claim(about, strength)))]
    if is_wait(links):
        return [Found(made(whole, Claim(written(whole), Strength.SOMETHING)), is_weak=True)]
    return []


def made(whole: SgNode, said: Claim) -> Assertion:
    return Assertion(
        written(whole), said.about, said.strength, line_of(whole), said.expected, said.tolerance, said.error
    )


def _found(whole: SgNode, actual: SgNode, said: Claim) -> Found:
    """`expect(true).toBe(false)` and the like mark a place that must not be reached."""
    return Found(made(whole, said), is_weak=said.strength > Strength.NOTHING and is_constant(actual))


def _fails(links: list[Link], scope: Scope) -> bool:
    start = links[0].name
    first = 3 if len(links) > 1 and links[1].name == "assert" else 2
    if not any(link.name in FAILING and link.args is not None for link in links[:first]):
        return False
    return start in _ASSERTING or start in scope.givers or start in FAILING


def _expecting(links: list[Link], whole: SgNode, scope: Scope) -> list[Found]:
    """`expect(x)...`, `expect.soft(x)...`, `should(x)...`, `should.exist(x)`."""
    first, rest = links[0], links[1:]
    if first.args is None and rest and rest[0].args:
        if rest[0].name == "assert":
            actual = rest[0].args[0]
            return [_found(whole, actual, claim("ok", actual, (), scope, is_negated=False))]
        if rest[0].name in _WITH_VALUE:
            first, rest = rest[0], rest[1:]
    if first.args is None and first.name == "should" and rest and rest[-1].args:
        actual, *args = rest[-1].args
        return [_matched(actual, [*rest[:-1], rest[-1]._replace(args=tuple(args))], whole, scope)]
    return [_matched(first.args[0], rest, whole, scope)] if first.args else []


def _typed(links: list[Link], whole: SgNode) -> list[Found]:
    """`expectTypeOf(x).toEqualTypeOf<string>()`, which a compiler decides."""
    last = links[-1]
    if len(links) == 1 or last.args is None:
        return [Found(made(whole, Claim(written(whole), Strength.NOTHING)))]
    strength = Strength.PARTLY if last.name in _LOOSE_TYPES else Strength.EXACTLY
    if any(link.name == "not" for link in links):
        strength = Strength.SOMETHING
    named = whole.field("type_arguments")
    expected = flat_text(named) if named is not None else last.name
    return [Found(made(whole, Claim(written(links[-2].node), strength, expected)))]


def _should(links: list[Link], at: int, whole: SgNode, scope: Scope) -> list[Found]:
    """`x.should.equal(1)`, and what Cypress makes of it: `cy.get(x).should("have.length", 3)`."""
    about = links[at - 1].node
    if links[at].args is None:
        return [_matched(about, links[at + 1 :], whole, scope)]
    found = []
    for link in links[at:]:
        if link.name not in {"should", "and"} or not link.args:
            continue
        said = string_of(link.args[0])
        if said is None:
            found.append(Found(made(whole, Claim(written(about), Strength.PARTLY))))
            continue
        words = [Link(word, None, link.node) for word in said.split(".")]
        words[-1] = words[-1]._replace(args=link.args[1:])
        found.append(_matched(about, words, link.node, scope))
    return found


def _matched(actual: SgNode, links: list[Link], whole: SgNode, scope: Scope) -> Found:
    """The strongest of what a chain after `expect(actual)` says."""
    is_negated = sum(link.name in {"not", "never"} for link in links) % 2 == 1
    is_rejected = any(link.name == "rejects" and link.args is None for link in links)
    said = []
    for link in links:
        if not _says_nothing(link):
            looked_at, args = in_order(link.name, actual, link.args or ())
            said.append((looked_at, claim(link.name, looked_at, args, scope, is_negated=is_negated)))
    nothing = (actual, Claim(written(bare(actual)), Strength.NOTHING))
    looked_at, best = max(said, key=lambda one: one[1].strength, default=nothing)
    if is_rejected and best.error is None:
        best = best._replace(error="Error")
    return _found(whole, looked_at, best)


def _says_nothing(link: Link) -> bool:
    """A word between others; `toBe` that is not called."""
    if link.args is None:
        return link.name in CHAINED or link.name.startswith("to")
    return link.name in _CALLED_WORDS


def _asserted(links: list[Link], scope: Scope) -> tuple[str, tuple[SgNode, ...]] | None:
    """What is asserted, and of what: `assert(x)`, `assert.equal(a, b)`, `t.is(a, b)`, `sinon.assert.called(spy)`,
    `assertEquals(a, b)`; None if nothing is."""
    called = next((link for link in links if link.args is not None), None)
    if called is None or not called.args:
        return None
    before = [link.name for link in links[: links.index(called)]]
    if not before:
        name = _bare_name(called.name, len(called.args))
        return (name, called.args) if name is not None else None
    if before in (["assert"], ["refute"]) and called.name not in _PREPARING:
        return called.name, called.args
    if len(before) > _LONGEST_PREFIX or called.name not in ASSERTS:
        return None
    is_said_to = before[-1] in {"assert", "strict"} or before[0] in {"assert", "tap"} or before[0] in scope.givers
    return (called.name, called.args) if is_said_to else None


def _bare_name(name: str, given: int) -> str | None:
    if name in {"assert", "ok", "refute"}:
        return "ok"
    if given > 1 and name in _BARE:
        return name
    if given > 1 and name.startswith("assert"):
        short = name.removeprefix("assert").lstrip("_")
        short = short[:1].lower() + short[1:]
        return short if short in ASSERTS else None
    return None
