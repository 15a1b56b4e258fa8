"""Of what type a thing is to be: asked by comparing two types or their names, or in the words that libraries have."""

import re

from untilproven.guard.facts import Assertion
from untilproven.guard.names import NAME

_TYPE_OF = re.compile(
    r"\breflect\.TypeOf\(|(?<![\w.])type\(|\.getClass\(\)|\.__class__\b|\.constructor\b|\btypeof\b|\.GetType\(\)"
)
_INSTANCE_OF = re.compile(r"(?i)is_?instance|instance_?of|\bIsType\(|is_?a\(|\bbe\.an?\(")
_OF_TYPES = frozenset(
    {"reflect", "TypeOf", "type", "getClass", "getName", "getSimpleName", "getCanonicalName", "__class__", "__name__"}
    | {"constructor", "name", "typeof", "class", "is"}
)
_QUALIFIED = re.compile(r"(?:[\w$]+\.)+(?=[\w$]+[\"'`])")


def ask_for_one_type(old: Assertion, new: Assertion) -> bool:
    """Two types were compared, and now the same thing is to be an instance of the same one."""
    compared = f"{old.about} {old.expected or ''}"
    if old.expected is None or not _TYPE_OF.search(old.text) or not _INSTANCE_OF.search(new.text):
        return False
    names = {*NAME.findall(_QUALIFIED.sub("", compared))} - _OF_TYPES
    return bool(names) and names <= {*NAME.findall(new.text)}
