"""What the assertions of the common libraries rule out, by name."""

from untilproven.guard.facts import Strength

_EXACTLY = (
    # jest, vitest, jasmine
    "toBe toEqual toStrictEqual toBeNull toBeUndefined toBeNaN toBeTrue toBeFalse toHaveBeenCalledWith toBeCalledWith "
    "toHaveBeenLastCalledWith lastCalledWith toHaveBeenNthCalledWith nthCalledWith toHaveBeenCalledOnceWith "
    "toHaveBeenCalledExactlyOnceWith toHaveBeenCalledTimes toBeCalledTimes toHaveBeenCalledOnce toHaveReturnedWith "
    "toHaveLastReturnedWith toHaveNthReturnedWith toHaveResolvedWith toMatchSnapshot toMatchInlineSnapshot "
    "toMatchFileSnapshot toMatchImageSnapshot toThrowErrorMatchingSnapshot toThrowErrorMatchingInlineSnapshot "
    "toEqualTypeOf toBeString toBeNumber toBePositiveInfinity toBeNegativeInfinity toHaveClass toHaveAttribute "
    # playwright, testing-library
    "toHaveText toHaveValue toHaveValues toHaveURL toHaveTitle toHaveScreenshot toHaveAccessibleName toHaveTextContent "
    "toHaveDisplayValue toHaveFormValues toHaveStyle toHaveCSS toHaveId toMatchAriaSnapshot toHaveJSProperty "
    # chai, should, assert
    "equal equals eq eql eqls deepEqual deepStrictEqual strictEqual partialDeepStrictEqual deepEquals same strictSame "
    "is isTrue isFalse isNull isUndefined isNaN true false null undefined NaN calledWith calledWithExactly "
    "calledOnceWith calledOnceWithExactly callCount calledOnce calledTwice calledThrice alwaysCalledWith "
    "alwaysCalledWithExactly snapshot matchSnapshot exactly propEqual propContains deepProperty sameValue sameMembers "
    "sameDeepMembers sameOrderedMembers sameDeepOrderedMembers members True False Null "
    "strictEquals looseEqual deepLooseEqual looseEquals status ordered"
)
_PARTLY = (
    "toContain toContainEqual toContainText toContainHTML toContainElement toMatch toMatchObject toHaveProperty "
    "toHaveLength toHaveSize toHaveCount toBeGreaterThan toBeGreaterThanOrEqual toBeLessThan toBeLessThanOrEqual "
    "toBeCloseTo toHaveBeenCalled toBeCalled toHaveReturned toHaveReturnedTimes toHaveResolved toHaveResolvedTimes "
    "toThrow toThrowError toThrowMatching toHaveBeenCalledBefore toHaveBeenCalledAfter toSatisfy toBeOneOf "
    "toBeEmpty toBeEmptyDOMElement toMatchTypeOf toExtend toHaveDescription toHaveErrorMessage "
    "include includes contain contains match matches lengthOf length property ownProperty properties keys key "
    "above below least most greaterThan lessThan greaterThanOrEqual lessThanOrEqual gt gte lt lte within closeTo "
    "approximately oneOf throw throws throwError throwException Throw called calledBefore calledAfter notCalled neverCalled "
    "threw empty satisfy satisfies string like regex regexp isAbove isBelow isAtLeast isAtMost isEmpty deepInclude "
    "nestedProperty nestedInclude ownInclude hasAllKeys hasAnyKeys containsAllKeys propertyVal deepPropertyVal "
    "hasOwnProperty startWith endWith rejects rejected rejectedWith throwsAsync fulfilledWith has hasStrict matchObject "
    "emits increase decrease change increases decreases changes tuple subset superset returned header text json "
    "containSubset containEql any almostEqual isApproximately callOrder alwaysThrew fail_ notInclude doesNotMatch notMatch "
    "notDeepInclude lacksKeys doesNotHaveAnyKeys doesNotHaveAllKeys notProperty errors calledWithMatch calledOnceWithMatch "
    "rejectsWith step verifySteps raises"
)
_SOMETHING = (
    "toBeTruthy toBeFalsy toBeDefined toBeInstanceOf toBeTypeOf toBeVisible toBeInTheDocument toBeAttached toBeEnabled "
    "toBeDisabled toBeChecked toBeFocused toHaveFocus toBeHidden toBeEditable toBeInViewport toBeInvalid toBeValid toBeOK "
    "toBeRequired toBePartiallyChecked toBeAny toBeUnknown toBeNever toBeFunction toBeObject toBeArray toBeVoid toBeBoolean "
    "toBeCallableWith toBeConstructibleWith toBeNullable toBeSymbol toBeInstanceof toBeResolved toBeRejected toBeA toBeAn "
    "ok exist exists a an instanceOf instanceof isOk isNotOk notOk isObject isArray isString isNumber isBoolean isFunction "
    "isDefined isNotNull isNotNaN isNotEmpty typeOf type Function Object Array String Number Boolean Error respondTo "
    "notEqual notStrictEqual notDeepEqual notDeepStrictEqual notSame notStrictSame isNot not notTypeOf notInstanceOf "
    "isNotTrue isNotFalse isNotUndefined isNotObject isNotArray isNotString isNotNumber isNotBoolean isNotFunction "
    "isFinite isInstanceOf truthy falsy assert doesNotThrow doesNotReject doesNotRejects notThrows notThrowsAsync "
    "ifError error isError resolves resolveMatch fulfilled finite sealed frozen extensible visible hidden checked enabled "
    "disabled selected focused inspectable iterable isIterable nonempty isExtensible isFrozen isSealed NotNull notPropEqual "
    "isCallable isNotCallable isNonEmptyArray no nok isAssertionError notPropContains notDeepPropertyVal arguments "
    "Arguments Promise promise"
)
STRENGTHS = {
    **dict.fromkeys(_SOMETHING.split(), Strength.SOMETHING),
    **dict.fromkeys(_PARTLY.split(), Strength.PARTLY),
    **dict.fromkeys(_EXACTLY.split(), Strength.EXACTLY),
}
ASSERTS = frozenset(STRENGTHS) - {
    "not",
    "a",
    "an",
    "no",
    "any",
    "text",
    "json",
    "header",
    "status",
    "step",
    "type",
    "change",
}
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
TRUE = {"toBeTruthy": True, "toBeTrue": True, "true": True, "ok": True, "isTrue": True, "isOk": True, "assert": True}
TRUE |= {"truthy": True, "True": True, "": True}
FALSE = frozenset({"toBeFalsy", "toBeFalse", "false", "isFalse", "isNotOk", "notOk", "falsy", "False", "nok"})
SAYS = {
    "toBeNull": "null",
    "isNull": "null",
    "null": "null",
    "Null": "null",
    "toBeUndefined": "undefined",
    "isUndefined": "undefined",
    "undefined": "undefined",
    "toBeTrue": "true",
    "isTrue": "true",
    "true": "true",
    "True": "true",
    "toBeFalse": "false",
    "isFalse": "false",
    "false": "false",
    "False": "false",
    "toBeNaN": "NaN",
    "isNaN": "NaN",
    "NaN": "NaN",
    "calledOnce": "1",
    "toHaveBeenCalledOnce": "1",
    "calledTwice": "2",
    "calledThrice": "3",
}
"""What a matcher compares with by its name alone."""

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
    | {
        "should",
        "an",
        "a",
        "be_a",
        "only",
        "it",
        "soft",
        "poll",
        "element",
        "withContext",
        "withArgs",
        "never",
        "notify",
    }
)
"""Words of a chain that say nothing when they are not called."""
