"""What the assertions of the common libraries rule out, by name."""

import re

from untilproven.guard.facts import Strength

_EXACTLY = """
toBe toEqual toStrictEqual toBeNull toBeUndefined toBeNaN toBeTrue toBeFalse toHaveBeenCalledWith toBeCalledWith
toHaveBeenLastCalledWith lastCalledWith toHaveBeenNthCalledWith nthCalledWith toHaveBeenCalledOnceWith
toHaveBeenCalledExactlyOnceWith toHaveBeenCalledTimes toBeCalledTimes toHaveBeenCalledOnce toHaveReturnedWith
toHaveLastReturnedWith toHaveNthReturnedWith toHaveResolvedWith toMatchSnapshot toMatchInlineSnapshot
toMatchFileSnapshot toMatchImageSnapshot toThrowErrorMatchingSnapshot toThrowErrorMatchingInlineSnapshot
toBePositiveInfinity toBeNegativeInfinity

toHaveText toHaveValue toHaveValues toHaveURL toHaveTitle toHaveScreenshot toHaveAccessibleName toHaveTextContent
toHaveDisplayValue toHaveFormValues toHaveStyle toHaveCSS toHaveId toMatchAriaSnapshot toHaveJSProperty toHaveClass
toHaveAttribute

equal equals eq eql eqls deepEqual deepStrictEqual strictEqual deepEquals same strictSame
strictEquals looseEqual looseEquals deepLooseEqual exactly is isTrue isFalse isNull isUndefined isNaN
true false null undefined NaN True False Null snapshot matchSnapshot fileSnapshot propEqual
members sameMembers sameDeepMembers sameOrderedMembers sameDeepOrderedMembers
calledWith calledWithExactly calledOnceWith calledOnceWithExactly callCount calledOnce calledTwice calledThrice
alwaysCalledWith alwaysCalledWithExactly status
"""
_PARTLY = """
toContain toContainEqual toContainText toContainHTML toContainElement toMatch toMatchObject toHaveProperty
toHaveLength toHaveSize toHaveCount toBeGreaterThan toBeGreaterThanOrEqual toBeLessThan toBeLessThanOrEqual
toBeCloseTo toHaveBeenCalled toBeCalled toHaveReturned toHaveReturnedTimes toHaveResolved toHaveResolvedTimes
toThrow toThrowError toThrowMatching toHaveBeenCalledBefore toHaveBeenCalledAfter toSatisfy toBeOneOf toBeEmpty
toBeEmptyDOMElement

include includes contain contains containEql containSubset match matches matchObject lengthOf length property
ownProperty properties keys key above below least most greaterThan lessThan greaterThanOrEqual lessThanOrEqual
gt gte lt lte within closeTo approximately almostEqual isApproximately oneOf throw throws throwError throwException
Throw raises rejects rejected rejectedWith rejectsWith throwsAsync threw alwaysThrew called notCalled neverCalled
calledBefore calledAfter callOrder calledWithMatch calledOnceWithMatch returned empty satisfy satisfies string like
regex regexp isAbove isBelow isAtLeast isAtMost isEmpty deepInclude nestedProperty nestedInclude ownInclude hasAllKeys
hasAnyKeys containsAllKeys propertyVal deepPropertyVal deepProperty nestedPropertyVal hasOwnProperty startWith endWith
has hasStrict emits increase increases decrease decreases change changes subset superset verifySteps propContains
notInclude doesNotMatch notMatch notDeepInclude lacksKeys doesNotHaveAnyKeys doesNotHaveAllKeys notProperty
stringIncludes arrayIncludes objectMatch partialDeepStrictEqual
"""
_SOMETHING = """
toBeTruthy toBeFalsy toBeDefined toBeNullable toBeInstanceOf toBeTypeOf toBeVisible toBeInTheDocument toBeAttached
toBeEnabled toBeDisabled toBeChecked toBePartiallyChecked toBeFocused toHaveFocus toBeHidden toBeEditable
toBeInViewport toBeInvalid toBeValid toBeRequired toBeOK toBeFunction toBeObject toBeArray toBeString toBeNumber
toBeBoolean toBeSymbol toBeA toBeAn

ok nok exist exists a an instanceOf instanceof isInstanceOf isOk isNotOk notOk isObject isArray isString isNumber
isBoolean isFunction isCallable isDefined isNotNull isNotNaN isNotEmpty isFinite typeOf type truthy falsy assert
Function Object Array String Number Boolean Error Promise respondTo
not notEqual notStrictEqual notDeepEqual notDeepStrictEqual notSame notStrictSame notTypeOf notInstanceOf notPropEqual
notEquals isNot isNotTrue isNotFalse isNotUndefined isNotObject isNotArray isNotString isNotNumber isNotBoolean
isNotFunction doesNotThrow doesNotReject notThrows notThrowsAsync ifError error isError resolves fulfilled finite
sealed frozen extensible visible hidden checked enabled disabled selected focused isExtensible isFrozen isSealed
"""
STRENGTHS = {
    **dict.fromkeys(_SOMETHING.split(), Strength.SOMETHING),
    **dict.fromkeys(_PARTLY.split(), Strength.PARTLY),
    **dict.fromkeys(_EXACTLY.split(), Strength.EXACTLY),
}
ASSERTS = frozenset(STRENGTHS) - {"a", "an", "status", "type", "change", "has", "string"}
"""Methods of `assert`, or of what a runner gives to a test."""

RAISING = frozenset(
    {
        "toThrow",
        "toThrowError",
        "toThrowMatching",
        "throw",
        "throws",
        "Throw",
        "throwError",
        "throwException",
        "rejects",
    }
    | {"rejectedWith", "throwsAsync", "toThrowErrorMatchingSnapshot", "toThrowErrorMatchingInlineSnapshot", "rejected"}
    | {"raises", "rejectsWith"}
)
NEAR = frozenset({"toBeCloseTo", "closeTo", "approximately", "isApproximately", "almostEqual"})
TRUE = frozenset({"toBeTruthy", "toBeTrue", "true", "ok", "isTrue", "isOk", "assert", "truthy", "True"})
FALSE = frozenset({"toBeFalsy", "toBeFalse", "false", "isFalse", "isNotOk", "notOk", "falsy", "False", "nok"})
SAYS = {
    **dict.fromkeys(("toBeNull", "isNull", "null", "Null"), "null"),
    **dict.fromkeys(("toBeUndefined", "isUndefined", "undefined"), "undefined"),
    **dict.fromkeys(("toBeTrue", "isTrue", "true", "True"), "true"),
    **dict.fromkeys(("toBeFalse", "isFalse", "false", "False"), "false"),
    **dict.fromkeys(("toBeNaN", "isNaN", "NaN"), "NaN"),
    **dict.fromkeys(("calledOnce", "toHaveBeenCalledOnce"), "1"),
    "calledTwice": "2",
    "calledThrice": "3",
}
"""What a matcher compares with by its name alone."""

SEEN = re.compile(r"(?:\w+\.)?(?:get|find|query)By(?:Text|LabelText|DisplayValue|AltText|Title)\(\"[^\"]+\"\)")
"""A text that stands on a page, word for word."""
CHAINED = frozenset(
    {
        "to",
        "be",
        "been",
        "is",
        "that",
        "which",
        "and",
        "has",
        "have",
        "with",
        "at",
        "of",
        "same",
        "but",
        "does",
        "still",
    }
    | {"also", "deep", "nested", "own", "ordered", "any", "all", "itself", "not", "resolves", "rejects", "eventually"}
    | {"should", "an", "a", "only", "it", "never"}
)
"""Words of a chain that say nothing when they are not called."""
