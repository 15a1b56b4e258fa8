"""Without a terminal: what a person reads of a loop, line by line."""

import fcntl
import io
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from support import MOMENT
from untilproven.model import events
from untilproven.model.fields import PauseReason, Severity
from untilproven.model.iteration import Blocked, Failed, Fate, FileChange, Finding
from untilproven.model.plan import Allowance
from untilproven.model.receipt import Proof
from untilproven.model.state import LoopMetrics, ProcessIdentity
from untilproven.model.status import Status
from untilproven.store.layout import Project
from untilproven.watch import console
from untilproven.watch.console.story import ACTIONS_SHOWN
from watch.scenes import HOSTILE, LOOP, PLAN, Stage, action, begin, check, finished, text


class Page(io.StringIO):
    """What was printed, without times."""

    @property
    def lines(self) -> list[str]:
        lines = [re.sub(r"^\d\d:\d\d:\d\d ", "", line) for line in self.getvalue().splitlines()]
        return [line for line in lines if not line.startswith("  in  ")]  # where a test runs is named for the test

    def has(self, part: str) -> bool:
        return any(part in line for line in self.lines)


@pytest.fixture
def page() -> Page:
    return Page()


@pytest.fixture
def stage(project: Project, page: Page) -> Iterator[Stage]:
    with begin(project) as writer:
        yield Stage(writer, console.for_terminal(page))


def told(page: Page, stage: Stage, *happened: events.Event) -> list[str]:
    """The lines for these events, after the banner."""
    before = len(page.lines)
    stage.record(*happened)
    return page.lines[before:]


@pytest.fixture
def begun(stage: Stage) -> Stage:
    stage.control()
    stage.record(events.IterationStarted(iteration=1))
    return stage


def test_a_whole_loop_reads_as_a_story_with_the_refused_claim_in_it(stage: Stage, page: Page) -> None:
    stage.show()
    stage.control()
    stage.iteration(1, claim="<promise>DONE</promise>")
    stage.iteration(2, failed=0)
    stage.finish()
    start = page.lines.index("iteration 1 of 5")
    assert page.lines[start:] == [
        "iteration 1 of 5",
        "  read  src/module.py",
        "  write src/module.py",
        "  agent ended after 1m12s: changed src/module.py; $0.25, 1,200 tokens",
        "  red   pytest -q: 2 of 14 tests fail",
        "  agent said DONE; 2 of 14 tests fail: refused, continuing",
        "iteration 2 of 5",
        "  read  src/module.py",
        "  write src/module.py",
        "  agent ended after 1m12s: changed src/module.py; $0.25, 1,200 tokens",
        "  green pytest -q: 14 tests passed",
        "completed, proven (red-to-green) after 2 iterations, 2m27s, $0.50, 2,400 tokens",
        "  pytest -q failed before the work and passes now",
        f"  receipt: .aiwg/ralph/loops/{LOOP}/receipt.json",
        f"  look:    ralph show {LOOP}",
    ]
    assert page.getvalue().isascii()
    assert "\x1b" not in page.getvalue()


def test_every_line_of_the_story_has_its_time(begun: Stage, page: Page) -> None:
    stamp = f"{MOMENT.astimezone():%H:%M:%S} "
    assert page.getvalue().splitlines()[-1] == f"{stamp}iteration 1 of 5"


def test_the_banner_comes_once_the_control_is_in_and_only_once(stage: Stage, page: Page) -> None:
    stage.show()
    stage.control()
    assert page.lines == []
    stage.iteration(1)
    stage.iteration(2)
    assert page.lines[:13] == [
        LOOP,
        "  task       Fix the failing tests",
        "  agent      command: ./agent.sh --fast",
        "             billed: not known to ralph; the command's own",
        "  room       none: the agent runs as you, on your files",
        "  check      red pytest -q: 2 of 14 tests fail",
        "  auto_test  green make test (found in Makefile)",
        "  promise    DONE (a claim; the checks decide)",
        "  limits     5 iterations, 8h, no money limit",
        "  look       ralph status",
        f"             ralph attach {LOOP}",
        f"             ralph pause {LOOP}",
        "",
    ]
    assert page.lines.count(LOOP) == 1


