"""Names in code, and the words that they are made of."""

import re

NAME = re.compile(r"[A-Za-z_$][\w$]*")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
EVERYWHERE = frozenset(
    {"test", "tests", "self", "this", "main", "init", "index", "None", "True", "False", "null", "true", "false"}
    | {"async", "await", "with", "from", "import", "assert", "const", "function", "else", "type", "should", "expect"}
    | {"value", "name", "data", "result", "error", "when", "that", "Error", "func", "string", "return", "typeof"}
    | {"object", "undefined", "toString", "length", "message", "__name__", "number", "text", "Type", "property"}
)
"""Names that relate nothing to anything."""
_SAID = re.compile(
    r"\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|/\*.*?\*/|(?<!:)//[^\n]*|(?<!\S)#(?!\[)[^\n]*",
    re.DOTALL,
)
"""Texts and remarks."""


def names_in(code: str) -> frozenset[str]:
    """Without what stands in texts and remarks."""
    return frozenset(NAME.findall(_SAID.sub(" ", code)))


def words_of(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in WORD.findall(name)) - EVERYWHERE


def parts_of(name: str) -> frozenset[str]:
    """A name, and the words that it is made of."""
    return frozenset({*NAME.findall(name), *(word.lower() for word in WORD.findall(name))})
