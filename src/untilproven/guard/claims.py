"""What assertions of a test ask, whoever words it how: which of them are the same, which ask as much."""

import re
from collections import Counter
from collections.abc import Callable, Hashable

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.meaning import mean_the_same, meaning
from untilproven.guard.types import ask_for_one_type

_LENGTH = re.compile(r"len\((.+)\)|(.+)\.(?:length|size|count|len)(?:\(\))?")
_OF_LENGTH = re.compile(r"(?i)len|size|count")
_EMPTY = frozenset({meaning(one) for one in ('""', "[]", "{}", "()", "empty")})
_SAYS_EMPTY = re.compile(r"(?:\bempty|_empty|Empty)\b")
_DENIES = re.compile(
    r"(?i)\bnot(?!e[ds]?\b|ice|ifi?[yc]|ion\b|able\b|hing\b)|not\b|not_|_ne\b|\bne\b|doesnot|isnot|false|refute|!\w|!="
)
_NO_SIZE = re.compile(r"(?<!!)!(?=[\w$.()\[\] ,]+\.(?:length|size)\b)")
"""Says that there is nothing of it."""
_KEYS = re.compile(r"Object\.(?:keys|values|entries|getOwnPropertyNames)\((.+)\)")
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`")
_IS_EMPTY = re.compile(r"\.(?:is_empty|isEmpty|empty)\(\)$|^is_?empty\((.*)\)$")
_BEGINS = re.compile(r"(?i)starts_?with|has_?prefix|start_?with")
_COMPARED_WITH_TRUTH = re.compile(r"\s==\s(True|False|\"\"|''|\[\]|\{\}|\(\)|(?<=\)\s==\s)0)(?:,|$)")
_NEGATES = re.compile(r"not\b|!")
_ALLOWS = re.compile(r"[|*?\[{]")
"""Signs by which a pattern allows for other texts."""
_NO_ERROR = re.compile(r"\bifErr(?:or)?\(")
_ABSENT = frozenset({"null", "undefined", "void 0"})
_PART = re.compile(r"\.(?:sub\w*|slice|take)\(|\[")


def strong(all_of: tuple[Assertion, ...]) -> list[Assertion]:
    """Those that can fail."""
    return [one for one in all_of if one.strength > Strength.NOTHING]


def without(all_of: list[Assertion], others: list[Assertion]) -> list[Assertion]:
    """Those that the others do not have, by what they say."""
    rest = _left(all_of, others, _text)
    return _left(rest, _left(others, all_of, _text), _meant) if rest else rest


def _left(all_of: list[Assertion], others: list[Assertion], key: Callable[[Assertion], Hashable]) -> list[Assertion]:
    there = Counter(map(key, others))
    rest = []
    for one in all_of:
        if there[key(one)]:
            there[key(one)] -= 1
        else:
            rest.append(one)
    return rest


def _text(one: Assertion) -> str:
    return one.text


def _meant(one: Assertion) -> str:
    return meaning(one.text)


def claim(one: Assertion) -> tuple[object, ...]:
    """What it asks, by whatever name of whatever library; what an error says is asked of the error."""
    about = one.about.removesuffix(".Error()")
    return (
        one.strength,
        one.error or ("error" if about != one.about else None),
        meaning(about),
        meaning(one.expected or ""),
    )


def denies(one: Assertion) -> bool:
    """It says what is not; what stands in a text says nothing."""
    return _DENIES.search(_NO_SIZE.sub("", _QUOTED.sub("", one.text))) is not None


def ask_the_same(old: Assertion, new: Assertion) -> bool:
    """In other words: that a thing is empty, of a type, or no error, or begins with something, or has it as a part."""
    if _is_plain_truth(old, new):
        return True
    if denies(old) or denies(new):
        return False
    if ask_for_one_type(old, new) or _is_beginning(old, new) or _is_part(old, new) or _is_no_error(old, new):
        return True
    empty = _emptied(old)
    return empty is not None and empty == _emptied(new)


def _is_no_error(old: Assertion, new: Assertion) -> bool:
    """It was not to be there, and now it is raised if it is."""
    return old.about == new.about and old.expected in _ABSENT and _NO_ERROR.search(new.text) is not None


def _is_plain_truth(old: Assertion, new: Assertion) -> bool:
    """It was compared with truth or with something empty, as linters would not have it; now it holds, or does not."""
    compared = _COMPARED_WITH_TRUTH.search(old.text)
    if compared is None or new.strength is not Strength.SOMETHING or new.expected is not None:
        return False
    if compared[1] == "0" and "len(" not in old.text:
        return False
    is_negated = _NEGATES.match(new.text.removeprefix("assert ").strip()) is not None
    return old.about == new.about and is_negated is (compared[1] != "True")


def _emptied(one: Assertion) -> str | None:
    """What is to be empty; an object is if it has no keys."""
    about = _said_empty(one)
    keys = _KEYS.fullmatch(about or "")
    return keys[1] if keys else about


def _said_empty(one: Assertion) -> str | None:
    expected = meaning(one.expected or "")
    if (length := _LENGTH.fullmatch(one.about)) and expected == "0":
        return length[1] or length[2]
    said = one.text.replace(one.about, "", 1)
    if (one.expected and expected in _EMPTY) or (expected == "0" and _OF_LENGTH.search(said)):
        return one.about
    if _SAYS_EMPTY.search(one.text):
        return _IS_EMPTY.sub(r"\1", one.about)
    return None


def _is_part(old: Assertion, new: Assertion) -> bool:
    """A part was asked for, and now the whole is, with that part in it; or a longer part is, in the same words."""
    part, whole = (meaning(one.expected or "") for one in (old, new))
    said = part.strip("\0")
    are_texts = part.startswith("\0") and said != "" and said in whole and old.about == new.about
    if not are_texts or old.strength is Strength.NOTHING:
        return False
    return old.strength < new.strength or (_are_worded_alike(old, new) and _is_longer(said, whole))


def _are_worded_alike(old: Assertion, new: Assertion) -> bool:
    was, now = (one.text.replace(one.expected or "", "", 1) for one in (old, new))
    return old.strength is new.strength is Strength.PARTLY and was == now


def _is_longer(part: str, whole: str) -> bool:
    """No word of the part is another for what was added, and what was added allows nothing else to stand there."""
    found = re.search(rf"(?<!\w){re.escape(part)}(?!\w)", whole)
    return found is not None and _ALLOWS.search(whole[: found.start()] + whole[found.end() :]) is None


def _is_beginning(old: Assertion, new: Assertion) -> bool:
    """A part of it was compared, and now it begins with that."""
    rest = old.about.removeprefix(new.about)
    is_part = bool(new.about) and rest != old.about and _PART.match(rest) is not None
    return is_part and _BEGINS.search(new.text) is not None and mean_the_same(old.expected or "", new.expected or "")
