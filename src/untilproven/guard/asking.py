"""Did a person ask for it? Words of a task that mean such a change, and that name the thing."""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Literal

from untilproven.guard.finding import Signal
from untilproven.guard.wishes import ASKED, CONCERNED, INSTEAD, KINDS, NAMED, Verbs

Asked = Literal["asked-for", "asked-about"]
"""In so many words; or a task that is about the same thing, and may not have meant it."""

_OF_WHICH_THERE_IS_ONE = frozenset({"threshold"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|#\d+")
_WITH_NUMBER = re.compile(r"[A-Za-z]+\d\w*")
_INFLECTED = re.compile(r"(?<=\w{4})(?:ing|ed)$|s$")
_SILENT = re.compile(r"(?<=\w{4})e$")
_SHORTEST = 3
_OF_ANY_TASK = frozenset(
    {"should", "when", "with", "that", "thi", "from", "into", "have", "make", "more", "than", "then", "them", "they"}
    | {"the", "and", "for", "not", "are", "was", "has", "all", "can", "use", "new", "add", "set", "get", "now", "one"}
    | {"but", "out", "only", "index", "main", "this", "assertion", "about", "again", "some", "any", "their", "our"}
)
_OF_ANY_THING = (
    "support api feature function method class option module code dependency dependencies special old legacy deprecated"
    " unused obsolete redundant duplicate duplicated copied flaky failing broken temporary temporarily remaining based"
    " default unneeded unnecessary whole entire"
)
"""Words that say what sort of thing is meant, or why, and not which."""
_OF_ANY_TEST = frozenset({"test", "spec"})
_SENTENCE = re.compile(r"(?<=[.!?)])\s*\n|(?<=[.!?])\s+|\n\s*\n|\n\s*[-*]\s|;\s")
_SCOPE = re.compile(r"^\s*(?!revert\b)[\w./-]+(?:\([^)\n]*\))?!?:\s", re.IGNORECASE)
"""What part of the code a sentence is about, or what sort of change: no verb, even where it looks like one."""
_REVERTED = re.compile(r'^revert\b.{0,20}"|\bthis reverts commit\b', re.IGNORECASE)
"""A whole change taken back: what was in it is not said."""
_TITLE = re.compile(r'^\s*revert\b[^"\n]{0,20}"(?:[\w./-]+(?:\([^)\n]*\))?!?:\s)?([^"\n]+)', re.IGNORECASE)
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
_WHERE = re.compile(r"\b(?:on|when|if|where|unless|before|until|under|for)\s+([^,:;()]+)", re.IGNORECASE)
_LIST = re.compile(r"\s+and\s+|\s*[&/+]\s+")
_A_SINGLE = re.compile(
    r"(?:[\w-]+\s+){0,4}?(?:test|spec)\b(?!\s+(?:(?:case|file|suite|step)s|assertions?)\b)", re.IGNORECASE
)
_OF_A_FEATURE = re.compile(
    r"^\W*(?:temporarily )?(?:remov|drop|delet|end|discontinu|get rid of)\w*\b[^,:;]*?"
    r"\b(?:support|dependency|dependencies|api|apis|feature|features|compat\w*|deprecated|legacy)\b",
    re.IGNORECASE,
)
_FROM_CI = re.compile(r"\bfrom (?:the )?(?:\w+ )?(?:CI|matrix|workflows?|pipelines?)\b", re.IGNORECASE)
_GOES_WITH_A_FEATURE = frozenset({"test-removed", "test-file-removed", "cases-removed", "assertion-removed"})
_SUCCEEDED = frozenset(
    {"replaced", "renewed", "rewritten", "consolidated", "twin", "variant", "ported", "reordered", "moved"}
)
"""Something took its place."""
_OF_CODE = frozenset({"test-removed", "cases-removed", "test-skipped", "assertion", "removed"})
_SHARE = 0.5


def asked(task: str, signal: Signal, beside: Collection[Signal] = ()) -> Asked | None:
    """Whether a person asked for it. Whoever is to remove one thing has no leave to remove another: what is said with
    the verb must be said of this thing. One that speaks of such things in general leaves it open. `beside` are all
    signals of the change."""
    kind = KINDS.get(signal.name) or next((kind for kind in ASKED if signal.name.startswith(kind)), "lowered")
    found: Asked | None = "asked-about" if _REVERTED.search(task) else None
    title = _TITLE.search(task) if kind in _OF_CODE else None
    if title and _identifying(title[1]) & _words(signal.subject):
        return "asked-for"
    for sentence, there in _sentences(task):
        verbs = _verbs(kind, signal, beside)
        if _is_asked_for(sentence, signal, verbs, beside):
            return "asked-for"
        if _is_asked_about(sentence, there, signal, verbs):
            found = "asked-about"
    return found


def _verbs(kind: str, signal: Signal, beside: Collection[Signal]) -> Verbs:
    """One that is gone and stands in a comment is not run, either."""
    verbs = ASKED[kind]
    if kind == "test-removed" and any(one.name == "test-commented-out" and one.path == signal.path for one in beside):
        return Verbs(*map("|".join, zip(verbs, ASKED["test-skipped"], strict=True)))
    return verbs


def _is_asked_for(sentence: str, signal: Signal, verbs: Verbs, beside: Collection[Signal]) -> bool:
    """The verb is said of just this; a single one is meant, and there is no other; or it is named, and something took
    its place or is left of it."""
    wished = _said(verbs.wish, sentence)
    for wish in wished:
        phrases = _phrases(sentence, wish, signal.name)
        if any(_names(phrase, signal) for phrase in phrases) or _is_the_only_one(
            sentence[wish.end() :], signal, beside
        ):
            return True
    if _SUCCEEDED & {*signal.explained} and _is_named(verbs.hint, sentence, signal):
        return True
    return "others-left" in signal.explained and bool(wished) and _FROM_CI.search(sentence) is not None


def _is_asked_about(sentence: str, there: frozenset[str], signal: Signal, verbs: Verbs) -> bool:
    begins = signal.name.partition("-")[0]
    if _is_of_a_feature(sentence, signal) or (begins == "test" and _is_named(INSTEAD, sentence, signal)):
        return True
    if not _said(verbs.hint, sentence):
        return False
    noun = CONCERNED.get(begins) or NAMED.get(begins)
    around = _words(f"{signal.subject} {signal.was or ''}")
    return bool(around & there) or (noun is not None and _are_near(sentence, verbs.hint, noun))


def _is_of_a_feature(sentence: str, signal: Signal) -> bool:
    """It is to be taken away, and tests go with it: which is not said."""
    return signal.name in _GOES_WITH_A_FEATURE and _OF_A_FEATURE.search(sentence) is not None


def _is_named(verbs: str, sentence: str, signal: Signal) -> bool:
    return any(_names(phrase, signal) for verb in _said(verbs, sentence) for phrase in _phrases(sentence, verb))


def _is_the_only_one(rest: str, signal: Signal, beside: Collection[Signal]) -> bool:
    """A single test is meant, and which is not said: there is no other."""
    phrase = _PHRASE_ENDS.split(rest, maxsplit=1)[0]
    if not _A_SINGLE.match(phrase.lstrip()) or _identifying(phrase) - _every_word("test spec file type unit"):
        return False
    return [one for one in beside if KINDS.get(one.name, one.name) == KINDS.get(signal.name, signal.name)] == [signal]


def _said(verb: str, sentence: str) -> list[re.Match[str]]:
    """Where a verb is said, and meant."""
    found = re.finditer(rf"{_BEGINS}(?:{verb}){_ENDS}", sentence, re.IGNORECASE)
    return [one for one in found if not _UNWANTED.search(sentence[: one.start()])]


def _phrases(sentence: str, verb: re.Match[str], name: str = "") -> Iterator[str]:
    """What is behind the verb, each of several by itself, or before it where something was done to it; and where
    a test is not to be run."""
    behind = _PHRASE_ENDS.split(sentence[verb.end() :], maxsplit=1)[0]
    yield behind
    several = _LIST.split(behind)
    yield from several if len(several) > 1 else ()
    if done := _DONE.search(sentence[: verb.start()]):
        yield done[1]
    if name == "test-sometimes-skipped":
        yield from _WHERE.findall(sentence[verb.end() :])


def _names(phrase: str, signal: Signal) -> bool:
    """Whether most of what a phrase says is true of the thing, and something of it is in its own name."""
    begins = signal.name.partition("-")[0]
    noun = NAMED.get(begins, r"(?!)")
    said = _identifying(re.sub(rf"\b(?:{noun})\b", "", phrase, flags=re.IGNORECASE))
    if not said:
        return begins in _OF_WHICH_THERE_IS_ONE and re.search(noun, phrase, re.IGNORECASE) is not None
    own, of_it = _every_word(signal.subject), _every_word(f"{signal.subject} {signal.was or ''} {signal.now or ''}")
    if begins in NAMED:  # what a test is skipped for, a case or a step says as much as a name does
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


def _identifying(phrase: str) -> frozenset[str]:
    return _every_word(phrase) - _every_word(_OF_ANY_THING)


@lru_cache(maxsize=64)
def _every_word(text: str) -> frozenset[str]:
    """Without endings, and in small letters."""
    found: Iterator[str] = (word.lower() for word in (*_WORD.findall(text), *_WITH_NUMBER.findall(text)))
    stems = (_INFLECTED.sub("", word) for word in found if word not in _OF_ANY_TASK)
    kept = (word for word in stems if len(word) >= _SHORTEST and word not in _OF_ANY_TASK)
    return frozenset(_SILENT.sub("", word) for word in kept)