def test_the_banner_tells_broken_from_not_there_yet_and_what_may_be_used(project: Project, page: Page) -> None:
    plan = replace(PLAN, sandbox="shadow", agent="replay", agent_cmd=UNSET, model="m", trust_promise=True)
    allowance = Allowance(iterations=1, cost_usd=5.0, tokens=1000)
    with begin(project, plan=plan, allowance=allowance) as writer:
        stage = Stage(writer, console.for_terminal(page))
        stage.record(
            replace(check(0, failed=0), passed=False, broken=True, missing="./check.sh", tests=UNSET),
            replace(check(0, failed=0), check="make test", passed=False, broken=True, output="no rule", tests=UNSET),
        )
        stage.move(Status.PAUSED, pause_reason=PauseReason.BROKEN_CHECK, reason="make test: no rule")
    assert page.has("  check      not there yet pytest -q: ./check.sh does not exist yet")
    assert page.has("  auto_test  broken make test (need not turn green)")
    assert page.has("  limits     1 iteration, no time limit, $5.00, 1,000 tokens")
    assert page.has("  room       shadow, best effort: the agent works on your files, and what fails is taken back")
    assert page.has("  agent      replay, model m")
    assert page.has("billed: nobody")
    assert page.has("DONE (believed without a check)")
    assert page.lines[-3:] == [
        "paused: a check cannot be run",
        "  make test: no rule",
        f"  repair the check, then: ralph resume {LOOP}",
    ]


def test_a_loop_that_is_taken_over_says_so_below_the_banner(stage: Stage, page: Page) -> None:
    stage.control()
    page.truncate(0)
    stage.watcher = console.for_terminal(page)
    me = ProcessIdentity(pid=77, start="1", boot_id="b")
    stage.record(events.IterationStarted(iteration=1))
    stage.watcher = console.for_terminal(page)
    stage.record(events.LoopAdopted(process=me, vouch="x", discarded_iteration=1))
    stage.record(events.IterationStarted(iteration=1))
    assert page.has("  check      red pytest -q")
    assert page.lines[-2:] == [
        "taken over by process 77; iteration 1 was not finished and is discarded",
        "iteration 1 of 5",
    ]


def test_actions_are_told_up_to_a_number_and_then_counted(begun: Stage, page: Page) -> None:
    for number in range(ACTIONS_SHOWN + 7):
        begun.agent(action(1, "bash", f"step {number}"))
    lines = told(page, begun, events.IterationObserved(iteration=1, delta=()))
    assert page.has(f"bash  step {ACTIONS_SHOWN - 1}")
    assert not page.has(f"bash  step {ACTIONS_SHOWN}")
    assert lines[0] == "  ... and 7 more actions"
    told(page, begun, finished(1))
    begun.record(events.IterationStarted(iteration=2))
    begun.agent(action(2, "read", "again"))
    assert page.has("read  again")


def test_what_the_agent_says_is_for_those_who_want_everything(begun: Stage, page: Page) -> None:
    begun.agent(text(1, "thinking"))
    assert not page.has("thinking")
    begun.watcher = console.for_terminal(page, verbose=True)
    begun.agent(text(1, "one\n\ntwo"))
    assert page.lines[-2:] == ["  | one", "  | two"]
    begun.agent(events.AgentEvent(iteration=1, kind="error", text="no network"))
    assert page.lines[-1] == "  agent error: no network"


@pytest.mark.parametrize(
    ("observed", "line"),
    [
        ({"cut": "idle"}, "  agent was stopped: it was silent for too long"),
        ({"interrupted": "pause"}, "  agent was stopped at once: pause"),
        ({"ended": "exited with 3"}, "  agent ended (exited with 3): changed nothing"),
        ({"not_started": "no such program"}, "  agent could not be started: no such program"),
        ({"result": Blocked(blocker="which key?")}, "  agent is blocked: which key?"),
        ({"notes": ("a link was left out",)}, "  note: a link was left out"),
    ],
)
def test_how_the_agent_ended_is_said(begun: Stage, page: Page, observed: dict[str, Any], line: str) -> None:
    assert line in told(page, begun, events.IterationObserved(iteration=1, delta=(), **observed))


