"""What the guard is compared with: regular expressions that count, over the test files of a commit."""

import re
from collections import Counter
from collections.abc import Iterable

from untilproven.guard.change import Change
from untilproven.guard.finding import Severity
from untilproven.guard.kinds import kind_of

_TESTS = re.compile(
    r"^\s*(?:async )?def test|^\s*(?:it|test)(?:\.each)?\(|^func Test|#\[(?:\w+::)*test\b|@(?:Parameterized)?Test\b",
    re.MULTILINE,
)
_SKIPS = re.compile(
    r"\bskip(?:if|test|unless)?\b|xfail|expectedFailure|\bx(?:it|describe|test)\(|t\.Skip|#\[ignore|@Disabled|@Ignore",
    re.IGNORECASE,
)
_ASSERTS = re.compile(r"\bassert|\bexpect\(|\braises\(|t\.(?:Error|Fatal)|\brequire\.\w+\(|assert\w*!")


def counted(changes: Iterable[Change]) -> frozenset[str]:
    """Which counts went the wrong way."""
    tests = skips = asserts = deleted = 0
    for change in changes:
        if kind_of(change.path) != "test":
            continue
        before, after = _text(change.before), _text(change.after)
        tests += _difference(_TESTS, before, after)
        skips += _difference(_SKIPS, before, after)
        asserts += _difference(_ASSERTS, before, after)
        deleted += change.after is None
    wrong = {
        "fewer tests": tests < 0,
        "more skips": skips > 0,
        "fewer asserts": asserts < 0,
        "test file deleted": deleted > 0,
    }
    return frozenset(name for name, is_so in wrong.items() if is_so)


def sight(changes: tuple[Change, ...], _task: str) -> Counter[tuple[str, int]]:
    """As something that warns."""
    return Counter((name, int(Severity.MEDIUM)) for name in counted(changes))


def _difference(pattern: re.Pattern[str], before: str, after: str) -> int:
    return len(pattern.findall(after)) - len(pattern.findall(before))


def _text(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", "replace")
