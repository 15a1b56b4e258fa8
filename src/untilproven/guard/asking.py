"""Did a person ask for it? Words of a task that mean such a change, and that are about the same thing."""

import re

from untilproven.guard.finding import Signal

_REMOVING = (
    r"remov\w*|delet\w*|drop\w*|revert\w*|rid of|prun\w*|dead code|obsolete|redundant|duplicat\w*|unused|no longer"
)
_ASKED = {
    "test-removed": _REMOVING
    + r"|consolidat\w*|merg\w*|rewrit\w*|rewrote|replac\w*|refactor\w*|port\w* tests?|split\w*",
    "test-skipped": r"skip\w*|disabl\w*|xfail\w*|expected? (?:to )?fail\w*|ignor\w*|flak[ye]\w*|quarantin\w*|revert\w*",
    "assertion": r"relax\w*|loosen\w*|toleran\w*|weaken\w*|simplif\w*|snapshot\w*|expectations?|revert\w*",
    "removed": _REMOVING + r"|deprecat\w*|relax\w*|allow\w*|disabl\w*|simplif\w*",
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
}
"""Of signals whose names do not begin with it."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SHORTEST = 4
_OF_ANY_TASK = frozenset(
    {"should", "when", "with", "that", "this", "from", "into", "have", "make", "more", "than", "then", "them", "they"}
    | {"test", "tests"}
)
_NAMED = {"test": r"\btests?\b", "cases": r"\btests?\b", "ci": r"\b(?:CI|workflow|pipeline|job|step|action)s?\b"}
"""What a task calls such a thing, by how the name of a signal begins."""


def asked_for(task: str, signal: Signal) -> bool:
    """Whether a person asked for it in so many words. What is only near to what was asked for does not count: whoever
    is to remove one thing has no leave to remove another."""
    kind = _KINDS.get(signal.name) or next((kind for kind in _ASKED if signal.name.startswith(kind)), "lowered")
    if not re.search(rf"\b(?:{_ASKED[kind]})\b", task, re.IGNORECASE):
        return False
    if re.search(r"\brevert\w*", task, re.IGNORECASE) or kind == "test-skipped":
        return True
    if _words(f"{signal.subject} {signal.path} {signal.was or ''}") & _words(task):
        return True
    named = _NAMED.get(signal.name.partition("-")[0])
    return named is not None and re.search(named, task) is not None


def _words(text: str) -> frozenset[str]:
    found = (word.lower() for word in _WORD.findall(text))
    return frozenset(word for word in found if len(word) >= _SHORTEST) - _OF_ANY_TASK
