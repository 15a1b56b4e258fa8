"""Did a person ask for it? Words of a task that mean such a change, and that name the thing."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from untilproven.guard.finding import Signal

Asked = Literal["asked-for", "asked-about"]
"""In so many words; or a task that is about the same thing, and may not have meant it."""


class _Verbs(NamedTuple):
    """What a task may say."""

    wish: str
    """To want just such a change."""
    hint: str
    """To want something that may bring it about."""


_REMOVE = r"remov(?:e[sd]?|al)|delet(?:e[sd]?|ion)|drop(?:s|ped)?|reverts?|reverted|(?:get|gets|got) rid of|prunes?d?"
_REMOVING = (
    r"remov\w*|delet\w*|drop\w*|revert\w*|rid of|prun\w*|dead code|obsolete|redundant|duplicat\w*|unused|no longer"
    r"|clean(?:s|ed|ing)?[- ]?up|unn?ec+es+ar(?:y|ily)|unneeded|needless|superfluous|outdated"
)
_SKIPPING = r"skip\w*|disabl\w*|xfail\w*|expected? (?:to )?fail\w*|ignor\w*|flak[ye]\w*|quarantin\w*"
_SKIP = r"skip(?:s|ped)?|disable[sd]?|xfail(?:s|ed)?|expect(?:s|ed)? (?:to )?fail\w*|ignore[sd]?|quarantine[sd]?"
_ASKED = {
    "test-removed": _Verbs(
        _REMOVE,
        rf"{_REMOVING}|{_SKIPPING}|comment\w* out|consolidat\w*|merg\w*|rewrit\w*|rewrote|replac\w*|refactor\w*"
        r"|split\w*|port(?:ed|ing|s)? tests?",
    ),
    "cases-removed": _Verbs(
        _REMOVE, rf"{_REMOVING}|{_SKIPPING}|comment\w* out|consolidat\w*|merg\w*|mov(?:e[sd]?|ing)|split\w*"
    ),
    "test-skipped": _Verbs(rf"{_SKIP}|reverts?|reverted", rf"{_SKIPPING}|revert\w*"),
    "assertion": _Verbs(
        r"relax(?:es|ed)?|loosens?|loosened|weakens?|weakened|simplif(?:y|ies|ied)|reverts?|reverted",
        r"relax\w*|loosen\w*|toleran\w*|weaken\w*|simplif\w*|snapshot\w*|expectations?|revert\w*",
    ),
    "removed": _Verbs(
        rf"{_REMOVE}|deprecate[sd]?|relax(?:es|ed)?|allow(?:s|ed)?|disable[sd]?|simplif(?:y|ies|ied)",
        _REMOVING + r"|deprecat\w*|relax\w*|allow\w*|disabl\w*|simplif\w*",
    ),
    "collection": _Verbs(
        rf"{_SKIP}|deselect(?:s|ed)?|exclude[sd]?|leave out|{_REMOVE}|relax(?:es|ed)?|reduce[sd]?",
        rf"{_SKIPPING}|deselect\w*|exclud\w*|leav\w* out|{_REMOVING}|lower\w*|relax\w*|reduc\w*",
    ),
    "silenced": _Verbs(
        r"suppress(?:es|ed)?|ignore[sd]?|swallow(?:s|ed)?|silence[sd]?|tolerate[sd]?",
        r"suppress\w*|ignor\w*|swallow\w*|silenc\w*|toler\w*",
    ),
    "lowered": _Verbs(
        rf"lower(?:s|ed)?|reduce[sd]?|relax(?:es|ed)?|disable[sd]?|{_REMOVE}",
        r"lower\w*|reduc\w*|relax\w*|disabl\w*|" + _REMOVING,
    ),
}
"""By the kind of a change."""
_KINDS = {
    "test-file-removed": "test-removed",
    "test-hidden": "test-removed",
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
_NAMED = {
    "test": r"tests?|specs?|testing|suite",
    "suite": r"tests?|specs?|testing|suite",
    "cases": r"tests?|cases?",
    "threshold": r"coverage|thresholds?|limits?",
    "ci": r"(?:CI|workflow|pipeline|job|step|action)s?",
}
"""What a task calls such a thing, by how the name of a signal begins."""
_CONCERNED = {"collection": r"tests?|specs?|suite"}
"""What such a change is about, though it is not called so."""
_OF_WHICH_THERE_IS_ONE = frozenset({"threshold"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|#\d+")
_WITH_NUMBER = re.compile(r"[A-Za-z]+\d\w*")
_INFLECTED = re.compile(r"(?<=\w{4})(?:ing|ed)$|s$")
_SHORTEST = 3
_OF_ANY_TASK = frozenset(
    {"should", "when", "with", "that", "thi", "from", "into", "have", "make", "more", "than", "then", "them", "they"}
    | {"the", "and", "for", "not", "are", "was", "has", "all", "can", "use", "new", "add", "set", "get", "now", "one"}
    | {"but", "out", "only", "index", "main", "this", "assertion", "about", "again", "some", "any", "their", "our"}
)
_OF_ANY_TEST = frozenset({"test", "spec"})
_SENTENCE = re.compile(r"(?<=[.!?)])\s*\n|(?<=[.!?])\s+|\n\s*\n|\n\s*[-*]\s|;\s")
_SCOPE = re.compile(r"^\s*(?!revert\b)[\w./-]+(?:\([^)\n]*\))?!?:\s", re.IGNORECASE)
"""What part of the code a sentence is about, or what sort of change: no verb, even where it looks like one."""
_REVERTED = re.compile(r'^revert\b.{0,20}"|\bthis reverts commit\b', re.IGNORECASE)
"""A whole change taken back: what was in it is not said."""
_NEAR = r"(?:[^\w,:]+[\w.#'-]+){0,3}?[^\w,:]+"
_BEGINS, _ENDS = r"(?<![\w.`/#$-])", r"(?![\w(`/$-]|\.\w)"
"""Of a word that is no part of a name in code."""
_UNWANTED = re.compile(
    r"(?:\bnot|n't|\bnever|\bwithout|\bavoid\w*|\bprevent\w*|\bstop\w*)\s+(?:\w+\s+)?$|^\W*fix\w*\b(?!.*\b(?:by|and|then)\s+$)",
    re.IGNORECASE | re.DOTALL,
)
"""Before a verb: it is the fault that is told, or what is not to be done."""
_PHRASE_ENDS = re.compile(
    r"[,:;()]|\s-+\s|\b(?:as|from|in|on|at|because|since|so|that|which|when|where|while|if|until|unless|to|by|via|into"
    r"|with|without|instead|due|but|after|before|is|are|was|were|they|it|will)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"(?:^|[,:;(]|\b(?:that|which|because|since|as|and)\b)([^,:;(]*?)\s(?:is|are|was|were|been)\s+$", re.IGNORECASE
)
_SHARE = 0.5


def asked(task: str, signal: Signal) -> Asked | None:
    """Whether a person asked for it. Whoever is to remove one thing has no leave to remove another: what is said with
    the verb must be said of this thing. One that speaks of such things in general leaves it open."""
    kind = _KINDS.get(signal.name) or next((kind for kind in _ASKED if signal.name.startswith(kind)), "lowered")
    begins = signal.name.partition("-")[0]
    verbs, noun = _ASKED[kind], _NAMED.get(begins) or _CONCERNED.get(begins)
    around = _words(f"{signal.subject} {signal.was or ''}")
    found: Asked | None = "asked-about" if _REVERTED.search(task) else None
    for sentence, there in _sentences(task):
        hinted = _said(verbs.hint, sentence)
        if not hinted:
            continue
        if any(_names(phrase, signal) for wish in _said(verbs.wish, sentence) for phrase in _phrases(sentence, wish)):
            return "asked-for"
        if around & there or (noun and _are_near(sentence, verbs.hint, noun)):
            found = "asked-about"
    return found


def _said(verb: str, sentence: str) -> list[re.Match[str]]:
    """Where a verb is said, and meant."""
    found = re.finditer(rf"{_BEGINS}(?:{verb}){_ENDS}", sentence, re.IGNORECASE)
    return [one for one in found if not _UNWANTED.search(sentence[: one.start()])]


def _phrases(sentence: str, verb: re.Match[str]) -> Iterator[str]:
    """What is behind the verb, or before it where something was done to it."""
    yield _PHRASE_ENDS.split(sentence[verb.end() :], maxsplit=1)[0]
    if done := _DONE.search(sentence[: verb.start()]):
        yield done[1]


def _names(phrase: str, signal: Signal) -> bool:
    """Whether most of what a phrase says is true of the thing, and something of it is in its own name."""
    begins = signal.name.partition("-")[0]
    noun = _NAMED.get(begins, r"(?!)")
    said = _every_word(re.sub(rf"\b(?:{noun})\b", "", phrase, flags=re.IGNORECASE))
    if not said:
        return begins in _OF_WHICH_THERE_IS_ONE and re.search(noun, phrase, re.IGNORECASE) is not None
    own, of_it = _every_word(signal.subject), _every_word(f"{signal.subject} {signal.was or ''} {signal.now or ''}")
    if begins in _NAMED:  # what a test is skipped for, a case or a step says as much as a name does
        own = of_it
    return bool(said & own) and len(said & (of_it | _every_word(signal.path))) >= _SHARE * len(said)


@lru_cache(maxsize=8)
def _sentences(task: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Each without its scope, and with its words."""
    found = (sentence for sentence in _SENTENCE.split(task) if sentence.strip())
    return tuple((_SCOPE.sub("", sentence), _words(sentence)) for sentence in found)


def _are_near(sentence: str, verb: str, noun: str) -> bool:
    """One of the two stands a few words behind the other, with no comma between them."""
    verb, noun = rf"{_BEGINS}(?:{verb}){_ENDS}", rf"\b(?:{noun})\b"
    return bool(re.search(rf"{verb}{_NEAR}{noun}|{noun}{_NEAR}{verb}", sentence, re.IGNORECASE))


def _words(text: str) -> frozenset[str]:
    """Those that may tell one test from another."""
    return _every_word(text) - _OF_ANY_TEST


def _every_word(text: str) -> frozenset[str]:
    """Without endings, and in small letters."""
    found: Iterator[str] = (word.lower() for word in (*_WORD.findall(text), *_WITH_NUMBER.findall(text)))
    stems = (_INFLECTED.sub("", word) for word in found if word not in _OF_ANY_TASK)
    return frozenset(word for word in stems if len(word) >= _SHORTEST) - _OF_ANY_TASK
