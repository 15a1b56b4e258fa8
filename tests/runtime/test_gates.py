"""Dishonest work is held back or taken back, the agent is told, and a human, a policy or nobody decides."""

import json
import re
from pathlib import Path
from unittest.mock import ANY

import jsonschema
import pytest

from process.scenes import wait_for
from runtime.cart import DELETES, HONEST, RIGHT, STUBS, SWALLOWS, TESTS, WITHOUT, WRONG, cart, run
from runtime.loops import Place
from untilproven.core.reinforcement import REMINDERS
from untilproven.model.persistence import Reinforcement
from untilproven.store.lock import FileLock

STORY = """\
story       1   guard: critical LP-001 tests/test_cart.py: test_sums was deleted (1 assertion) (blocks)
                guard: critical LP-001 tests/test_cart.py: test_nothing was deleted (1 assertion) (blocks)
                regression: test_deletion, from 3 to 1
                held back until somebody decides
                recovery: the agent deleted tests instead of fixing the code they are about; told: The tests are back. \
Make the code do what they ask for.
                gate opened: destructive
                gate: rejected by a human (revert iteration 1)
            2   reminders: AGGRESSIVE (Regression detected in iteration 1)
                the best so far, score 99.9
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return cart(tmp_path)


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
    shown = place.ralph("show", place.loop).stdout
    story = shown[shown.index("story ") : shown.index("\n\nITERATION")]
    assert re.sub(r"score [\d.]+", "score 99.9", story).splitlines() == STORY.splitlines()
    assert [one["iteration"] for one in json.loads(place.ralph("show", "--json").stdout)["story"]] == [1] * 7 + [2] * 2


def test_a_check_of_refused_work_is_not_run_to_its_end(place: Place) -> None:
    check = "grep -q test_sums tests/test_cart.py || sleep 600; false"
    done = place.ralph("run", "fix it", place.cassette(DELETES), "--until", check, "-n1", "--sandbox=overlay")
    assert done.returncode == 8, done.stderr
    assert {event["iteration"] for event in place.events("check.finished")} == {0}
    assert place.events("guard.finished")


def test_what_is_refused_is_known_before_a_check_that_has_to_wait(place: Place) -> None:
    words = ("fix it", place.cassette([{"wait": "2s"}, *DELETES]), "--until", "test -e never", "-n1")
    lock = FileLock(place.state.path / "checks.lock", timeout=30, what="checks")
    with place.running(*words, sandbox="--sandbox=overlay") as loop:
        wait_for(lambda: bool(place.status() and place.events("iteration.started")), "the agent works")
        with lock:
            assert loop.wait(60) == 8
    assert {event["iteration"] for event in place.events("check.finished")} == {0}


def test_the_guards_figures_are_in_the_state_as_in_the_report(place: Place) -> None:
    assert run(place, DELETES, HONEST) == 8
    waiting = place.read()["persistence_metrics"]
    assert waiting["detection_latency_p99_ms"] >= waiting["detection_latency_p95_ms"] > 0
    assert "false_positive_rate" not in waiting
    (right, wrong) = (event["finding"]["details"]["id"] for event in place.events("guard.finding"))
    assert place.ralph("guard", "mark", right, "--confirmed", "--why", "it was needed").returncode == 0
    assert place.ralph("guard", "mark", wrong, "--false-positive", "--why", "it was not").returncode == 0
    assert place.ralph("gate", "reject", place.loop).returncode == 0
    assert place.ralph("resume", place.loop).returncode == 0
    metrics = place.read()["persistence_metrics"]
    assert (metrics["true_positive_count"], metrics["false_positive_count"]) == (1, 1)
    assert metrics["false_positive_rate"] == 0.5
    report = json.loads(place.ralph("report", place.loop, "--json").stdout)
    assert report["persistence_metrics"] == {**metrics, "integration_overhead_percentage": ANY}
    jsonschema.Draft202012Validator(json.loads(place.ralph("schema", "analytics").stdout)).validate(report)
    assert place.ralph("state", "rebuild", place.loop).returncode == 0
    assert place.read()["persistence_metrics"] == metrics


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


@pytest.mark.parametrize("level", ["adaptive", "off", "minimal", "standard", "aggressive"])
def test_the_level_decides_what_the_prompts_say(place: Place, level: str) -> None:
    assert run(place, DELETES, HONEST, words=("--on-gate=reject", f"--reinforcement={level}")) == 0
    wanted = ["MINIMAL", "AGGRESSIVE"] if level == "adaptive" else [level.upper()] * 2
    for number, name in enumerate(wanted, start=1):
        prompt = (place.directory() / f"prompts/iteration-{number:03d}.md").read_text()
        said = prompt.partition("# What counts\n\n")[2].partition("\n\n")[0].splitlines()
        assert said == [f"- {reminder}" for reminder in REMINDERS[Reinforcement(name)]]
    state = place.read()
    assert state["plan"]["reinforcement"] == level
    assert state["reinforcement_level"] == wanted[-1]


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
