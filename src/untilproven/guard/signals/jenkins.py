"""What Jenkins runs, and whether the blocks around it let it fail."""

import re
from collections.abc import Iterator

import msgspec

_STEP = re.compile(r"""\b(?:sh|bat)\s*\(?\s*(?:script:\s*)?('''|\"\"\"|'|")(.*?)\1([^\n]*)""", re.DOTALL)
_FORGIVES = re.compile(r"\b(?:catchError|warnError)\b")
_STAYS_BAD = re.compile(r"buildResult:\s*['\"]FAILURE")
_PASSED_ON = re.compile(r"\bthrow\b|\berror\b|FAILURE|currentBuild|\bexit\b|unstable")
_WHEN = re.compile(r"\bwhen\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
_HARDLY_EVER = re.compile(r"\b(?:branch|tag|buildingTag|expression|environment|triggeredBy)\b")


class Step(msgspec.Struct, frozen=True):
    script: str
    unheard: str | None
    gates: frozenset[str]


def steps_in(text: str) -> Iterator[Step]:
    for found in _STEP.finditer(text):
        blocks = list(_around(text, found.start()))
        unheard = next((why for block in blocks if (why := _forgiven(text, *block))), None)
        if "returnStatus: true" in found[3] and _is_dropped(text, found.start()):
            unheard = "returnStatus: true"
        yield Step(found[2], unheard, frozenset(gate for block in blocks for gate in _gates(text, *block)))


def _around(text: str, at: int) -> Iterator[tuple[str, int]]:
    """The heads of the blocks that it stands in, and where these begin."""
    depth = 0
    for place in range(at - 1, -1, -1):
        if text[place] == "}":
            depth += 1
        elif text[place] == "{":
            if depth == 0:
                yield text[text.rfind("\n", 0, place) + 1 : place], place
            depth = max(depth - 1, 0)


def _forgiven(text: str, head: str, at: int) -> str | None:
    if (found := _FORGIVES.search(head)) and not _STAYS_BAD.search(head):
        return found[0]
    if re.search(r"\btry\s*$", head):
        caught = re.match(r"\s*catch\s*\([^)]*\)\s*\{", text[(end := _end(text, at)) :])
        if caught and not _PASSED_ON.search(text[end : _end(text, end + caught.end() - 1)]):
            return "try"
    return None


def _gates(text: str, head: str, at: int) -> list[str]:
    if "stage" not in head:
        return []
    told = _WHEN.findall(text[at : _end(text, at)])
    return [f"when: {' '.join(one.split())}" for one in told if _HARDLY_EVER.search(one)]


def _end(text: str, at: int) -> int:
    """Behind the bracket that closes the one that stands there."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


def _is_dropped(text: str, at: int) -> bool:
    """Nothing takes what it returns."""
    return not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t{")
