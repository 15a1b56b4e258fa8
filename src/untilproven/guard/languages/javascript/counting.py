"""How often something was called, and how much there is of something, in whichever words: `toHaveBeenCalledTimes(0)`,
`assert.equal(spy.mock.calls.length, 0)`, `sinon.assert.notCalled(spy)` and `assert(!spy.called)` ask the same."""

import re

from ast_grep_py import SgNode

from untilproven.guard.facts import Strength
from untilproven.guard.languages.javascript.nodes import bare, number_of, written
from untilproven.guard.languages.syntax import Claim

_LIST = r"(?:mock\.calls|calls|calls\.all\(\)|getCalls\(\))"
_CALLS = re.compile(rf"(.+?)\.{_LIST}")
_COUNT = re.compile(rf"(.+?)\.(?:{_LIST}\.length|mock\.callCount\(\)|callCount|calls\.count\(\))")
_FLAG = re.compile(r"(.+)\.(called|notCalled|neverCalled|calledOnce|calledTwice|calledThrice)")
_SIZE = re.compile(r".+\.(?:length|size|byteLength)")
_COUNTING = frozenset({"toHaveBeenCalledTimes", "toBeCalledTimes", "callCount"})
_TIMES = {
    **dict.fromkeys(("called", "toHaveBeenCalled", "toBeCalled"), ""),
    **dict.fromkeys(("notCalled", "neverCalled"), "0"),
    **dict.fromkeys(("calledOnce", "toHaveBeenCalledOnce"), "1"),
    "calledTwice": "2",
    "calledThrice": "3",
}
"""Words for how often; empty for at least once."""
_SIGNS = {
    **dict.fromkeys(("toBe", "toEqual", "toStrictEqual", "equal", "equals", "eq", "eql", "strictEqual"), "=="),
    **dict.fromkeys(("deepEqual", "deepStrictEqual", "is", "same", "strictSame", "deepEquals", "strictEquals"), "=="),
    **dict.fromkeys(("looseEqual", "exactly"), "=="),
    **dict.fromkeys(("notEqual", "notStrictEqual", "notDeepEqual", "notDeepStrictEqual", "notSame", "not"), "!="),
    **dict.fromkeys(("toBeGreaterThan", "above", "greaterThan", "gt", "isAbove"), ">"),
    **dict.fromkeys(("toBeGreaterThanOrEqual", "least", "gte", "isAtLeast", "greaterThanOrEqual"), ">="),
}
COMPARING = frozenset(name for name, sign in _SIGNS.items() if sign in {"==", "!="})
"""Matchers that say the same whichever of the two stands first."""
_LENGTH = frozenset({"toHaveLength", "lengthOf", "length", "toHaveSize", "toBeArrayOfSize"})
_DENIED = {"==": "!=", "!=": "=="}
_WITH = frozenset({"toHaveBeenCalledWith", "toBeCalledWith", "toHaveBeenLastCalledWith", "lastCalledWith"}) | {
    *("toHaveBeenCalledOnceWith", "toHaveBeenCalledExactlyOnceWith", "calledWith", "calledWithExactly"),
    *("calledOnceWith", "calledOnceWithExactly"),
}
_NTH_WITH = frozenset({"toHaveBeenNthCalledWith", "nthCalledWith"})
_GIVEN = re.compile(
    r"(.+?)\.(?:mock\.calls(?:\[\d+\]|\.at\(-?\d+\))(?:\.arguments)?|mock\.lastCall|args\[\d+\]|(?:first|second|third|last)Call\.args"
    r"|getCall\(\d+\)\.args|calls\.argsFor\(\d+\)|calls\[\d+\]\.args)"
)
"""What something was called with."""
_ANYTHING = re.compile(r"expect\.any(?:thing)?\(|sinon\.match\.any")


def counted(name: str, actual: SgNode, args: tuple[SgNode, ...], *, is_negated: bool) -> Claim | None:
    """Of a matcher that says how often `actual` was called, or how much there is of it; None for any other."""
    about, first = written(bare(actual)), args[0] if args else None
    if name in _COUNTING and first is not None:
        return _called(about, written(bare(first)), is_negated=is_negated)
    if name in _TIMES and first is None:
        return _called(about, _TIMES[name], is_negated=is_negated)
    if first is None:
        return None
    if name in _WITH | _NTH_WITH and not is_negated:
        return called_with(about, args[1:] if name in _NTH_WITH else args)
    sign = "==" if name in _LENGTH and number_of(first) is not None else _SIGNS.get(name, "")
    if sign == "==" and not is_negated and (call := _GIVEN.fullmatch(about)) and bare(first).kind() == "array":
        return called_with(call[1], tuple(bare(first).named_children()))
    if name in _LENGTH or (_CALLS.fullmatch(about) and first.text() == "[]"):
        about += ".length"
    given = "0" if first.text() == "[]" else written(bare(first))
    return compared_with(_DENIED.get(sign, "") if is_negated else sign, about, given)


def called_with(about: str, given: tuple[SgNode, ...]) -> Claim:
    texts = [written(bare(one)) for one in given]
    loose = [text for text in texts if text.startswith(("expect.", "sinon.match"))]
    strength = Strength.PARTLY if loose else Strength.EXACTLY
    if loose and all(_ANYTHING.match(text) for text in texts):
        strength = Strength.SOMETHING
    return Claim(about, strength, ", ".join(texts) or None)


def compared_with(sign: str, about: str, given: str) -> Claim | None:
    """Of a number of calls, or a size, that is compared: `spy.callCount > 0`, `list.length === 0`."""
    is_some = (sign, given) in {(">", "0"), (">=", "1"), ("!=", "0")}
    if sign != "==" and not is_some:
        return None
    if calls := _COUNT.fullmatch(about):
        return _called(calls[1], "" if is_some else given, is_negated=False)
    if is_some and _SIZE.fullmatch(about):
        return Claim(about, Strength.SOMETHING)
    return Claim(about, Strength.PARTLY, given) if _SIZE.fullmatch(about) and given != about else None


def is_there(about: str, *, is_true: bool) -> Claim | None:
    """Of what must be true, or false, by itself: `spy.called`, `!spy.calledOnce`, `!list.length`."""
    if flag := _FLAG.fullmatch(about):
        return _called(flag[1], _TIMES[flag[2]], is_negated=not is_true)
    return compared_with("!=" if is_true else "==", about, "0")


def _called(about: str, times: str, *, is_negated: bool) -> Claim:
    """`times` is empty for at least once."""
    if is_negated and times in {"", "0"}:
        times, is_negated = "" if times else "0", False
    if is_negated:
        return Claim(about, Strength.SOMETHING, times)
    return Claim(about, Strength.EXACTLY, times) if times else Claim(about, Strength.PARTLY)
