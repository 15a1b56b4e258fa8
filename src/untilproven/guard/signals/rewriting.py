"""How much of a function was written anew, and where to what it had went: whoever only takes out writes nothing."""

import re
from collections import Counter
from collections.abc import Iterator

from untilproven.guard.comparison import Comparison, Pair
from untilproven.guard.languages import grammar_of
from untilproven.guard.pairing import Placed, placed

_WRITTEN = 3
_OF_HANDLERS = frozenset(
    {"try", "except", "catch", "finally", "pass", "Exception", "BaseException", "Throwable", "Error"}
)
_OF_HANDLERS |= {"e", "ex", "err", "error", "return", "None", "null", "nil", "undefined", "ignored", "_"}
_SAY_LITTLE = _OF_HANDLERS | {"if", "else", "elif", "and", "or", "not", "in", "is", "let", "self", "this"}
_WORD = re.compile(r"\w+")
_REMARKS = ("#", "//", "/*", "*", '"""')
_VALUE = re.compile(r"(?m)^(?:export |const |let |var |pub |static |final )*([A-Za-z_$][\w$]*)(?:: [^=\n]+)? :?= ")
"""What has a name at the top of a file."""
_SHORTEST = 3
_NO_CODE = re.compile(r"(?m)^\s*[rRuU]?(?:\"\"\"|''')(?s:.*?)(?:\"\"\"|''')|(?:\#|//)[^\n]*|/\*(?s:.*?)\*/")
_UNDONE = frozenset({"pass", "raise", "return", "None", "NotImplemented", "NotImplementedError", "throw", "new"})


def is_rewritten(before: Placed, after: Placed) -> bool:
    """More was written anew than taking away would explain: words that it has more often than before, new ones among
    them."""
    if not written(before, after):
        return False
    more = Counter(_WORD.findall(after.text)) - Counter(_WORD.findall(before.text))
    return sum(times for word, times in more.items() if word not in _SAY_LITTLE and not word.isdigit()) >= _WRITTEN


def written(before: Placed, after: Placed) -> frozenset[str]:
    """Words that are new."""
    return after.words - before.words - _OF_HANDLERS


def is_touched(before: Placed, after: Placed) -> bool:
    """Something was written, be it with words that were there: it is not only shorter."""
    return bool(written(before, after)) or bool(_lines(after) - _lines(before))


def lost_code(before: Placed, after: Placed) -> bool:
    """Some of it did something: remarks, and words for what is yet to be written, do not."""
    was, now = (Counter(_WORD.findall(_NO_CODE.sub("", one.text))) for one in (before, after))
    return any(word not in _UNDONE for word in was - now)


def _lines(one: Placed) -> frozenset[str]:
    """Without remarks, and without those that only open or close something."""
    lines = (line.strip() for line in one.text.splitlines())
    return frozenset(line for line in lines if _WORD.search(line) and not line.startswith(_REMARKS))


def names_gone(comparison: Comparison) -> frozenset[str]:
    """Functions and values that were defined and are not even mentioned any more where something differs."""
    pairs = [pair for pair in comparison.of_kind("source") if grammar_of(pair.path)]
    source = {pair.path for pair in pairs}
    functions = (one for before, _ in placed(comparison) for one in before if not one.declaration.is_test)
    was = {one.short for one in functions if one.pair.path in source}
    was |= {name for pair in pairs if pair.before for name in _VALUE.findall(pair.before.text)}
    there = {name for pair in pairs if was and pair.after for name in pair.after.names}
    return frozenset(name for name in was - there if len(name) >= _SHORTEST)


def words_gone(comparison: Comparison) -> frozenset[str]:
    """Those on several lines of the source, and on none of what differs any more."""
    pairs = [pair for pair in comparison.of_kind("source") if grammar_of(pair.path) and pair.before]
    was = Counter(
        word for pair in pairs if pair.before for line in pair.before.text.splitlines() for word in _said(line)
    )
    there = {name for pair in pairs if pair.after for name in pair.after.names}
    return frozenset(word for word, times in was.items() if times >= _WRITTEN and word not in there)


def _said(line: str) -> set[str]:
    """Words on a line that is no remark."""
    return (
        set() if line.lstrip().startswith(_REMARKS) else {word for word in _WORD.findall(line) if len(word) > _SHORTEST}
    )


def implementations(stub: Placed, comparison: Comparison) -> Iterator[tuple[Pair, str]]:
    """Functions of its name, with their files, of classes that build on the one of the stub."""
    around, _, name = stub.name.rpartition(".")
    base = around.rpartition(".")[2]
    for pair in comparison.of_kind("source") if base else ():
        for one in pair.after.facts.declarations if pair.after else ():
            heir, _, its_name = one.name.rpartition(".")
            heir = heir.rpartition(".")[2]
            if its_name == name and heir != base and pair.after and _builds_on(pair.after.text, heir, base):
                yield pair, one.name


def _builds_on(text: str, heir: str, base: str) -> bool:
    return re.search(rf"\bclass\s+{re.escape(heir)}\b[^:{{]*\b{re.escape(base)}\b", text) is not None


def was_there(name: str, pair: Pair) -> bool:
    """A function of this name, in this file."""
    return pair.before is not None and any(one.name == name for one in pair.before.facts.declarations)
