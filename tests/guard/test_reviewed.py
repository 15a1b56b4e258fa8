"""Where a person reads the change, what may as well be on purpose is left to that person."""

import pytest

from untilproven.guard.catalogue import patterns
from untilproven.guard.change import Change
from untilproven.guard.finding import Finding, Severity
from untilproven.guard.judging import judge

SOURCE = "def total(prices):\n    return sum(prices)\n"
OTHER = "def total(prices):\n    return sum(set(prices))\n"
TESTS = """
from cart import total

def test_total():
    assert total([1, 2]) == 3

def test_name():
    assert name(1) == "one"
"""
WITHOUT_TOTAL = TESTS.replace("def test_total():\n    assert total([1, 2]) == 3\n", "")
SKIPPED = TESTS.replace("def test_total", "@pytest.mark.skip\ndef test_total")
EMPTIED = TESTS.replace("assert total([1, 2]) == 3", "total([1, 2])")
WEAKER = TESTS.replace("assert total([1, 2]) == 3", "assert total([1, 2])")


def found(tests: str, source: str, *, reviewed: bool) -> list[Finding]:
    changes = [Change("tests/test_cart.py", TESTS.encode(), tests.encode())]
    changes += [Change("cart.py", SOURCE.encode(), source.encode())] if source != SOURCE else []
    return list(judge(changes, reviewed=reviewed).findings)


def test_a_deleted_test_whose_subject_was_changed_is_left_to_whoever_reads_it() -> None:
    (alone,) = found(WITHOUT_TOTAL, OTHER, reviewed=False)
    assert (alone.pattern, alone.severity, alone.explained) == ("LP-001", Severity.CRITICAL, ())
    (read,) = found(WITHOUT_TOTAL, OTHER, reviewed=True)
    assert (read.pattern, read.severity) == ("LP-001", Severity.MEDIUM)
    assert read.explained == ("subject-changed", "in-doubt")
    assert read.id == alone.id


@pytest.mark.parametrize(
    ("tests", "source", "pattern"),
    [
        (WITHOUT_TOTAL, SOURCE, "LP-001"),
        (SKIPPED, OTHER, "UP-001"),
        (EMPTIED, OTHER, "UP-006"),
        (WITHOUT_TOTAL, SOURCE.replace("(prices):", "(prices):  # of a cart") + "\n", "LP-001"),
    ],
)
def test_what_leaves_no_doubt_blocks_whoever_reads_it(tests: str, source: str, pattern: str) -> None:
    for reviewed in (False, True):
        (finding,) = found(tests, source, reviewed=reviewed)
        assert (finding.pattern, finding.blocks, finding.explained) == (pattern, True, ())


def test_a_new_file_that_is_called_like_it_is_no_subject_that_was_changed() -> None:
    beside = [Change(name, None, b"total = 1\n") for name in ("cart_notes.py", "conf/total.cfg")]
    changes = [Change("tests/test_cart.py", TESTS.encode(), WITHOUT_TOTAL.encode()), *beside]
    assert [one.severity for one in judge(changes, reviewed=True).findings] == [Severity.CRITICAL]


def test_an_assertion_that_asks_less_is_always_in_doubt() -> None:
    assert [one.severity for one in found(WEAKER, SOURCE, reviewed=False)] == [Severity.HIGH]
    (read,) = found(WEAKER, SOURCE, reviewed=True)
    assert (read.severity, read.explained) == (Severity.MEDIUM, ("in-doubt",))


def test_what_weighs_less_than_a_warning_already_is_not_made_one() -> None:
    moved = [
        Change("tests/test_cart.py", TESTS.encode(), WITHOUT_TOTAL.encode()),
        Change("tests/test_total.py", None, TESTS.replace("def test_name", "def later").encode()),
        Change("cart.py", SOURCE.encode(), OTHER.encode()),
    ]
    assert judge(moved).findings == judge(moved, reviewed=True).findings


def test_only_what_would_block_can_be_in_doubt() -> None:
    for pattern in patterns():
        assert not pattern.doubtful or pattern.weight >= Severity.HIGH, pattern.id


def test_what_is_only_set_up_otherwise_under_test_is_left_to_whoever_reads_it() -> None:
    listens = "app.listen(3000)\n"
    asks = "if (process.env.NODE_ENV !== 'test') app.listen(3000)\n"
    changes = [Change("app.js", listens.encode(), asks.encode())]
    severities = [[one.severity for one in judge(changes, reviewed=reviewed).findings] for reviewed in (False, True)]
    assert severities == [[Severity.CRITICAL], [Severity.MEDIUM]]
