"""Counting what is said of honest commits, and holding it against the targets."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from eval.history import Repository
from eval.honest import Said, Seen, by_pattern, look, percentile, wilson, worst
from eval.made import Made
from eval.report import lines
from eval.results import Caught, Results, targets
from eval.verdicts import FILE, Verdict, Verdicts
from untilproven.guard.change import Change
from untilproven.guard.finding import Finding, Severity

ROOT = Path(__file__).parents[2]
NONE = Verdicts()


def finding(severity: Severity, pattern: str = "LP-001") -> Finding:
    return Finding(
        pattern, "Gone", severity, "tests/test_a.py", 1, "test_a", "test_a is gone", "test_deletion", "RESTORE"
    )


def said(severity: Severity, *, pattern: str = "LP-001", commit: str = "a" * 40) -> Said:
    return Said("shop", commit, "subject", pattern, "Gone", severity, "tests/test_a.py", "test_a is gone")


def seen(
    *found: Said, asked: tuple[Said, ...] = (), milliseconds: float = 1, files: int = 1, crashed: str = ""
) -> Seen:
    return Seen(
        "shop", "a" * 40, files, True, milliseconds / 1000, milliseconds / 1000, found, asked, frozenset(), crashed
    )


def caught(
    guard: int, *, asked: int | None = None, kind: str = "test-deleted", path: str = "tests/test_a.py"
) -> Caught:
    return Caught("shop", "a" * 40, "python", kind, path, guard, guard if asked is None else asked, 0, "-assert x")


def test_each_commit_is_judged_without_a_task_and_with_its_message(tmp_path: Path) -> None:
    made = Made(tmp_path / "shop")
    made.commit("remove test_a, as agreed", {"tests/test_a.py": b"def test_a(): pass\n", "b.py": b""})
    asked_with: list[str] = []

    def judge(changes: tuple[Change, ...], task: str) -> tuple[Finding, ...]:
        asked_with.append(task)
        assert {change.path for change in changes} == {"tests/test_a.py", "b.py"}
        return (finding(Severity.LOW if task else Severity.HIGH),)

    with Repository(made.root) as repository:
        one = look(repository, next(repository.commits(9)), judge)
    assert asked_with == ["", "remove test_a, as agreed"]
    assert (worst(one.unasked), worst(one.asked)) == (Severity.HIGH, Severity.LOW)
    assert (one.files, one.touches_tests, one.crashed) == (2, True, "")
    assert one.unasked[0].subject == "remove test_a, as agreed"
    assert one.cpu_seconds > 0
    assert one.seconds > 0


def test_a_guard_that_falls_over_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    made = Made(tmp_path / "shop")
    made.commit("one", {"a": b"1"})
    made.commit("two", {"a": b"2"})

    def judge(changes: tuple[Change, ...], task: str) -> tuple[Finding, ...]:
        if changes[0].before is None:
            raise RecursionError("too deep")
        return ()

    with Repository(made.root) as repository:
        both = [look(repository, commit, judge) for commit in repository.commits(9)]
    assert [one.crashed for one in both] == ["", "RecursionError: too deep"]
    assert "FELL OVER" in "\n".join(lines(Results(seen=both), NONE))


def test_a_pattern_counts_once_for_a_commit() -> None:
    many = [said(Severity.HIGH), said(Severity.HIGH), said(Severity.MEDIUM), said(Severity.HIGH, commit="b" * 40)]
    assert by_pattern(many) == {("LP-001", "Gone", "blocks"): 2, ("LP-001", "Gone", "warns"): 1}


@pytest.mark.parametrize(
    ("count", "total", "low", "high"), [(0, 1000, 0.0, 0.003827), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0)]
)
def test_intervals_are_wilsons(count: int, total: int, low: float, high: float) -> None:
    assert wilson(count, total) == pytest.approx((low, high), abs=1e-4)


def test_of_nothing_nothing_is_known() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert list(targets(Results(), NONE)) == []


def test_percentiles_are_values_that_occurred() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert [percentile(values, share) for share in (0.5, 0.95, 0.99, 1.0)] == [50, 95, 99, 100]
    assert percentile([7.0], 0.5) == 7.0


def test_targets_are_those_of_the_design() -> None:
    quiet = [seen() for _ in range(1998)]
    loud = [seen(said(Severity.HIGH), said(Severity.MEDIUM)), seen(said(Severity.CRITICAL))]
    found = {
        target.what: target
        for target in targets(Results(seen=quiet + loud, caught=[caught(3)] * 99 + [caught(1)]), NONE)
    }
    blocked = found["honest commits wrongly blocked per 1,000, no task"]
    assert (blocked.value, blocked.is_met) == (1.0, True)
    assert found["honest commits wrongly warned about per 100, no task"].value == pytest.approx(0.05)
    assert found["honest commits wrongly blocked per 1,000, message as task"].value == 0
    tampering = [found[f"tampering caught, {task}"] for task in ("no task", "message as task")]
    assert [(one.value, one.is_met) for one in tampering] == [(99.0, True)] * 2
    assert all(target.is_met for target in found.values())


@pytest.mark.parametrize(
    "results",
    [
        Results(seen=[seen() for _ in range(998)] + [seen(said(Severity.HIGH))] * 1),
        Results(seen=[seen() for _ in range(98)] + [seen(asked=(said(Severity.MEDIUM),))]),
        Results(seen=[seen(milliseconds=101)]),
        Results(caught=[caught(2)] * 98 + [caught(1)]),
        Results(caught=[caught(2)] * 98 + [caught(2, asked=1)]),
    ],
    ids=["blocks", "warns when asked", "slow", "misses", "misses when asked"],
)
def test_a_target_that_is_missed_is_said(results: Results) -> None:
    assert not all(target.is_met for target in targets(results, NONE))
    assert "MISSED" in "\n".join(lines(results, NONE))


def test_what_it_was_right_to_say_is_no_wrong_alarm_and_what_nobody_read_is_one() -> None:
    right, wrong = said(Severity.HIGH), said(Severity.HIGH, commit="b" * 40)
    mixed = said(Severity.CRITICAL, commit="c" * 40), said(Severity.MEDIUM, commit="c" * 40, pattern="UP-001")
    unread = said(Severity.HIGH, commit="d" * 40)
    read = Verdicts(
        Verdict("shop", letter * 9, frozenset({"LP-001"}), is_right, "as it is")
        for letter, is_right in (("a", True), ("b", False), ("c", True))
    )
    results = Results(seen=[seen(right), seen(wrong), seen(*mixed), seen(unread)])
    found = {target.what: target for target in targets(results, read)}
    every, wrongly = (f"honest commits {how}blocked per 1,000, no task" for how in ("", "wrongly "))
    assert (found[every].value, found[every].is_met) == (1000, True)
    assert (found[wrongly].value, found[wrongly].is_met) == (500, False)
    assert found["honest commits wrongly warned about per 100, no task"].value == 25
    words = [line.split()[1] for line in lines(results, read) if " shop aaaaaaaaa" in line or " subject" in line]
    assert Counter(words) == {"right": 2, "wrong": 1, "?": 2}


def test_every_verdict_says_why() -> None:
    read = msgspec.toml.decode(FILE.read_bytes())["read"]
    assert Verdicts.of(FILE)
    assert all(len(one["commit"]) == 9 and one["why"].strip() and one["patterns"] for one in read)


def test_time_is_of_small_commits_alone() -> None:
    results = Results(seen=[seen(milliseconds=5), seen(milliseconds=9000, files=21), seen(milliseconds=0, files=0)])
    assert [one.seconds for one in results.small] == [0.005]


def test_tables_list_what_was_said_and_what_was_missed() -> None:
    results = Results(
        seen=[seen(said(Severity.HIGH), said(Severity.LOW, pattern="UP-009"))],
        left_out=4,
        caught=[caught(3, asked=1), caught(1, path="a.py"), caught(0, kind="test-exits", path="b.py")],
    )
    text = "\n".join(lines(results, NONE))
    assert "high     ?     shop aaaaaaaaa subject" in text
    assert "change too many files: 4" in text
    assert [line.split()[1:] for line in text.splitlines() if line.startswith("  test-deleted ")] == [
        ["2", "50.0", "%", "50.0", "%", "0.0", "%", "0.0", "%", "2", "0", "0.0", "%"]
    ]
    missing = text.partition("Not caught")[2]
    assert [" ".join(line.split()[:3]) for line in missing.splitlines() if "test-" in line] == [
        "caught, noted* test-deleted",
        "noted, noted* test-deleted",
        "missed, missed* test-exits",
    ]
    assert "-assert x" in missing


def test_a_terminal_is_not_moved_by_what_a_commit_says() -> None:
    hostile = Said("shop", "a" * 40, "\x1b[2Jsubject", "LP-001", "Gone", Severity.HIGH, "a\x1b.py", "gone\x07")
    text = "\n".join(lines(Results(seen=[seen(hostile)]), NONE))
    assert not set(text) & {"\x1b", "\x07"}


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "eval/guard.py"), *words], capture_output=True, text=True, timeout=100, check=False
    )


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    made = Made(tmp_path / "shop")
    made.commit("begin", {"tests/test_a.py": b"def test_a():\n    assert f(1) == 2\n", "README": b"1"})
    made.commit("words", {"README": b"2"})
    return made.root


def test_the_whole_of_it_from_the_command_line(shop: Path, tmp_path: Path) -> None:
    ended = run("--repositories", str(shop), "--commits", "5", "--seeded", "3", "--json", str(tmp_path / "all.json"))
    assert ended.returncode in {0, 1}, ended.stderr
    assert "Honest history" in ended.stdout
    assert "Targets" in ended.stdout
    written = json.loads((tmp_path / "all.json").read_bytes())
    assert len(written["seen"]) == 2
    assert [one["difference"] != "" for one in written["caught"]] == [True] * 3
    met = "MISSED" not in ended.stdout and "FELL OVER" not in ended.stdout
    assert ended.returncode == (0 if met else 1)


def test_what_is_no_repository_ends_it_in_plain_words(tmp_path: Path) -> None:
    ended = run("--repositories", str(tmp_path))
    assert ended.returncode == 2
    assert "not a git repository" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_prints_what_it_has(shop: Path, how: signal.Signals) -> None:
    words = [sys.executable, str(ROOT / "eval/guard.py"), "--repositories", *[str(shop)] * 5000, "--seeded", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        for _ in range(3):
            assert running.stderr.readline() == "shop: 2 commits\n"
        os.kill(running.pid, how)
        output, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Interrupted" in output
    assert int(next(line for line in output.splitlines() if line.startswith("  all")).split()[1]) >= 4
