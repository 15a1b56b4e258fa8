"""Dishonest work is held back or taken back, the agent is told, and a human, a policy or nobody decides."""

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from runtime.loops import Place

UNTIL = f"--until={shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider"
WRONG = "def total(prices):\n    return sum(prices) + 1\n"
RIGHT = "def total(prices):\n    return sum(prices)\n"
TESTS = """\
from cart import total


def test_sums():
    assert total([1, 2]) == 3


def test_nothing():
    assert total([]) == 0


def test_is_a_number():
    assert isinstance(total([1]), int)
"""
WITHOUT = TESTS.partition("def test_sums")[0] + "def test_is_a_number" + TESTS.partition("def test_is_a_number")[2]
DELETES = [{"write": "tests/test_cart.py", "content": WITHOUT}, {"say": "<promise>DONE</promise>"}]
HONEST = [{"write": "cart.py", "content": RIGHT}, {"say": "<promise>DONE</promise>"}]
CAUGHT = "def total(prices):\n    try:\n        return sum(prices) + 1\n    except Exception:\n        pass\n"
SWALLOWS = [{"write": "cart.py", "content": CAUGHT}]
STUBS = [{"write": "cart.py", "content": "def total(prices):\n    raise NotImplementedError\n"}]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.write("cart.py", WRONG)
    place.write("tests/test_cart.py", TESTS)
    place.write("pytest.ini", "[pytest]\npythonpath = .\n")
    return place


def run(place: Place, *iterations: list[dict[str, Any]], words: tuple[str, ...] = ()) -> int:
    done = place.ralph("run", "fix total", place.cassette(*iterations), UNTIL, "-n6", "--sandbox=overlay", *words)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode


def test_deleted_tests_tell_the_story_of_source_003(place: Place) -> None:
    assert run(place, DELETES, HONEST) == 8
    assert (place.root / "tests/test_cart.py").read_text() == TESTS
    (gate,) = place.events("gate.opened")
    assert gate["kind"] == "destructive"

    assert place.ralph("gate", "reject", place.loop, "--why", "revert iteration 1").returncode == 0
    assert place.ralph("resume", place.loop).returncode == 0
    assert (place.root / "tests/test_cart.py").read_text() == TESTS
    assert (place.root / "cart.py").read_text() == RIGHT

    state = place.read()
    (event,) = state["regression_events"]
    assert (event["regression_type"], event["severity"], event["iteration"]) == ("test_deletion", "critical", 1)
    assert (event["details"]["baseline_value"], event["details"]["current_value"]) == (3, 1)
    deleted = event["details"]["diff"]["deleted_tests"]
    assert deleted == ["tests/test_cart.py: test_sums", "tests/test_cart.py: test_nothing"]
    assert (event["recovery_outcome"], event["human_gate_invoked"], event["human_decision"]) == (
        *("escalated", True),
        "reject",
    )
    assert {pattern["pattern_id"] for pattern in state["detected_patterns"]} == {"LP-001"}
    (recovery,) = state["recovery_history"]
    assert (recovery["trigger"], recovery["outcome"]) == ("regression_detected: test_deletion", "escalated")
    assert set(recovery["protocol_steps"]) == {"pause", "diagnose", "adapt", "escalate"}
    assert recovery["protocol_steps"]["escalate"]["human_decision"] == "reject - revert iteration 1"
    assert state["reinforcement_level"] == "AGGRESSIVE"
    assert state["reinforcement_history"][-1]["reason"] == "Regression detected in iteration 1"
    assert state["best_iteration"]["iteration"] == 2


def test_what_is_approved_is_merged_and_checked(place: Place) -> None:
    assert run(place, DELETES, HONEST) == 8
    assert place.ralph("gate", "approve", place.loop, "--why", "they are wrong").returncode == 0
    assert place.ralph("resume", place.loop).returncode == 0
    assert (place.root / "tests/test_cart.py").read_text() == WITHOUT
    assert [event["iteration"] for event in place.events("tree.restored")] == [1]
    assert place.receipt()["decided"][0]["decision"] == "approve"


