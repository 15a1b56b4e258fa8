"""Words of a task that mean a change: to want just that, or something that may bring it about."""

from typing import NamedTuple


class Verbs(NamedTuple):
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
_COMMENT_OUT = r"comment(?:s|ed|ing)? out"
_SKIPPING = (
    rf"skip\w*|disabl\w*|xfail\w*|expected? (?:to )?fail\w*|ignor\w*|flak[ye]\w*|quarantin\w*|exempt\w*|{_COMMENT_OUT}"
)
_SKIP = (
    r"skip(?:s|ped)?|disable[sd]?|xfail(?:s|ed)?|expect(?:s|ed)? (?:to )?fail\w*|ignore[sd]?|quarantine[sd]?"
    rf"|exempt(?:s|ed|ing)?|{_COMMENT_OUT}"
)
_LET_FAIL = (
    r"allow(?:s|ed)? (?:[\w-]+ )?failures? (?:on|in|of|for|from)|allow(?:s|ed)?(?=(?: [\w.#'-]+){1,6} to fail\b)"
    r"|tolerate[sd]? (?:[\w-]+ )?failures? (?:on|in|of|for|from)"
)
_SHORTENING = r"shorten\w*|trim(?:s|med|ming)?|reduc\w*|simplif\w*|slim\w*"
_TURNING = (
    r"migrat\w*|switch\w*|convert\w*|adopt\w*|mov(?:e[sd]?|ing)|port(?:ed|ing|s)?"
    r"|updat\w*(?= (?:\w+ ){0,2}tests? to use\b)|us(?:e[sd]?|ing)(?= (?:\w+ ){0,2}test (?:runner|framework)\b)"
)
INSTEAD = r"(?<!\w\s)(?:replace[sd]?|allow(?:s|ed)?|permit(?:s|ted)?|enable[sd]?|accept(?:s|ed)?)"
"""To want something by which the behaviour that it was about goes, where a sentence begins with it."""
ASKED = {
    "test-removed": Verbs(
        rf"{_REMOVE}|{_COMMENT_OUT}|instead of|in place of",
        rf"{_REMOVING}|{_SKIPPING}|instead of|in place of|consolidat\w*|merg\w*|rewrit\w*|rewrote|replac\w*|refactor\w*"
        rf"|split\w*|{_SHORTENING}|{_TURNING}",
    ),
    "cases-removed": Verbs(
        _REMOVE, rf"{_REMOVING}|{_SKIPPING}|consolidat\w*|merg\w*|mov(?:e[sd]?|ing)|split\w*|{_SHORTENING}|adopt\w*"
    ),
    "test-skipped": Verbs(rf"{_SKIP}|{_LET_FAIL}|reverts?|reverted", rf"{_SKIPPING}|{_LET_FAIL}|revert\w*"),
    "assertion": Verbs(
        r"relax(?:es|ed)?|loosens?|loosened|weakens?|weakened|simplif(?:y|ies|ied)|reverts?|reverted",
        rf"relax\w*|loosen\w*|toleran\w*|weaken\w*|simplif\w*|snapshot\w*|expectations?|revert\w*|{_TURNING}",
    ),
    "removed": Verbs(
        rf"{_REMOVE}|deprecate[sd]?|relax(?:es|ed)?|allow(?:s|ed)?|disable[sd]?|simplif(?:y|ies|ied)",
        _REMOVING + r"|deprecat\w*|relax\w*|allow\w*|disabl\w*|simplif\w*|accept\w*|permit\w*",
    ),
    "optional": Verbs(
        r"continues? on errors?|allow(?:s|ed)?|tolerate[sd]?|ignore[sd]?|disable[sd]?",
        r"continu\w*|allow\w*|toler\w*|ignor\w*|disabl\w*|optional|may fail|can fail",
    ),
    "collection": Verbs(
        rf"{_SKIP}|deselect(?:s|ed)?|exclude[sd]?|leave out|{_REMOVE}|relax(?:es|ed)?|reduce[sd]?",
        rf"{_SKIPPING}|deselect\w*|exclud\w*|leav\w* out|{_REMOVING}|lower\w*|relax\w*|reduc\w*",
    ),
    "silenced": Verbs(
        r"suppress(?:es|ed)?|ignore[sd]?|swallow(?:s|ed)?|silence[sd]?|tolerate[sd]?",
        r"suppress\w*|ignor\w*|swallow\w*|silenc\w*|toler\w*",
    ),
    "retries": Verbs(
        r"retr(?:y|ies|ied)|rerun(?:s|ning)?|mark(?:s|ed)?", r"retr(?:y|ies|ied)|rerun\w*|flak[ye]\w*|mark(?:s|ed)?"
    ),
    "timeout": Verbs(
        r"increase[sd]?|raise[sd]?|bump(?:s|ed)?|extend(?:s|ed)?|double[sd]?",
        r"increas\w*|rais\w*|bump\w*|extend\w*|timeouts?",
    ),
    "lowered": Verbs(
        rf"lower(?:s|ed)?|reduce[sd]?|relax(?:es|ed)?|disable[sd]?|{_REMOVE}",
        r"lower\w*|reduc\w*|relax\w*|disabl\w*|" + _REMOVING,
    ),
}
"""By the kind of a change."""
KINDS = {
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
    "ci-optional": "optional",
    "handler-emptied": "silenced",
    "error-silenced-broadly": "silenced",
    "suppression-added": "silenced",
}
"""Of signals whose names do not begin with it."""
_OF_TESTS = r"tests?|specs?|testing|suite"
_RUNNERS = (
    r"jest|vitest|mocha|jasmine|karma|ava|tape|pytest|unittest|nose|junit\d*|testng|spock|kotest|assertj|insta|assert"
)
NAMED = {
    "test": _OF_TESTS,
    "suite": _OF_TESTS,
    "cases": r"tests?|cases?",
    "threshold": r"coverage|thresholds?|limits?",
    "ci": r"(?:CI|workflow|pipeline|job|step|action)s?",
}
"""What a task calls such a thing, by how the name of a signal begins."""
CONCERNED = {
    "test": rf"{_OF_TESTS}|cases?|{_RUNNERS}",
    "assertion": rf"assertions?|{_OF_TESTS}|{_RUNNERS}",
    "collection": r"tests?|specs?|suite",
}
"""What such a change is about, though it is not called so."""
