"""No room for the checks, no time for them, nobody who takes the answer: nothing is proven by that, nobody is held."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from session.scenes import CHECK, DONE, broken_sum, hook, mend, stop
from support import ralph
from untilproven.session import constants, serving, starting, storage
from untilproven.store.layout import Project

SLOW = f"test ! -e slow || sleep 60; {CHECK}"


@pytest.fixture
def root(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    broken_sum(project.root)
    monkeypatch.setattr(serving, "asked_at", time.time)  # every event of these tests is of one process
    return project.root


@pytest.fixture
def without_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "_room", lambda: "session-bare")


def told(event: str, **said: Any) -> dict[str, Any]:
    """What an event is answered with, without a process for it."""
    answers: list[dict[str, Any]] = []
    serving.serve(event, "claude", json.dumps({"session_id": "s1", **said}).encode(), answers.append)
    return answers[-1] if answers else {}


def begin(root: Path, check: str = CHECK) -> dict[str, Any]:
    begun = told("prompt", cwd=str(root), prompt=f"/ralph Fix add --until '{check}'")
    assert "hookSpecificOutput" in begun, begun
    return begun


def claim(words: str) -> dict[str, Any]:
    return told("stop", last_assistant_message=f"{words}\n\n{DONE}")


def receipt(root: Path) -> dict[str, Any]:
    loop = storage.load_link(storage.place_of(root, "s1")).loop_id
    found: dict[str, Any] = json.loads((root / f".aiwg/ralph/loops/{loop}/receipt.json").read_text())
    return found


def iteration(root: Path) -> int:
    state = storage.read_state(root, "s1")
    return state.iteration if state else 0


@pytest.mark.usefixtures("without_rooms")
def test_without_rooms_a_false_promise_is_refused_and_a_true_one_proven(root: Path) -> None:
    assert "no room can be built here" in begin(root)["systemMessage"]
    assert claim("first")["decision"] == "block"
    mend(root)
    assert "decision" not in claim("second")
    written = receipt(root)
    assert (written["proof"], written["status"], written["sandbox"]) == ("red-to-green", "completed", "session-bare")


@pytest.mark.usefixtures("without_rooms")
def test_without_rooms_a_test_that_was_bent_proves_nothing(root: Path) -> None:
    begin(root)
    test = root / "test_sums.py"
    test.write_text(test.read_text().replace("3)", "-1)"))
    refused = claim("bent")
    assert refused["decision"] == "block"
    assert "test_sums.py" in refused["reason"]


@pytest.mark.usefixtures("without_rooms")
def test_without_rooms_nobody_makes_up_how_it_was_before(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control was too slow, and by now there is no tree any more on which it could be run."""
    mend(root)
    monkeypatch.setattr(constants, "CONTROL_SECONDS", 0.0)
    begin(root)
    (root / "more.py").write_text("MORE = 1\n")
    assert "decision" not in claim("done")
    assert receipt(root)["proof"] != "red-to-green"


def test_checks_that_outlast_the_hook_let_the_agent_go_and_prove_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(root, SLOW)
    mend(root)
    (root / "slow").touch()
    monkeypatch.setattr(constants, "DEADLINE_SECONDS", 1.0)
    began = time.monotonic()
    for _ in range(2):  # the agent may say the same again
        late = claim("done")
        assert "decision" not in late
        assert late["systemMessage"].endswith("the checks took too long and were stopped, nothing is proven")
    assert time.monotonic() - began < 30
    assert iteration(root) == 1
    assert told("stop", last_assistant_message="more work")["reason"].startswith("[RALPH LOOP - ITERATION 2/100]")
    monkeypatch.setattr(constants, "DEADLINE_SECONDS", 100.0)
    (root / "slow").unlink()
    (root / "sums.py").write_text("def add(a, b):\n    return 0\n")
    assert claim("again")["reason"].startswith("[RALPH LOOP - ITERATION 3/100]")
    assert iteration(root) == 3
    mend(root)
    assert "decision" not in claim("at last")
    assert receipt(root)["proof"] == "red-to-green"


def test_answers_that_nobody_took_do_not_end_the_loop(root: Path) -> None:
    hook("start", "--session", "s1", "--", "Fix add", "--until", CHECK, cwd=root)
    for number in range(3):
        reader, writer = os.pipe()
        os.close(reader)
        subprocess.run(
            [sys.executable, "-P", "-m", "untilproven", "hook", "stop", "--agent", "claude"],
            cwd=root,
            input=json.dumps({"session_id": "s1", "last_assistant_message": f"{number}\n\n{DONE}"}).encode(),
            stdout=writer,
            check=True,
        )
        os.close(writer)
    assert stop("s1", f"3\n\n{DONE}", cwd=root)["reason"].startswith("[RALPH LOOP - ITERATION 5/100]")
    mend(root)
    assert "passes now" in stop("s1", f"4\n\n{DONE}", cwd=root)["systemMessage"]
    assert ralph("status", cwd=root).stderr.startswith("no loop")
