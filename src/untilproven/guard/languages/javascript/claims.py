"""What a matcher says of a value, by its name and its arguments."""

from ast_grep_py import SgNode

from untilproven.guard.facts import Strength
from untilproven.guard.languages.javascript.comparing import compared, is_about_size
from untilproven.guard.languages.javascript.matchers import FALSE, NEAR, RAISING, SAYS, STRENGTHS, TRUE
from untilproven.guard.languages.javascript.nodes import (
    FUNCTIONS,
    bare,
    is_constant,
    number_of,
    statements,
    string_of,
    written,
)
from untilproven.guard.languages.javascript.openings import value_at
from untilproven.guard.languages.javascript.scope import Scope
from untilproven.guard.languages.syntax import Claim

_ANY_ERROR = "Error"
_BROAD_ERRORS = frozenset({_ANY_ERROR, "Object", "Function", "Boolean"})
_ALWAYS = frozenset({'""', "/.*/", "/(?:)/", "/^/", "/$/", "/^.*$/", "/[\\s\\S]*/", "/./s"})
_MATCHING = frozenset({"toMatch", "match", "toContain", "toContainText", "regex", "include", "contain"})
_AT_LEAST = frozenset({"toBeGreaterThanOrEqual", "least", "gte", "isAtLeast"})
_THERE = frozenset({"toBeDefined", "isDefined"})
"""What says yes or no is always there."""
_DIGITS = 2
_MOST_DIGITS = 100


def claim(name: str, actual: SgNode, args: tuple[SgNode, ...], scope: Scope, *, is_negated: bool) -> Claim:
    """Of `expect(actual).name(...args)`."""
    about = about_of(actual)
    first = args[0] if args else None
    if name in RAISING:
        return Claim(about, Strength.SOMETHING) if is_negated else _raised(name, about, args)
    if name in NEAR and first is not None:
        return Claim(about, Strength.PARTLY, written(first), tolerance=_tolerance(name, args))
    strength = STRENGTHS.get(name, Strength.PARTLY)
    asked = _truth_asked(name, first)
    if asked is not None and (found := compared(actual, is_true=asked is not is_negated)) is not None:
        return found
    expected = written(bare(first)) if first is not None else SAYS.get(name)
    if _is_made_up(name, actual, first, scope):
        return Claim(about, Strength.NOTHING, expected)
    if not is_negated and (_answers_itself(about, expected, scope) or _always_holds(name, actual, about, expected)):
        return Claim(about, Strength.NOTHING, expected)
    if strength == Strength.EXACTLY:
        strength = Strength.SOMETHING if is_negated else _weight(name, actual, first)
    elif name == "toMatchObject" and expected == "{}":
        strength = Strength.SOMETHING
    return Claim(about, strength, expected)


def about_of(actual: SgNode) -> str:
    """What is looked at; of a function that is called for its error, what it does."""
    actual = bare(actual)
    if actual.kind() in FUNCTIONS:
        inside = statements(actual.field("body"))
        if len(inside) == 1:
            return written(inside[0]).removeprefix("return ").removeprefix("await ")
    return written(actual)


def _truth_asked(name: str, expected: SgNode | None) -> bool | None:
    """Whether a matcher asks for true, or for false, and nothing else."""
    if expected is not None and expected.kind() in {"true", "false"} and STRENGTHS.get(name) == Strength.EXACTLY:
        return expected.kind() == "true"
    if name in FALSE:
        return False
    return True if name in TRUE else None


def _weight(name: str, actual: SgNode, expected: SgNode | None) -> Strength:
    """What equality with this value, of this value, rules out."""
    if bare(actual).kind() == "unary_expression" and bare(actual).text().startswith("typeof"):
        return Strength.SOMETHING
    if is_about_size(actual):
        return Strength.PARTLY
    if expected is None:
        return Strength.SOMETHING if name == "toMatchInlineSnapshot" else Strength.EXACTLY
    text = expected.text() if expected.kind() == "call_expression" else ""
    if text.startswith("expect."):
        return Strength.SOMETHING if text.startswith(("expect.any(", "expect.anything(")) else Strength.PARTLY
    return Strength.EXACTLY


def _is_made_up(name: str, actual: SgNode, first: SgNode | None, scope: Scope) -> bool:
    """Whether nothing in it comes from the code."""
    if name not in STRENGTHS or not is_constant(actual, scope.fixed):
        return False
    return first is None or is_constant(first, scope.fixed)


def _answers_itself(about: str, expected: str | None, scope: Scope) -> bool:
    """Whether it asks a function that was replaced for what it was told to answer."""
    called, bracket, _ = about.partition("(")
    return bool(bracket) and expected is not None and expected in scope.rigged.get(called, ())


def _always_holds(name: str, actual: SgNode, about: str, expected: str | None) -> bool:
    if STRENGTHS.get(name) == Strength.EXACTLY:
        return expected == about and name not in SAYS
    if name in _AT_LEAST:
        return expected == "0" and is_about_size(actual)
    if name in _THERE:
        return bare(actual).kind() == "call_expression" and compared(actual, is_true=True) is not None
    return name in _MATCHING and expected in _ALWAYS


def _raised(name: str, about: str, args: tuple[SgNode, ...]) -> Claim:
    if "Snapshot" in name:
        return Claim(about, Strength.EXACTLY, written(args[0]) if args else None, error=_ANY_ERROR)
    error, expected = _ANY_ERROR, None
    for argument in args:
        kind = argument.kind()
        if kind in {"identifier", "member_expression"} and error == _ANY_ERROR:
            error = argument.text()
        elif kind == "object" and (named := value_at(argument, "instanceOf") or value_at(argument, "name")):
            error = string_of(named) or named.text()
            expected = written(argument)
        elif kind == "new_expression" and (made := argument.field("constructor")):
            error, expected = made.text(), written(argument)
        elif expected is None:
            expected = written(argument)
    is_exact = error not in _BROAD_ERRORS or (expected is not None and expected not in _ALWAYS)
    return Claim(about, Strength.EXACTLY if is_exact else Strength.PARTLY, expected, error=error)


def _tolerance(name: str, args: tuple[SgNode, ...]) -> float | None:
    given = number_of(args[1]) if len(args) > 1 else None
    if name != "toBeCloseTo":
        return given
    digits = given if len(args) > 1 else _DIGITS
    return 10**-digits / 2 if digits is not None and abs(digits) < _MOST_DIGITS else None