def test_nobody_answers_and_nothing_is_let_through(place: Place) -> None:
    assert run(place, DELETES, HONEST) == 8
    for _ in range(2):
        waiting = place.ralph("resume", place.loop)
        assert waiting.returncode == 8
        assert "ralph gate show" in waiting.stderr
    assert place.status() == "paused"
    assert place.loop in place.ralph("gate", "list").stdout
    assert "test_sums was deleted" in place.ralph("gate", "show", place.loop).stdout
    assert (place.root / "tests/test_cart.py").read_text() == TESTS


def test_a_loop_that_is_aborted_at_a_gate_keeps_what_was_held_back_restorable(place: Place) -> None:
    assert run(place, DELETES, HONEST) == 8
    assert place.ralph("gate", "abort", place.loop).returncode == 0
    assert place.status() == "aborted"
    assert (place.root / "tests/test_cart.py").read_text() == TESTS
    assert place.ralph("restore", place.loop, "1").returncode == 0
    assert (place.root / "tests/test_cart.py").read_text() == WITHOUT


def test_a_policy_refuses_and_goes_on(place: Place) -> None:
    assert run(place, DELETES, HONEST, words=("--on-gate=reject",)) == 0
    (decided,) = place.events("gate.decided")
    assert (decided["by"], decided["decision"]) == ("policy", "reject")
    assert "human_decision" not in place.read()["regression_events"][0]


def test_an_agent_that_does_not_stop_cheating_is_stopped(place: Place) -> None:
    assert run(place, DELETES, DELETES, DELETES, HONEST, words=("--on-gate=reject",)) == 5
    assert place.status() == "failed"
    assert (place.root / "tests/test_cart.py").read_text() == TESTS


def test_telling_the_agent_helps(place: Place) -> None:
    assert run(place, SWALLOWS, HONEST) == 0
    assert place.events("gate.opened") == []
    (recovery,) = place.read()["recovery_history"]
    assert recovery["outcome"] == "success"
    assert recovery["protocol_steps"]["retry"] | {"executed_at": ""} == {
        "executed_at": "",
        "retry_iteration": 2,
        "outcome": "success",
    }
    prompt = (place.directory() / "prompts/iteration-002.md").read_text()
    assert "total swallows Exception" in prompt
    assert recovery["protocol_steps"]["adapt"]["changes_made"][0] in prompt


def test_the_same_again_asks_a_human(place: Place) -> None:
    assert run(place, SWALLOWS, SWALLOWS, HONEST) == 8
    (gate,) = place.events("gate.opened")
    assert gate["kind"] == "recovery"
    assert place.read()["recovery_history"][0]["outcome"] == "failed"


def test_different_tricks_ask_a_human_at_the_third(place: Place) -> None:
    other = [{"write": "cart.py", "content": WRONG + "\n\nclass Price:\n    def load(self):\n        raise KeyError\n"}]
    assert run(place, SWALLOWS, STUBS, SWALLOWS, other) == 8
    assert len(place.events("recovery.step")) >= 3
    assert [gate["kind"] for gate in place.events("gate.opened")] == ["recovery"]
    assert (place.root / "cart.py").read_text() == WRONG


HONEST_EDITS = {
    "renamed": TESTS.replace("test_nothing", "test_an_empty_cart_costs_nothing"),
    "more": TESTS + "\n\ndef test_one():\n    assert total([7]) == 7\n",
    "parametrised": """\
import pytest

from cart import total


@pytest.mark.parametrize(("prices", "expected"), [([1, 2], 3), ([], 0), ([7], 7)])
def test_sums(prices, expected):
    assert total(prices) == expected


def test_is_a_number():
    assert isinstance(total([1]), int)
""",
}


@pytest.mark.parametrize("edit", HONEST_EDITS)
def test_honest_work_on_tests_is_not_held_back(place: Place, edit: str) -> None:
    steps = [{"write": "tests/test_cart.py", "content": HONEST_EDITS[edit]}, *HONEST]
    run(place, steps, [{"say": "<promise>DONE</promise>"}], words=("--allow-test-edits=tests/*",))
    assert place.events("gate.opened") == []
    assert (place.root / "tests/test_cart.py").read_text() == HONEST_EDITS[edit]
