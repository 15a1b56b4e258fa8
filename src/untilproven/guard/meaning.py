"""Two ways to write the same value: one form for both, in any language that is read here."""

import re
from functools import lru_cache

_TOKEN = re.compile(
    r"""(?<![\w$])b?r(?P<mark>\#+)"(?P<raw>.*?)"(?P=mark)
      | (?P<prefix>(?<![\w$])[rbfuRBFUc]{0,2})
        (?P<text>\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''
        |"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)
      | (?P<number>(?<![\w$.])(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+
        |\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?)(?:[lLfFdDnN]|[iu](?:8|16|32|64|128|size)|f32|f64)?(?![\w$]))
      | (?P<other>[A-Za-z_$][\w$]*|\s+|.)""",
    re.VERBOSE | re.DOTALL,
)
_OF_NUMBERS = re.compile(r"\b(?:std|core)::(?=[iuf](?:8|16|32|64|128|size)::)")
"""Where Rust had the limits of numbers before the types had them themselves."""
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_MEANT = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'", "`": "`", "/": "/"}
_SUFFIX = re.compile(r"(?<=[\d.])(?:[lLnN]|[iu](?:8|16|32|64|128|size)|f32|f64|[fFdD])$")
_OPENING, _CLOSING = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")
_BINDS = frozenset({".", "*", "%", "[", "("})
"""What takes hold of a value before anything else does."""
_BOUNDS = frozenset({None, "(", "[", "{", ",", ")", "]", "}", ":", "="})
_WORDS = frozenset({"assert", "return", "in", "not", "and", "or", "is", "if", "else", "await", "yield", "lambda"})
"""Names that call nothing."""
_LONGEST = 20_000
_TEXT, _PUT_IN = "\0", "\1"
"""What stands before what a string says, and before a part of it that is computed."""


@lru_cache(maxsize=1024)
def meaning(written: str) -> str:
    """A form that does not depend on quotes, on how a text is cut into parts, on parentheses that change nothing, or
    on the notation of a number."""
    if len(written) > _LONGEST:
        return written
    return " ".join(_joined(_bare(_joined(_tokens(_OF_NUMBERS.sub("", written))))))


def mean_the_same(one: str, other: str) -> bool:
    return one == other or meaning(one) == meaning(other)


def _tokens(written: str) -> list[str]:
    tokens = []
    for found in _TOKEN.finditer(written):
        if found["raw"] is not None:
            tokens.append(_text(found[0].partition("#")[0], f'"{found["raw"]}"'))
        elif found["text"] is not None:
            tokens.append(_text(found["prefix"].lower(), found["text"]))
        elif found["number"] is not None:
            tokens.append(_number(found["number"]))
        elif not found["other"].isspace():
            tokens.append(found["other"])
    return tokens


def _text(prefix: str, quoted: str) -> str:
    width = 3 if quoted[:3] in {'"""', "'''"} else 1
    inside = quoted[width:-width]
    if "r" not in prefix:
        inside = _ESCAPED.sub(lambda found: _MEANT.get(found[1], found[0]), inside)
    if "f" in prefix or quoted[0] == "`":
        inside = re.sub(r"\$?\{", rf"{_PUT_IN}\g<0>", inside)
    return f"{_TEXT}{'b' if 'b' in prefix else ''}{_TEXT}{inside}"


def _number(written: str) -> str:
    plain = written.replace("_", "")
    if plain[:2].lower() in {"0x", "0o", "0b"}:
        digits = re.sub(r"[lLnN]$|[iu](?:8|16|32|64|128|size)$", "", plain)
        return str(int(digits, 0))
    value = _SUFFIX.sub("", plain)
    if value.isdigit():
        return value.lstrip("0") or "0"
    return f"{float(value):.17g}"


def _joined(tokens: list[str]) -> list[str]:
    """Texts that stand behind each other, or are added, are one."""
    joined: list[str] = []
    at = 0
    while at < len(tokens):
        is_added = tokens[at] == "+" and tokens[at + 1 : at + 2] != [] and tokens[at + 1].startswith(_TEXT)
        text = tokens[at + is_added]
        is_taken = is_added and tokens[at + 2 : at + 3] != [] and tokens[at + 2] in _BINDS
        if text.startswith(_TEXT) and not is_taken and _continues(joined, text):
            joined[-1] += text.split(_TEXT, 2)[2]
            at += 1 + is_added
        else:
            joined.append(tokens[at])
            at += 1
    return joined


def _continues(joined: list[str], text: str) -> bool:
    """It is of the same kind as the one before it, which nothing else takes hold of."""
    if not joined or not joined[-1].startswith(_TEXT):
        return False
    alone = len(joined) < 2 or joined[-2] not in {"*", "%", "/"}
    return alone and joined[-1].split(_TEXT, 2)[1] == text.split(_TEXT, 2)[1]


def _bare(tokens: list[str]) -> list[str]:
    """Without parentheses around one value, and without a comma behind the last of several."""
    partner = _partners(tokens)
    dropped: set[int] = set()
    for start, end in sorted(partner.items()):
        before = tokens[start - 1] if start else None
        behind = tokens[end + 1] if end + 1 < len(tokens) else None
        commas = _commas(tokens, start, end, partner)
        is_call = tokens[start] == "(" and _is_called(before)
        if commas and commas[-1] == end - 1 and (len(commas) > 1 or tokens[start] != "(" or is_call):
            dropped.add(end - 1)
        is_one = end == start + 2
        bounded = before in _BOUNDS and behind in _BOUNDS and end > start + 1
        if tokens[start] == "(" and not commas and not is_call and (is_one or bounded):
            dropped |= {start, end}
    return [token for at, token in enumerate(tokens) if at not in dropped]


def _is_called(before: str | None) -> bool:
    return before is not None and before not in _WORDS and (before[0].isalnum() or before[0] in "_$)]>!")


def _partners(tokens: list[str]) -> dict[int, int]:
    """Of each bracket that opens, the one that closes it."""
    partner, opened = {}, []
    for at, token in enumerate(tokens):
        if token in _OPENING:
            opened.append(at)
        elif token in _CLOSING and opened and _OPENING[tokens[opened[-1]]] == token:
            partner[opened.pop()] = at
    return partner


def _commas(tokens: list[str], start: int, end: int, partner: dict[int, int]) -> list[int]:
    """Between a bracket and its partner, but not in others inside."""
    found = []
    at = start + 1
    while at < end:
        if tokens[at] == ",":
            found.append(at)
        at = partner.get(at, at) + 1
    return found