def test_many_changed_files_are_counted(begun: Stage, page: Page) -> None:
    delta = (
        FileChange(path="new.py", change="created"),
        FileChange(path="old.py", change="deleted"),
        *(FileChange(path=f"{number}.py", change="modified") for number in range(5)),
    )
    (line,) = told(page, begun, events.IterationObserved(iteration=1, delta=delta))
    assert line == "  agent ended: changed +new.py, -old.py, 0.py and 4 more"


def test_a_check_is_told_with_the_first_thing_it_says(begun: Stage, page: Page) -> None:
    red = events.CheckFinished(iteration=1, check="mypy", kind="command", passed=False, output="\n \na.py: bad\nmore")
    lost = replace(red, passed=True, lost="tests that passed before are gone: test_x")
    assert told(page, begun, red, replace(red, passed=True), lost) == [
        "  red   mypy: a.py: bad",
        "  green mypy",
        "  red   mypy: tests that passed before are gone: test_x",
    ]


def test_a_refused_claim_names_everything_that_speaks_against_it(begun: Stage, page: Page) -> None:
    delta = (FileChange(path="test_x.py", change="deleted"),)
    begun.record(events.IterationObserved(iteration=1, delta=delta, claim="<promise>DONE</promise>"))
    finding = Finding(
        pattern_id="LP-001", pattern_name="x", severity=Severity.CRITICAL, blocking=True, message="test_x was deleted"
    )
    begun.record(events.GuardFinding(iteration=1, finding=finding), check(1, failed=2))
    begun.record(finished(1, fate=Fate.PARKED))
    assert not page.has("refused")
    lines = told(page, begun, events.LimitReached(limit="iterations", observed=5, allowed=5))
    assert lines == [
        "  agent said DONE; test_x was deleted; 2 of 14 tests fail; its changes wait for a decision: refused",
        "limit reached: iterations: 5 of 5 used",
    ]


def test_a_claim_without_a_change_is_refused_for_that(begun: Stage, page: Page) -> None:
    begun.record(events.IterationObserved(iteration=1, delta=(), claim="<promise>DONE</promise>"), finished(1))
    assert told(page, begun, events.IterationStarted(iteration=2))[0] == (
        "  agent said DONE; nothing was changed: refused, continuing"
    )


def test_a_claim_is_refused_once(begun: Stage, page: Page) -> None:
    begun.record(events.IterationObserved(iteration=1, delta=(), claim="<promise>DONE</promise>"), finished(1))
    begun.record(events.LimitReached(limit="iterations", observed=1, allowed=1))
    begun.move(Status.FAILED)
    begun.record(events.LoopFinished(status=Status.FAILED, exit_code=4, iterations=1))
    assert sum("refused" in line for line in page.lines) == 1


def test_a_claim_of_an_agent_that_was_stopped_was_never_judged(begun: Stage, page: Page) -> None:
    stopped = events.IterationObserved(iteration=1, delta=(), claim="<promise>DONE</promise>", interrupted="pause")
    begun.record(stopped, finished(1, fate=Fate.DISCARDED))
    begun.record(events.IterationStarted(iteration=2))
    assert not page.has("refused")


def test_a_failed_iteration_is_told_with_its_reason_and_with_what_stays(begun: Stage, page: Page) -> None:
    """Without a room nothing can be taken back, and nobody is told that it was."""
    lost = replace(finished(1, fate=Fate.DISCARDED, result=Failed(error="exit\ncode 1")), counted=False)
    why = "  not accepted: the agent failed: exit code 1; it does not count"
    assert told(page, begun, lost) == [why]
    changed = (FileChange(path="a.py", change="modified"),)
    begun.record(events.IterationObserved(iteration=1, delta=changed))
    assert told(page, begun, lost)[-1] == f"{why}; what it changed is still there"


