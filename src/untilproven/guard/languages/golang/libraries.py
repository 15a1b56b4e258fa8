"""Assertions of testify, gomega and their like: what each word of theirs says of a value."""

from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.facts import Strength
from untilproven.guard.languages.golang.claims import (
    LITERALS,
    arguments,
    called,
    claims,
    difference,
    equality,
    is_error,
)
from untilproven.guard.languages.syntax import Claim, flat_text, number_in

_EQUAL = frozenset(
    {"Equal", "EqualValues", "Exactly", "JSONEq", "YAMLEq", "Same", "EqualExportedValues", "DeepEqual", "Eq", "EqOp"}
    | {"EqJSON", "EqFunc", "ObjectsAreEqual"}
)
_DIFFERENT = frozenset({"NotEqual", "NotEqualValues", "NotSame", "NotEq", "NotDeepEqual"})
_SOMETHING = frozenset(
    {"NotNil", "NoError", "NilError", "NoErr", "NotEmpty", "NotZero", "NotPanics", "IsType", "Implements", "Fail"}
    | {"FailNow", "NotErrorIs", "NotErrorAs", "NotImplements", "IsNotType", "ErrNil"}
)
_PARTLY = frozenset(
    {"Len", "Contains", "NotContains", "Subset", "NotSubset", "ElementsMatch", "NotElementsMatch", "Regexp"}
    | {"NotRegexp", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Positive", "Negative", "IsIncreasing"}
    | {"IsDecreasing", "IsNonIncreasing", "IsNonDecreasing", "Eventually", "EventuallyWithT", "Never", "FileExists"}
    | {"NoFileExists", "DirExists", "NoDirExists", "HTTPStatusCode", "HTTPSuccess", "HTTPError", "HTTPRedirect"}
    | {"HTTPBodyContains", "HTTPBodyNotContains", "Condition", "WithinRange", "AssertExpectations", "AssertCalled"}
    | {"AssertNotCalled", "AssertNumberOfCalls", "StrContains", "SliceContains", "MapContainsKey", "SliceLen", "MapLen"}
)
_ERRORS = frozenset({"Error", "Err", "ErrorContains", "ErrorIs", "ErrorAs", "ErrorType", "EqualError", "Panics"})
_PANICS = frozenset({"PanicsWithValue", "PanicsWithError"})
_NEAR = frozenset({"InDelta", "InEpsilon", "InDeltaSlice", "InDeltaMapValues", "InEpsilonSlice", "WithinDuration"})
CHECKED = frozenset({"Assert", "Check"})
_TRUTH = {"True": True, "False": False}
WORDS = (
    _EQUAL
    | _DIFFERENT
    | _SOMETHING
    | _PARTLY
    | _ERRORS
    | _PANICS
    | _NEAR
    | CHECKED
    | _TRUTH.keys()
    | {"Nil", "Zero", "Empty"}
)
AMBIGUOUS = frozenset({"Error", "Err", "Fail", "FailNow", "Check", "Never", "Condition"})
"""Also what loggers and others call their own: these count only where it is clear who is asked."""

_CHECKERS = {
    "Equals": Strength.EXACTLY,
    "DeepEquals": Strength.EXACTLY,
    "CmpEquals": Strength.EXACTLY,
    "JSONEquals": Strength.EXACTLY,
    "ErrorIs": Strength.EXACTLY,
    "ErrorMatches": Strength.EXACTLY,
    "IsNil": Strength.EXACTLY,
    "IsNotNil": Strength.SOMETHING,
    "NotNil": Strength.SOMETHING,
    "IsTrue": Strength.SOMETHING,
    "IsFalse": Strength.SOMETHING,
    "Not": Strength.SOMETHING,
}


def without_f(name: str) -> str:
    return name[:-1] if name.endswith("f") and name[:-1] in WORDS else name


def said(name: str, given: list[SgNode]) -> Iterator[Claim]:  # noqa: C901, PLR0912 - one word of the libraries after another
    """By one of `WORDS`, of the arguments behind the `t`."""
    if not given:
        if name not in _TRUTH:
            yield Claim("", Strength.PARTLY if name in _PARTLY else Strength.SOMETHING)
        return
    about, expected = given[0], given[1] if len(given) > 1 else None
    text = about.text()
    value = expected.text() if expected is not None else None
    if name in _TRUTH:
        yield from claims(about, _TRUTH[name])
    elif name in _EQUAL and expected is not None:
        yield equality(about, expected, expected_first=True)
    elif name in _DIFFERENT and expected is not None:
        yield difference(about, expected)
    elif name in _NEAR and expected is not None:
        near = equality(about, expected, expected_first=True)
        strength = min(near.strength, Strength.PARTLY)
        yield near._replace(strength=strength, tolerance=number_in(given[2].text()) if len(given) > 2 else None)
    elif name in {"ErrorIs", "ErrorAs", "ErrorType"}:
        yield Claim(text, Strength.EXACTLY, error=value)
    elif name == "EqualError":
        yield Claim(text, Strength.EXACTLY, value, error="error")
    elif name in {"Error", "Err", "ErrorContains"}:
        yield Claim(text, Strength.PARTLY, value if name == "ErrorContains" else None, error="error")
    elif name == "Panics":
        yield Claim(text, Strength.PARTLY, error="panic")
    elif name in _PANICS:
        yield Claim(value or "", Strength.EXACTLY, text, error="panic")
    elif name in {"Nil", "Zero", "Empty"}:
        yield _empty(about, {"Nil": "nil", "Zero": "0", "Empty": '""'}[name])
    elif name in CHECKED:
        yield from _checked(about, given)
    elif name == "NotNil" and is_error(text):
        yield Claim(text, Strength.PARTLY, error="error")
    elif name in _SOMETHING:
        certain = about.kind() in LITERALS - {"nil", "false"} and name in {"NotNil", "NotEmpty", "NotZero"}
        certain = certain or (about.kind() == "nil" and name in {"NoError", "NilError", "NoErr"})
        yield Claim(text, Strength.NOTHING if certain else Strength.SOMETHING)
    else:
        same = expected is not None and flat_text(about) == flat_text(expected) and "Not" not in name
        yield Claim(text, Strength.NOTHING if same else Strength.PARTLY, value)


def _empty(about: SgNode, value: str) -> Claim:
    """Of an error, or of a call that may well answer one, nil says no more than that there is none."""
    if about.kind() == "nil":
        return Claim(about.text(), Strength.NOTHING, value)
    may_fail = value == "nil" and (about.kind() == "call_expression" or is_error(about.text()))
    return Claim(about.text(), Strength.SOMETHING if may_fail else Strength.EXACTLY, value)


def _checked(about: SgNode, given: list[SgNode]) -> Iterator[Claim]:
    """`c.Assert(got, Equals, want)`, `assert.Assert(t, is.Equal(a, b))`, `assert.Assert(t, a == b)`."""
    if len(given) > 1:
        checker = given[1].text().split("(")[0].split(".")[-1]
        if checker in _CHECKERS:
            strength = _CHECKERS[checker]
            value = given[2] if len(given) > 2 else None
            if value is not None and flat_text(value) == flat_text(about) and strength is Strength.EXACTLY:
                strength = Strength.NOTHING
            default = "nil" if checker == "IsNil" else None
            yield Claim(about.text(), strength, value.text() if value is not None else default)
            return
        if given[1].kind() in {"selector_expression", "identifier"} and checker[:1].isupper():
            yield Claim(about.text(), Strength.PARTLY, given[2].text() if len(given) > 2 else None)
            return
    if about.kind() == "call_expression" and called(about) in WORDS - CHECKED and len(arguments(about)) > 1:
        yield from said(called(about), arguments(about))
    else:
        yield from claims(about, passes=True)


EXPECTING = frozenset({"Expect", "Ω", "Eventually", "Consistently", "ExpectWithOffset", "EventuallyWithOffset"})
TO = {"To": True, "Should": True, "NotTo": False, "ToNot": False, "ShouldNot": False}

_EXACT = frozenset(
    {"Equal", "BeEquivalentTo", "BeIdenticalTo", "MatchJSON", "MatchYAML", "MatchXML", "MatchError", "BeZero", "BeNil"}
    | {"HaveValue", "BeComparableTo", "PanicWith", "BeClosed", "EqualProto"}
)
_LOOSE = frozenset({"BeTrue", "BeFalse", "BeTrueBecause", "BeFalseBecause", "Succeed", "BeAssignableToTypeOf"})


def expected_of(actual: list[SgNode], matcher: SgNode | None, passes: bool) -> Claim:
    """What gomega's `Expect(actual...).To(matcher)` says."""
    about = actual[0] if actual else None
    text = about.text() if about is not None else ""
    if matcher is None or matcher.kind() != "call_expression":
        return Claim(text, Strength.PARTLY)
    name, given = called(matcher), arguments(matcher)
    value = given[0].text() if given else None
    if name == "Not" and given:
        return expected_of(actual, given[0], not passes)
    if name == "HaveOccurred":
        return Claim(text, Strength.PARTLY if passes else Strength.SOMETHING, error="error" if passes else None)
    if name == "BeNumerically":
        return _numerically(text, given, passes)
    if not passes:
        return Claim(text, Strength.SOMETHING)
    same = about is not None and given and flat_text(given[0]) == flat_text(about)
    if same or (text, name) in {("true", "BeTrue"), ("false", "BeFalse"), ("nil", "BeNil"), ("nil", "Succeed")}:
        return Claim(text, Strength.NOTHING, value)
    if name in _LOOSE:
        return Claim(text, Strength.SOMETHING)
    if name == "MatchError":
        return Claim(text, Strength.EXACTLY, error=value or "error")
    return Claim(text, Strength.EXACTLY if name in _EXACT else Strength.PARTLY, "nil" if name == "BeNil" else value)


def _numerically(about: str, given: list[SgNode], passes: bool) -> Claim:
    sign = given[0].text().strip('"') if given else ""
    value = given[1].text() if len(given) > 1 else None
    if sign == "==" and passes:
        return Claim(about, Strength.EXACTLY, value)
    tolerance = number_in(given[2].text()) if sign == "~" and len(given) > 2 else None
    return Claim(about, Strength.PARTLY, value, tolerance)
