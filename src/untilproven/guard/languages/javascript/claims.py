"""What a matcher says of a value, by its name and its arguments."""

import re

from ast_grep_py import SgNode

from untilproven.guard.facts import Strength
from untilproven.guard.languages.javascript.comparing import compared, is_about_size
from untilproven.guard.languages.javascript.counting import COMPARING, counted
from untilproven.guard.languages.javascript.matchers import FALSE, NEAR, RAISING, SAYS, SEEN, STRENGTHS, TRUE
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
_WHOLE = re.compile(r"/\^(?:\\.|[^\\.\[(|?*])+\$/[a-z]*")
"""The pattern of a text as a whole, which leaves hardly anything open."""
_AT_LEAST = frozenset({"toBeGreaterThanOrEqual", "least", "gte", "isAtLeast"})
_THERE = frozenset({"toBeDefined", "isDefined"})
"""What says yes or no is always there."""
_VALUES = frozenset({"toHaveProperty", "propertyVal", "deepPropertyVal", "nestedPropertyVal", "ownPropertyVal"})
_PROPERTIES = _VALUES | {"property", "ownProperty", "nestedProperty", "deepProperty"}
_DIGITS = 2
_MOST_DIGITS = 100


def in_order(name: str, actual: SgNode, args: tuple[SgNode, ...]) -> tuple[SgNode, tuple[SgNode, ...]]:
    """What is looked at, then what it is compared with: a value that is written out is what to expect."""
    if args and name in COMPARING and _is_written_out(actual) and not _is_written_out(args[0]):
        return args[0], (actual, *args[1:])
    return actual, args


def _is_written_out(node: SgNode) -> bool:
    return bare(node).kind() == "template_string" or is_constant(node)


def claim(name: str, actual: SgNode, args: tuple[SgNode, ...], scope: Scope, *, is_negated: bool) -> Claim:
    """Of `expect(actual).name(...args)`."""
    about = about_of(actual)
    first = args[0] if args else None
    if name in RAISING:
        return Claim(about, Strength.SOMETHING) if is_negated else _raised(name, about, args)
    if name in NEAR and first is not None:
        return Claim(about, Strength.PARTLY, written(first), tolerance=_tolerance(name, args))
    asked = _truth_asked(name, first)
    if asked is not None and (found := _of_truth(actual, scope, is_true=asked is not is_negated)) is not None:
        return found
    expected = written(bare(first)) if first is not None else SAYS.get(name)
    if _is_made_up(name, actual, first, scope):
        return Claim(about, Strength.NOTHING, expected)
    if not is_negated and (_answers_itself(about, expected, scope) or _always_holds(name, actual, about, expected)):
        return Claim(about, Strength.NOTHING, expected)
    if (said := counted(name, actual, args, is_negated=is_negated)) is not None:
        return said
    if (said := _of_property(name, about, args)) is not None and not is_negated:
        return said
    return Claim(about, _strength(name, actual, first, is_negated=is_negated), expected)


def _strength(name: str, actual: SgNode, expected: SgNode | None, *, is_negated: bool) -> Strength:
    strength = STRENGTHS.get(name, Strength.PARTLY)
    if strength == Strength.EXACTLY:
        return Strength.SOMETHING if is_negated else _weight(name, actual, expected)
    if strength == Strength.SOMETHING and expected is None and not is_negated and SEEN.fullmatch(written(bare(actual))):
        return Strength.EXACTLY
    if expected is None or is_negated:
        return strength
    if name in _MATCHING and _WHOLE.fullmatch(expected.text()):
        return Strength.EXACTLY
    return Strength.SOMETHING if name == "toMatchObject" and expected.text() == "{}" else strength


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


def _of_truth(actual: SgNode, scope: Scope, *, is_true: bool) -> Claim | None:
    """A name that is false until something happens counts as what was called, or was not."""
    said = written(bare(actual))
    name = said.lstrip("!")
    if name not in scope.flags:
        return compared(actual, is_true=is_true)
    is_set = is_true is ((len(said) - len(name)) % 2 == 0)
    return Claim(name, Strength.PARTLY) if is_set else Claim(name, Strength.EXACTLY, "0")


def _of_property(name: str, about: str, args: tuple[SgNode, ...]) -> Claim | None:
    """`expect(x).toHaveProperty("a", 1)` is about `x.a`. What stands behind a name may also be a message."""
    if name not in _PROPERTIES or len(args) != len(("key", "value")):
        return None
    key = string_of(args[0])
    if key is None or (args[1].kind() == "string" and name not in _VALUES):
        return None
    return Claim(f"{about}.{key}", _weight(name, args[0], args[1]), written(bare(args[1])))


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
