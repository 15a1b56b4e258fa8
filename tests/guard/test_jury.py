"""The guard in a process of its own."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from untilproven.guard import jury as module
from untilproven.guard.change import Change
from untilproven.guard.judging import Judgement, judge
from untilproven.guard.jury import GuardFailed, Jury

ASKS = b"test('a', () => { expect(f()).toBe(1) })\n"
DELETED = Change("tests/test_a.py", b"def test_a():\n    assert f() == 1\n", b"")
HARMLESS = Change("b.py", b"x = 1\n", b"x = 2\n")
DEPTH = 20_000
ENDLESS = b"describe('a', () => {" * DEPTH + ASKS + b"})" * DEPTH
"""It asks the same as before, at a depth at which looking takes minutes."""


@pytest.fixture
def jury() -> Iterator[Jury]:
    made = Jury()
    yield made
    made.close()


def asked(jury: Jury, *changes: Change) -> Judgement:
    jury.ask(changes, task="")
    (judgement,) = jury.answer()
    return judgement


def guards() -> list[int]:
    """The guard's processes among the children of this one."""
    children = Path("/proc/self/task").joinpath(str(os.getpid()), "children").read_text().split()
    return [int(pid) for pid in children if Path(f"/proc/{pid}/comm").read_text() == "ralph-guard\n"]


def test_it_says_what_the_guard_says_of_each_tree(jury: Jury) -> None:
    odd = Change("tests/test_\udcff.py", DELETED.before, DELETED.after)
    jury.ask([DELETED, odd], [HARMLESS], task="tidy up")
    assert jury.answer() == [judge([DELETED, odd], task="tidy up"), judge([HARMLESS], task="tidy up")]


def test_a_file_that_takes_too_long_is_named_and_its_tests_are_as_good_as_gone(
    jury: Jury, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SECONDS", 1.0)
    monkeypatch.setattr(module, "_ALONE", 1.0)
    endless = Change("a.test.js", ASKS, ENDLESS)
    judgement = asked(jury, endless, DELETED, HARMLESS)
    assert [(one.path, one.reason) for one in judgement.not_analysed] == [("a.test.js", "takes too long to read")]
    assert [(one.path, one.pattern) for one in judgement.findings if one.blocks] == [
        ("a.test.js", "LP-001"),
        ("tests/test_a.py", "LP-001"),
    ]
    (first,) = guards()
    assert asked(jury, endless, DELETED, HARMLESS) == judgement
    assert guards() == [first], "what cannot be read is not tried again"


def test_what_there_is_no_time_to_try_is_as_good_as_gone(jury: Jury, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SECONDS", 1.0)
    monkeypatch.setattr(module, "_SEARCH", 0.0)
    kept = Change("tests/test_a.py", DELETED.before, b"# first\n" + (DELETED.before or b""))
    judgement = asked(jury, Change("a.test.js", ASKS, ENDLESS), kept)
    assert {one.path for one in judgement.not_analysed} == {"a.test.js", "tests/test_a.py"}
    assert {one.path for one in judgement.findings if one.blocks} == {"a.test.js", "tests/test_a.py"}


def test_a_file_that_the_guard_falls_over_costs_nobody_else(jury: Jury, monkeypatch: pytest.MonkeyPatch) -> None:
    def falls_over(changes: list[Change], *, task: str, reviewed: bool) -> Judgement:
        if any(change.after == b"crash" for change in changes):
            os.abort()
        if any(change.after == b"raise" for change in changes):
            raise RecursionError("too deep")
        return judge(changes, task=task, reviewed=reviewed)

    monkeypatch.setattr(module, "judge", falls_over)
    judgement = asked(jury, Change("c.py", b"", b"crash"), Change("d.py", b"", b"raise"), DELETED)
    assert [(one.path, one.reason) for one in judgement.not_analysed] == [
        ("c.py", "the guard fell over it (-6)"),
        ("d.py", "the guard fell over it: RecursionError: too deep"),
    ]
    assert [one.path for one in judgement.findings] == ["tests/test_a.py"]


def test_it_can_be_killed_between_two_questions_and_in_the_middle_of_one(jury: Jury) -> None:
    expected = judge([DELETED])
    assert asked(jury, DELETED) == expected
    os.kill(guards()[0], signal.SIGKILL)
    assert asked(jury, DELETED) == expected
    (pid,) = guards()
    os.kill(pid, signal.SIGSTOP)
    jury.ask([DELETED], task="")
    os.kill(pid, signal.SIGKILL)
    assert jury.answer() == [expected]


def test_what_cannot_be_judged_at_all_is_an_error(jury: Jury, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "judge", lambda *_, **__: os.abort())
    jury.ask([DELETED], task="")
    with pytest.raises(GuardFailed, match=r"cannot look at what was changed: the guard fell over it \(-6\)"):
        jury.answer()


def test_a_question_whose_answer_nobody_waited_for_is_not_answered_later(jury: Jury) -> None:
    jury.ask([DELETED], task="")
    assert asked(jury, HARMLESS) == judge([HARMLESS])


def test_nothing_is_left_of_it_when_it_is_closed(jury: Jury) -> None:
    asked(jury, HARMLESS)
    assert len(guards()) == 1
    assert jury.close() == 0
    assert guards() == []
    assert jury.close() == 0