@pytest.mark.parametrize(
    ("limit", "line"),
    [
        (events.LimitReached(limit="time", observed=3700, allowed=3600), "time: 1h01m of 1h used (1m40s over)"),
        (events.LimitReached(limit="cost", observed=5.5, allowed=5), "cost: $5.50 of $5.00 used ($0.50 over)"),
        (events.LimitReached(limit="cost", allowed=5, message="the cost\ncannot be seen"), "the cost cannot be seen"),
    ],
)
def test_a_limit_is_told_with_the_overshoot(begun: Stage, page: Page, limit: events.LimitReached, line: str) -> None:
    assert told(page, begun, limit) == [f"limit reached: {line}"]


def test_a_pause_says_why_until_when_and_what_to_type(begun: Stage, page: Page) -> None:
    at = MOMENT + timedelta(hours=1)
    begun.move(Status.PAUSED, pause_reason=PauseReason.USAGE_LIMIT, resume_at=at)
    assert page.lines[-3:] == [
        "paused: the provider does not let the agent go on",
        f"  it can go on at {at.astimezone():%Y-%m-%d %H:%M}",
        f"  to go on: ralph resume {LOOP}",
    ]
    begun.move(Status.RUNNING, reason="resumed")
    assert page.lines[-1] == "goes on: resumed"


@pytest.mark.parametrize(
    ("proof", "words"),
    [
        (Proof.SUITE_GREEN_AND_CLAIM, "completed, checks green, work claimed after 0 iterations"),
        (Proof.CLAIMED, "completed, claimed, not proven after 0 iterations"),
        (Proof.NEW_TESTS, "completed, proven (new-tests) after 0 iterations"),
    ],
)
def test_only_proven_work_is_called_proven(begun: Stage, page: Page, proof: Proof, words: str) -> None:
    begun.move(Status.COMPLETING)
    begun.move(Status.COMPLETED)
    begun.record(events.LoopFinished(status=Status.COMPLETED, exit_code=0, iterations=0, proof=proof))
    assert page.has(words)


def test_a_loop_that_failed_can_be_gone_on_with(begun: Stage, page: Page) -> None:
    begun.move(Status.FAILED, reason="the limit of time is reached")
    assert not page.has("failed")
    begun.record(events.LoopFinished(status=Status.FAILED, exit_code=4, iterations=1, reason="the limit is reached"))
    assert page.has("failed after 1 iteration, 1.5s, cost unknown")
    assert page.lines[-1] == f"  go on:   ralph resume {LOOP}"


def test_an_ending_that_nobody_summed_up_is_still_said(begun: Stage, page: Page) -> None:
    begun.move(Status.ABORTED, reason="aborted_by_user")
    assert begun.watcher
    begun.watcher.close()
    begun.watcher.close()
    assert page.lines[-1] == "aborted: aborted_by_user"


def test_what_costs_an_unknown_amount_is_not_called_free(begun: Stage, page: Page) -> None:
    metrics = LoopMetrics(total_cost_usd=0.5, unknown_cost_iterations=2)
    assert begun.watcher
    event = events.LoopFinished(status=Status.FAILED, exit_code=1, iterations=3)
    entry = events.Entry(events.Header(v=1, ts=MOMENT, loop_id=LOOP, seq=9, type="loop.finished"), event)
    begun.watcher.happened(entry, replace(begun.state, metrics=metrics))
    assert page.has("$0.50 and 2 iterations of unknown cost")


def test_quiet_shows_only_how_it_ends(stage: Stage, page: Page) -> None:
    stage.watcher = console.for_terminal(page, quiet=True)
    stage.control()
    stage.iteration(1)
    assert page.lines == []
    stage.finish()
    assert page.lines[0].startswith("completed, proven")
    assert page.lines[-1] == f"  look:    ralph show {LOOP}"


