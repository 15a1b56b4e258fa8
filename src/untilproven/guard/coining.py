"""Names that somebody coined for a parameter, a field or an attribute: none is used twice by chance."""

import re
from collections import Counter
from collections.abc import Iterable

_NAME = r"([A-Za-z_]\w*)"
_BOUND = (
    re.compile(rf"\b(?:self|this)\.{_NAME}\s*(?::[^=]+)?=(?!=)"),
    re.compile(rf"(?:^|[(,]\s*){_NAME}\??\s*:\s*[A-Za-z\"'\[(&*]"),
    re.compile(rf"\b[A-Za-z]\w*(?:<[^;=]*>)?(?:\[\])?\s+{_NAME}\s*(?:=(?!=)|;|,|\))"),
)
"""An attribute; a parameter or a field with its type behind it; one with its type before it."""
_COINED = re.compile(r"[A-Za-z\d]_[A-Za-z\d]|[a-z][A-Z]|[a-z]\d|^_\w")
"""Made of several words, of a word and a number, or private."""
_TEXT = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`")
_OF_ERRORS = re.compile(r"(?:Error|Exception)$")


def coined(lines: Iterable[str]) -> Counter[str]:
    """Those that these lines give to something; what stands in a text is none."""
    bare = [_TEXT.sub('""', line) for line in lines]
    found = (name for line in bare for pattern in _BOUND for name in pattern.findall(line))
    return Counter(name for name in found if _COINED.search(name) and not _OF_ERRORS.search(name))
