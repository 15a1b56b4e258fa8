"""Did a person ask for it? Words of a task that mean such a change, and that are about the same thing."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from untilproven.guard.finding import Signal

Asked = Literal["asked-for", "asked-about"]
"""In so many words; or a task that is about the same thing, and may not have meant it."""

_REMOVING = (
    r"remov\w*|delet\w*|drop\w*|revert\w*|rid of|prun\w*|dead code|obsolete|redundant|duplicat\w*|unused|no longer"
)
_ASKED = {
    "test-removed": _REMOVING
    + r"|consolidat\w*|merg\w*|rewrit\w*|rewrote|replac\w*|refactor\w*|port\w* tests?|split\w*",
    "test-skipped": r"skip\w*|disabl\w*|xfail\w*|expected? (?:to )?fail\w*|ignor\w*|flak[ye]\w*|quarantin\w*|revert\w*",
    "assertion": r"relax\w*|loosen\w*|toleran\w*|weaken\w*|simplif\w*|snapshot\w*|expectations?|revert\w*",
    "removed": _REMOVING + r"|deprecat\w*|relax\w*|allow\w*|disabl\w*|simplif\w*",
    "silenced": r"suppress\w*|ignor\w*|swallow\w*|silenc\w*|toler\w*",
    "lowered": r"lower\w*|reduc\w*|relax\w*|disabl\w*|" + _REMOVING,
}
"""By the kind of a change."""
_KINDS = {
    "test-file-removed": "test-removed",
    "test-hidden": "test-removed",
    "cases-removed": "test-removed",
    "suite-skipped": "test-skipped",
    "test-sometimes-skipped": "test-skipped",
    "test-commented-out": "test-skipped",
    "test-emptied": "assertion",
    "expected-changed": "assertion",
    "tolerance-widened": "assertion",
    "exception-broadened": "assertion",
    "snapshot-rewritten": "assertion",
    "guard-removed": "removed",
    "raise-removed": "removed",
    "raise-to-nothing": "removed",
    "body-removed": "removed",
    "flag-off": "removed",
    "ci-removed": "removed",
    "handler-emptied": "silenced",
    "error-silenced-broadly": "silenced",
    "suppression-added": "silenced",
}
"""Of signals whose names do not begin with it."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SHORTEST = 3
_OF_ANY_TASK = frozenset(
    {"should", "when", "with", "that", "thi", "from", "into", "have", "make", "more", "than", "then", "them", "they"}
    | {"the", "and", "for", "not", "are", "was", "has", "all", "can", "use", "new", "add", "set", "get", "now", "one"}
    | {"but", "out", "only", "test", "spec", "index", "main", "assertion"}
)
_SENTENCE = re.compile(r"(?<=[.!?)])\s*\n|(?<=[.!?])\s+|\n\s*\n|\n\s*[-*]\s|;\s")
_REVERTED = re.compile(r'^revert\b.{0,20}"|\bthis reverts commit\b', re.IGNORECASE)
"""A whole change taken back: what was in it is not said."""
_NEAR = r"(?:[^\w,:]+[\w.#'-]+){0,3}?[^\w,:]+"
_NAMED = {
    "test": r"(?:tests?|specs?|testing|suite)\b",
    "suite": r"(?:tests?|specs?|testing|suite)\b",
    "cases": r"(?:tests?|cases?)\b",
    "threshold": r"(?:coverage|thresholds?|limits?)\b",
    "ci": r"(?:CI|workflow|pipeline|job|step|action)s?\b",
}
"""What a task calls such a thing, by how the name of a signal begins."""
_SHARE = 0.5


def asked(task: str, signal: Signal) -> Asked | None:
    """Whether a person asked for it. Whoever is to remove one thing has no leave to remove another: the verb and what
    it is about must stand in one sentence, and near each other in the one that a task begins with."""
    kind = _KINDS.get(signal.name) or next((kind for kind in _ASKED if signal.name.startswith(kind)), "lowered")
    verb, noun = _ASKED[kind], _NAMED.get(signal.name.partition("-")[0])
    subject = _words(_last(signal.subject))
    around = _words(f"{signal.subject} {signal.was or ''}")
    found: Asked | None = "asked-about" if _REVERTED.search(task) else None
    for number, (sentence, there) in enumerate(_sentences(task)):
        if not re.search(rf"\b(?:{verb})\b", sentence, re.IGNORECASE):
            continue
        named = noun is not None and _are_near(sentence, verb, noun)
        if named and (number == 0 or (around | _words(signal.path)) & there):
            return "asked-for"
        if noun is None and len(subject & there) >= max(_SHARE * len(subject), 1):
            return "asked-for"
        if number == 0 and any(_are_near(sentence, verb, rf"\w*{word}\w*") for word in around & there):
            return "asked-for"
        if named or around & there:
            found = "asked-about"
    return found


@lru_cache(maxsize=8)
def _sentences(task: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Each with its words."""
    return tuple((sentence, _words(sentence)) for sentence in _SENTENCE.split(task) if sentence.strip())


def _are_near(sentence: str, verb: str, noun: str) -> bool:
    """One of the two stands a few words behind the other, with no comma between them."""
    return bool(re.search(rf"\b(?:{verb}){_NEAR}(?:{noun})|\b(?:{noun}){_NEAR}(?:{verb})\b", sentence, re.IGNORECASE))


def _last(subject: str) -> str:
    """Of a name in a file, its own part; of a path, the file's name."""
    return re.split(r"::| > |/", subject)[-1]


def _words(text: str) -> frozenset[str]:
    """In the singular."""
    found: Iterator[str] = (word.lower().removesuffix("s") for word in _WORD.findall(text))
    return frozenset(word for word in found if len(word) >= _SHORTEST) - _OF_ANY_TASK