def test_hostile_text_stays_on_its_line_and_moves_nothing(project: Project, page: Page) -> None:
    plan = replace(PLAN, agent_cmd=HOSTILE, promise=HOSTILE, sandbox=HOSTILE, model=HOSTILE)
    with begin(project, task=HOSTILE, plan=plan) as writer:
        stage = Stage(writer, console.for_terminal(page, verbose=True))
        stage.record(replace(check(0, failed=1), output=HOSTILE, tests=UNSET))
        stage.record(events.IterationStarted(iteration=1))
        stage.agent(action(1, HOSTILE, HOSTILE))
        stage.agent(events.AgentEvent(iteration=1, kind="action", data={"kind": 3, "target": ["\x1b[2J"]}))
        for kind in ("text", "error", "limit"):
            stage.agent(events.AgentEvent(iteration=1, kind=kind, text=HOSTILE))
        delta = (FileChange(path=HOSTILE, change="modified"),)
        stage.record(
            events.IterationObserved(
                iteration=1, delta=delta, claim=HOSTILE, ended=HOSTILE, cut=HOSTILE, notes=(HOSTILE,)
            ),
            replace(check(1, failed=1), check=HOSTILE, output=HOSTILE, lost=HOSTILE, missing=HOSTILE),
            finished(1, fate=Fate.DISCARDED, result=Failed(error=HOSTILE)),
        )
        stage.record(events.LimitReached(limit=HOSTILE, message=HOSTILE))
        stage.move(Status.PAUSED, reason=HOSTILE, pause_reason=PauseReason.BLOCKED)
    assert len(page.lines) > 25
    for line in page.lines:
        assert line.isprintable(), line
        assert len(line) <= 400
        assert "owned" not in line


def test_colors_only_where_they_are_wanted(project: Project, page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    colored = console.for_terminal(page)
    monkeypatch.setenv("NO_COLOR", "1")
    bare = Page()
    with begin(project) as writer:
        for watcher in (colored, console.for_terminal(bare)):
            Stage(writer, watcher).show()
        Stage(writer, colored).record(events.IterationStarted(iteration=1))
        assert "\x1b[31mnone: the agent runs as you, on your files\x1b[0m" in page.getvalue()
        assert "\x1b" not in bare.getvalue()


def test_a_reader_that_has_gone_never_reaches_the_loop(project: Project) -> None:
    read, write = os.pipe()
    os.close(read)
    with begin(project) as writer, os.fdopen(write, "w") as stream:
        watcher = console.for_terminal(stream)
        stage = Stage(writer, watcher)
        stage.control()
        stage.iteration(1)
        watcher.tick()
        watcher.close()
        assert watcher.gone


def test_a_closed_stream_never_reaches_the_loop(begun: Stage, page: Page) -> None:
    before = begun.state.journal_seq or 0
    page.close()
    begun.iteration(2)
    assert (begun.state.journal_seq or 0) > before


def test_a_stream_that_does_not_wait_gets_everything(project: Project) -> None:
    """Some programs hand their children a pipe that refuses instead of waiting when it is full."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    got: list[bytes] = []

    def drain() -> None:
        while data := os.read(read, 4096):
            got.append(data)
            time.sleep(0.001)  # slower than it is filled

    with begin(project) as writer:
        stream = os.fdopen(write, "w")
        stage = Stage(writer, console.for_terminal(stream, verbose=True))
        stage.record(events.IterationStarted(iteration=1))
        reader = threading.Thread(target=drain)
        reader.start()
        for number in range(300):
            stage.agent(text(1, f"{number} " + "x" * 350))
        stream.close()
        reader.join()
    os.close(read)
    lines = b"".join(got).decode().splitlines()
    assert [line for line in lines if "x" * 300 in line][-1].split()[2] == "299"
    assert sum("x" * 300 in line for line in lines) == 300


def test_a_stream_that_cannot_say_it_all_says_what_it_can(project: Project) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    with begin(project, task="Größe 日本") as writer:
        stage = Stage(writer, console.for_terminal(stream))
        stage.record(events.IterationStarted(iteration=1))
    stream.flush()
    assert b"task       Gr??e ??" in raw.getvalue()


def test_the_console_is_quick_to_import() -> None:
    """It comes before the first call of an agent."""
    code = (
        "import sys, io; from untilproven.watch import console; console.for_terminal(io.StringIO());"
        "print([name for name in ('click', 'asyncio', 'threading', 'subprocess') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
