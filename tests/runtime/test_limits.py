"""What a loop may use: every limit stops a running iteration, completion comes first, and resuming refills nothing."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from process.scenes import alive, wait_for
from runtime.loops import HELD, Place

MAKE = "--until=test -s made"
LONG = {"wait": "60s"}


def usage(**more: Any) -> dict[str, Any]:
    return {"usage": more}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def reached(place: Place) -> dict[str, Any]:
    (event,) = place.events("limit.reached")
    return event


@pytest.mark.parametrize(
    ("flag", "cut"), [("--iteration-timeout=1s", "wall"), ("--idle-timeout=1s", "idle")], ids=["wall", "idle"]
)
def test_an_iteration_that_takes_too_long_is_cut_kept_counted_and_checked(place: Place, flag: str, cut: str) -> None:
    agent = place.cassette(
        [{"write": "part", "content": "x"}, {"leave": "10m"}, LONG], [{"write": "made", "content": "x"}]
    )
    began = time.monotonic()
    done = place.run("make it", agent, MAKE, flag)
    assert done.returncode == 0, done.stdout
    assert time.monotonic() - began < 30
    first, _ = place.events("iteration.observed")
    assert first["cut"] == cut
    assert [change["path"] for change in first["delta"]] == ["part"]
    assert [(event["fate"], event["counted"]) for event in place.events("iteration.finished")] == [("kept", True)] * 2
    assert [event["iteration"] for event in place.events("check.finished")] == [0, 1, 2]
    assert "The iteration before was stopped: it" in (place.directory() / "prompts" / "iteration-002.md").read_text()


def test_output_is_no_idleness(place: Place) -> None:
    here: list[dict[str, Any]] = [{"say": "still here"}, {"wait": 0.7}]
    agent = place.cassette([*here * 4, {"write": "made", "content": "x"}])
    done = place.run("make it", agent, MAKE, "--idle-timeout=2s")
    assert done.returncode == 0, done.stdout
    assert place.read()["iteration"] == 1


def test_work_that_is_done_when_its_iteration_is_cut_is_done(place: Place) -> None:
    done = place.run(
        "make it", place.cassette([{"write": "made", "content": "x"}, LONG]), MAKE, "--iteration-timeout=1s"
    )
    assert done.returncode == 0, done.stdout
    assert place.receipt()["proof"] == "red-to-green"


@pytest.mark.parametrize(("writes", "code"), [("part", 4), ("made", 0)])
def test_the_loops_time_cuts_a_running_iteration_and_completion_comes_first(
    place: Place, writes: str, code: int
) -> None:
    began = time.monotonic()
    done = place.run("make it", place.cassette([{"write": writes, "content": "x"}, LONG]), MAKE, "--timeout=1s")
    assert done.returncode == code, done.stdout
    assert time.monotonic() - began < 30
    assert place.events("iteration.observed")[0]["cut"] == "time"
    assert place.read()["status"] == ("completed" if code == 0 else "failed")
    if code:
        assert reached(place)["limit"] == "time"
        assert reached(place)["observed"] >= reached(place)["allowed"] == 1
        assert "of 1s used" in done.stdout
    assert not place.slots()


@pytest.mark.parametrize(
    ("flag", "limit", "over"),
    [
        ("--max-tokens=1000", "tokens", "1,500 of 1,000 used (500 over)"),
        ("--max-cost=0.5", "cost", "$0.75 of $0.50 used ($0.25 over)"),
    ],
)
def test_a_budget_that_is_used_up_stops_the_iteration_at_the_first_report(
    place: Place, flag: str, limit: str, over: str
) -> None:
    report = usage(input_tokens=700, output_tokens=50, cost_usd=0.375)
    steps = [report, {"write": "part", "content": "x"}, report, LONG, {"write": "never", "content": "x"}]
    began = time.monotonic()
    done = place.run("make it", place.cassette(steps), MAKE, flag)
    assert done.returncode == 4
    assert time.monotonic() - began < 30
    assert place.events("iteration.observed")[0]["cut"] == limit
    assert reached(place)["limit"] == limit
    assert over in done.stdout
    assert (place.root / "part").exists()
    assert not (place.root / "never").exists()
    assert [event["iteration"] for event in place.events("check.finished")] == [0, 1]
    assert place.read()["metrics"]["total_tokens"] == 1500
    assert place.receipt()["status"] == "failed"


def test_a_budget_that_is_used_up_by_work_that_is_done_is_a_success(place: Place) -> None:
    steps = [{"write": "made", "content": "x"}, usage(cost_usd=2.0), LONG]
    done = place.run("make it", place.cassette(steps), MAKE, "--max-cost=1")
    assert done.returncode == 0, done.stdout


def test_no_iteration_begins_that_the_rest_would_not_pay(place: Place) -> None:
    agent = place.cassette([usage(cost_usd=0.4)], then="repeat-last")
    done = place.run("make it", agent, MAKE, "--max-cost=1")
    assert done.returncode == 4
    assert place.read()["iteration"] == 2
    assert "the next iteration would cost about $0.40 and $0.20 is left" in done.stdout


def test_a_cost_that_nobody_reports_ends_a_loop_with_a_money_limit(place: Place) -> None:
    done = place.run("make it", place.script("true"), MAKE, "--max-cost=1", "-n3")
    assert done.returncode == 4
    assert place.read()["iteration"] == 1
    assert "could not be observed, so the limit cannot be kept" in done.stdout
    assert "total_cost_usd" not in place.read()["metrics"]


def test_a_cost_that_nobody_reports_is_allowed_by_who_says_so(place: Place) -> None:
    done = place.run("make it", place.script("true"), MAKE, "--max-cost=1", "--allow-unknown-cost", "-n2")
    assert done.returncode == 4
    assert place.read()["iteration"] == 2
    assert reached(place)["limit"] == "iterations"
    assert "cost_usd" not in place.events("loop.finished")[0]


@pytest.mark.parametrize("costs", ["-1", '"free"', "1e999", "NaN"])
def test_a_cost_that_is_no_amount_is_unknown(place: Place, costs: str) -> None:
    stated = f'{{"status": "continue", "reason": "x", "usage": {{"cost_usd": {costs}}}}}'
    done = place.run("make it", place.script(f"echo '{stated}' > \"$RALPH_RESULT_FILE\""), MAKE, "--max-cost=1", "-n3")
    assert done.returncode == 4
    assert place.read()["iteration"] == 1
    assert "could not be observed" in done.stdout


def test_what_a_command_reports_at_its_end_counts(place: Place) -> None:
    stated = '{"status": "continue", "reason": "x", "usage": {"cost_usd": 0.6, "total_tokens": 7}}'
    done = place.run("make it", place.script(f"echo '{stated}' > \"$RALPH_RESULT_FILE\""), MAKE, "--max-cost=1")
    assert done.returncode == 4
    assert place.read()["metrics"]["total_cost_usd"] == 0.6
    assert place.read()["metrics"]["total_tokens"] == 7


def test_iterations_that_do_not_count_are_paid_all_the_same(place: Place) -> None:
    agent = place.cassette([usage(cost_usd=0.6, total_tokens=10), {"exit": 1}], then="repeat-last")
    done = place.run("make it", agent, MAKE, "--max-cost=1")
    assert done.returncode == 4
    assert place.read()["metrics"]["total_cost_usd"] == 0.6


def test_budgets_are_not_refilled_by_going_on_and_can_be_raised(place: Place) -> None:
    agent = place.cassette([usage(cost_usd=0.6, total_tokens=100)], then="repeat-last")
    done = place.run("make it", agent, MAKE, "--max-cost=1", "-n5")
    assert (done.returncode, place.read()["iteration"]) == (4, 1)
    old = place.loop
    again = place.ralph("resume", old)
    assert again.returncode == 4
    (new,) = set(place.loops()) - {old}
    assert place.read(new)["iteration"] == 1
    assert place.read(new)["metrics"]["total_cost_usd"] == 0.6
    raised = place.ralph("resume", new, "--max-cost=2")
    assert raised.returncode == 4
    (newest,) = set(place.loops()) - {old, new}
    assert place.read(newest)["metrics"]["total_cost_usd"] == pytest.approx(1.8)
    assert place.read(newest)["iteration"] == 3
    assert place.read(newest)["metrics"]["total_tokens"] == 300


def test_a_limit_of_iterations_can_be_raised(place: Place) -> None:
    agent = place.script('[ "$RALPH_ITERATION" -lt 3 ] || echo x > made')
    assert place.run("make it", agent, MAKE, "-n2").returncode == 4
    old = place.loop
    assert place.ralph("resume", old).returncode == 4
    done = place.ralph("resume", old, "-n3")
    assert done.returncode == 0, done.stdout + done.stderr
    newest = max(place.loops(), key=lambda loop: place.read(loop)["started_at"])
    assert place.read(newest)["iteration"] == 3
    assert place.receipt(newest)["proof"] == "red-to-green"


def test_a_pause_does_not_cost_time_and_work_before_it_does(place: Place) -> None:
    agent = place.script(HELD, 'echo \'{"status": "blocked", "blocker": "you"}\' > "$RALPH_RESULT_FILE"')
    with place.running("make it", agent, MAKE, "--timeout=30s") as process:
        place.holding()
        time.sleep(1.1)
        place.let_go()
        assert process.wait(30) == 8
    before = place.read()["metrics"]["active_seconds"]
    assert before > 1
    time.sleep(1.1)
    assert place.ralph("resume", place.loop).returncode == 8
    assert place.read()["metrics"]["active_seconds"] - before < 1


def test_what_a_killed_iteration_had_reported_is_not_forgotten(place: Place) -> None:
    agent = place.cassette([usage(cost_usd=0.7), {"hang": "until-stopped"}], then="repeat-last")
    with place.running("make it", agent, MAKE, "--max-cost=1") as process:
        outputs = place.state.loops
        wait_for(lambda: any("usage" in path.read_text() for path in outputs.glob("*/outputs/*.jsonl")), "a report")
        process.kill()
        process.wait()
    done = place.ralph("resume", place.loop)
    assert done.returncode == 4, done.stdout
    assert place.read()["metrics"]["total_cost_usd"] >= 0.7
    assert place.read()["iteration"] == 0 or place.read()["metrics"]["total_cost_usd"] == pytest.approx(1.4)


def test_a_providers_limit_waits_and_tries_the_same_iteration_again(place: Place) -> None:
    agent = place.cassette(
        [
            {"run": "echo x >> tries; test $(wc -l < tries) = 2 && echo x > made; true"},
            {"usage_limit": "come back later", "resume_in": "1s"},
        ],
        then="repeat-last",
    )
    done = place.run("make it", agent, MAKE)
    assert done.returncode == 0, done.stdout
    assert (place.root / "tries").read_text() == "x\nx\n"
    assert [event["counted"] for event in place.events("iteration.finished")] == [False, False]
    assert any(event.get("pause_reason") == "usage_limit" for event in place.events("status.changed"))


def test_a_cut_agent_leaves_no_process(place: Place) -> None:
    agent = place.script(
        "setsid sh -c 'trap \"\" INT TERM; echo $$ > ../child.pid; while :; do sleep 0.1; done' &",
        "trap '' INT TERM",
        "while :; do sleep 0.1; done",
    )
    began = time.monotonic()
    done = place.run("make it", agent, MAKE, "--iteration-timeout=1s", "-n1")
    assert done.returncode == 4
    assert time.monotonic() - began < 40
    assert not alive(int((place.beside / "child.pid").read_text()))


def test_a_check_that_hangs_is_ended_and_is_not_yet(place: Place) -> None:
    done = place.run("make it", place.script("true"), "--until=sleep 60", "--check-timeout=1s", "-n1")
    assert done.returncode == 4
    assert all("stopped after 1 s" in event["output"] for event in place.events("check.finished"))


def test_the_limits_stand_in_the_first_lines(place: Place) -> None:
    done = place.run(
        "make it",
        place.script("echo x > made"),
        MAKE,
        "--timeout=90m",
        "--max-cost=3",
        "--max-tokens=9000",
        "--allow-unknown-cost",
    )
    assert "200 iterations, 1h30m, $3.00, 9,000 tokens" in done.stdout
    assert json.loads((place.directory() / "state.json").read_text())["configuration"]["timeout_minutes"] == 90
