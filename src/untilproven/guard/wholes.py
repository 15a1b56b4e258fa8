"""A thing that is compared as a whole, where parts of it were asked for one by one."""

import re

from untilproven.guard.claims import denies
from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.meaning import meaning

_AROUND = re.compile(
    r"(?:len|list|sorted|set|frozenset|dict|tuple|str|Object\.(?:keys|values|entries)|Array\.from)\((.+)\)"
    r"|(.+?)\??\.(?:keys|values|items|entries|tolist|to_list|toArray|toList|to_vec|as_slice|length|size|len|count)(?:\(\))?"
)
"""What only looks at all of it, or counts it."""
_LENT = re.compile(r"(?:&(?:mut )?)+")
_WRAPPED = re.compile(r"(?:Some|Ok)\((.+)\)")
_LENGTH = re.compile(r"\blen\(|\.(?:length\b|size\b|len\(\)|count\(\))|HaveLength|hasSize|lengthOf")
_OPENING, _CLOSING = frozenset("[{("), frozenset("]})")
_TOKEN = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|\w+|\S")
_QUOTES = frozenset("\"'`")
_DEEPEST = 3


def is_part_of_whole(old: Assertion, new: Assertion, made_of: frozenset[str]) -> bool:
    """The new one compares all of what the old one asked a part of, and says as much about the part. `made_of` is what
    the test gave the name that the old one is about."""
    whole = _value(new.expected)
    is_whole = new.strength is Strength.EXACTLY and new.error is None and whole[:1] in _OPENING | _QUOTES
    if not is_whole or old.error is not None or denies(new) or not _is_of(old.about, new.about, made_of):
        return False
    tokens = [meaning(token) for token in _TOKEN.findall(whole)]
    if _LENGTH.search(old.text):
        return old.expected is not None and whole[0] in _OPENING and meaning(old.expected) == str(len(elements(whole)))
    asked = [meaning(token) for token in _TOKEN.findall(_value(old.expected))]
    if denies(old):
        return bool(asked) and not any(_is_in(one, tokens) for one in asked)
    return all(_is_in(one, tokens) for one in asked) and len(tokens) > len(asked)


def _value(expected: str | None) -> str:
    """As Rust writes it: what it lends is the thing itself, and so is what is in an option that has something."""
    found = _LENT.match(expected or "")
    inner = (expected or "")[found.end() :] if found else expected or ""
    wrapped = _WRAPPED.fullmatch(inner)
    return _value(wrapped[1]) if wrapped else inner


def _is_in(token: str, tokens: list[str]) -> bool:
    said = token.strip("\0")
    return token in tokens or (said not in {token, ""} and any(said in other for other in tokens))


def _is_of(part: str, whole: str, made_of: frozenset[str]) -> bool:
    """It is the same thing, something inside it, or was made of just that."""
    part, of = _looked_at(part), _looked_at(whole)
    inside = part.removeprefix(of)
    return part == of or (inside != part and inside[:1] in {".", "[", "?"}) or any(whole in value for value in made_of)


def _looked_at(about: str) -> str:
    about = about.lstrip("*&")
    for _ in range(_DEEPEST):
        found = _AROUND.fullmatch(about)
        if found is None:
            break
        about = found[1] or found[2]
    return about


def elements(whole: str) -> list[str]:
    """Of a collection that is written out."""
    depth, found = 0, [""]
    for piece in _TOKEN.findall(whole[1:-1]):
        depth += (piece in _OPENING) - (piece in _CLOSING)
        if piece == "," and depth == 0:
            found.append("")
        else:
            found[-1] += piece
    return [one for one in found if one]
