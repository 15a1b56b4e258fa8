"""In a real terminal: what the screen shows, and that nothing of it can hurt the loop."""

import os
import time
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from support import MOMENT
from untilproven.model import events
from untilproven.model.fields import PauseReason
from untilproven.model.plan import Allowance
from untilproven.model.state import ProgressTracking
from untilproven.model.status import Status
from untilproven.store.layout import Project
from untilproven.store.writer import LoopWriter
from untilproven.watch import console
from untilproven.watch.console import live
from watch.scenes import HOSTILE, LOOP, Screen, Stage, Tty, action, begin, check, terminal, text

LATER = MOMENT.replace(minute=1, second=12)
HINT = "  Ctrl-C stops after this iteration; twice stops now"


@pytest.fixture
def writer(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopWriter]:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(live, "_BETWEEN_DRAWINGS", 0.0)
    monkeypatch.setattr("untilproven.store.clock.now", lambda: LATER)
    with begin(project) as writer:
        yield writer


def started(tty: Tty, writer: LoopWriter, **how: bool) -> Stage:
    stage = Stage(writer, console.for_terminal(tty.stream, **how))
    stage.show()
    stage.control()
    stage.record(events.IterationStarted(iteration=1))
    return stage


def footer(tty: Tty) -> list[str]:
    shown = tty.look()
    heads = [place for place, line in enumerate(shown) if line.startswith(("iteration", "first checks"))]
    return shown[heads[-1] :]


def test_the_footer_shows_what_is_going_on_below_the_lines_that_scroll(writer: LoopWriter) -> None:
    with terminal() as tty:
        stage = started(tty, writer)
        for kind, target in (("read", "a.py"), ("read", "b.py"), ("write", "c.py"), ("bash", "pytest")):
            stage.agent(action(1, kind, target))
        assert footer(tty) == [
            "iteration 1 of 5 1m12s  Fix the failing tests",
            "  bash pytest < write c.py < read b.py",
            "  ▱▱▱▱▱▱▱▱ 0 of 5 done   time ▱▱▱▱▱▱▱▱ 1m13s of 8h   no money limit",
            "  red pytest -q (2 of 14 tests fail)   green make test",
            HINT,
        ]
        assert tty.look()[0] == LOOP
        assert any(line.endswith("  bash  pytest") for line in tty.look())


def test_what_the_agent_says_last_is_shown(writer: LoopWriter) -> None:
    with terminal() as tty:
        stage = started(tty, writer)
        stage.agent(action(1, "read", "a.py"))
        stage.agent(text(1, "first\nI see it now: 日本語\n"))
        assert footer(tty)[1] == "  says I see it now: 日本語"


def test_money_and_tokens_count_while_the_agent_still_works(project: Project, writer: LoopWriter) -> None:
    allowance = Allowance(iterations=4, seconds=100.0, cost_usd=1.0, tokens=1000)
    with terminal(120) as tty:
        stage = started(tty, writer)
        state = replace(stage.state, allowance=allowance, progress=ProgressTracking(estimated_completion="2 more"))
        watcher = stage.watcher
        assert watcher
        for data in (
            {"cost_usd": 0.5, "input_tokens": 100, "output_tokens": 50},
            {"cost_usd": 0.25, "total_tokens": 600},
        ):
            usage = events.AgentEvent(iteration=1, kind="usage", data=data)
            header = events.Header(v=1, ts=MOMENT, loop_id=LOOP, seq=4, type="agent.event")
            watcher.happened(events.Entry(header, usage), state)
        shown = "\n".join(footer(tty))
        assert "cost ▰▰▰▰▰▰▱▱ $0.75 of $1.00" in shown
        assert "tokens ▰▰▰▰▰▰▱▱ 750 of 1,000" in shown
        assert "time ▰▰▰▰▰▰▱▱ 1m13s of 1m40s" in shown
        assert "estimated: 2 more" in shown


def test_the_processes_of_the_agent_are_measured(writer: LoopWriter) -> None:
    pid = os.fork()
    if not pid:
        time.sleep(60)
        os._exit(0)
    try:
        with terminal() as tty:
            started(tty, writer)
            assert any("MB in 1 process" in line and "cpu " in line for line in footer(tty))
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def test_at_the_end_the_lines_stay_and_the_footer_goes(writer: LoopWriter) -> None:
    with terminal() as tty:
        stage = started(tty, writer)
        stage.iteration(2, failed=0)
        stage.finish()
        assert stage.watcher
        stage.watcher.close()
        stage.watcher.close()
        shown = tty.look()
        assert shown[-1] == ""
        assert shown[-2].endswith(f"look:    ralph show {LOOP}")
        assert not any("Ctrl-C" in line for line in shown)
        assert tty.screen.cursor_shown
        assert tty.screen.column == 0


def test_a_pause_leaves_no_footer(writer: LoopWriter) -> None:
    with terminal() as tty:
        stage = started(tty, writer)
        stage.move(Status.PAUSED, pause_reason=PauseReason.USER)
        assert tty.look()[-2].endswith(f"to go on: ralph resume {LOOP}")
        stage.move(Status.RUNNING)
        assert tty.look()[-1] == HINT


def test_the_bell_rings_once_when_a_human_is_needed(writer: LoopWriter) -> None:
    with terminal() as tty:
        stage = started(tty, writer)
        stage.move(Status.PAUSED, pause_reason=PauseReason.USER)
        stage.move(Status.RUNNING)
        stage.move(Status.PAUSED, pause_reason=PauseReason.USAGE_LIMIT, resume_at=LATER)
        stage.move(Status.RUNNING)
        tty.look()
        assert tty.screen.bells == 0
        stage.move(Status.PAUSED, pause_reason=PauseReason.GATE)
        tty.look()
        assert tty.screen.bells == 1


def test_every_drawing_leaves_the_cursor_shown(writer: LoopWriter) -> None:
    """Then nothing has to be put right after a kill."""
    with terminal() as tty:
        stage = started(tty, writer)
        stage.iteration(2)
        tty.look()
        assert tty.raw.count("\x1b[?25l") == tty.raw.count("\x1b[?25h") > 5
        assert tty.raw.endswith("\x1b[?25h")
        assert tty.screen.cursor_shown


def test_twenty_columns_are_enough_and_no_line_breaks_the_footer(writer: LoopWriter) -> None:
    with terminal(20, 30) as tty:
        stage = started(tty, writer)
        stage.agent(action(1, "write", "a/very/long/path/that/does/not/fit.py"))
        stage.agent(text(1, "日本語日本語日本語日本語日本語"))
        assert footer(tty) == [
            "iteration 1 of 5 1…",
            "  says 日本語日本…",
            "  ▱▱▱▱▱▱▱▱ 0 of 5 …",
            "  red pytest -q (2…",
            "  Ctrl-C stops aft…",
        ]
        stage.record(check(1, failed=0))
        assert len([line for line in tty.look() if line.startswith("  Ctrl-C")]) == 1
        assert "write a/very/long/path/that/does/not/fit.py" in "".join(tty.look())
        together = "".join(tty.look())
        assert f"ralph attach {LOOP}" in together
        assert "none: the agent runs as you, on your files" in together


@pytest.mark.parametrize("columns", [51, 67])
def test_what_does_not_fit_whole_is_left_out(writer: LoopWriter, columns: int) -> None:
    with terminal(columns) as tty:
        started(tty, writer)
        assert footer(tty)[1] == "  ▱▱▱▱▱▱▱▱ 0 of 5 done   time ▱▱▱▱▱▱▱▱ 1m13s of 8h"
    with terminal(68) as tty:
        started(tty, writer)
        assert footer(tty)[1].endswith("8h   no money limit")


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_low_terminal_keeps_its_most_important_lines(writer: LoopWriter, rows: int) -> None:
    with terminal(60, rows) as tty:
        started(tty, writer)
        assert footer(tty)[0] == "iteration 1 of 5 1m12s  Fix the failing tests"
        assert len(footer(tty)) == max(rows - 1, 1)


def test_a_terminal_that_becomes_narrower_is_cleaned_up(writer: LoopWriter) -> None:
    with terminal(80) as tty:
        stage = started(tty, writer)
        tty.look()
        tty.resize(30, 24)
        narrow = Screen(30)
        for line in tty.screen.shown:
            narrow.obey(line + ("\r\n" if line != HINT else ""))
        tty.screen = narrow
        stage.agent(action(1, "read", "a.py"))
        shown = tty.look()
        assert len([line for line in shown if line.startswith("  Ctrl-C")]) == 1
        assert len([line for line in shown if line.startswith("iteration 1 of 5 1m12s")]) == 1


def test_the_terminal_is_drawn_at_most_four_times_a_second(writer: LoopWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_BETWEEN_DRAWINGS", 0.25)
    with terminal() as tty:
        before = time.monotonic()
        stage = started(tty, writer)
        for number in range(3000):
            stage.agent(action(1, "read", f"{number}.py"))
        took = time.monotonic() - before
        tty.look()
        assert tty.raw.count("\x1b[?25h") <= took / 0.25 + 2  # the banner is drawn at once
        assert stage.watcher
        stage.watcher.close()
        assert any(line.endswith("read  3.py") for line in tty.look())


def test_hostile_text_is_obeyed_by_no_terminal(project: Project, writer: LoopWriter) -> None:
    with (
        begin(project, task=HOSTILE, loop_id="ralph-hostile-00000000") as hostile,
        terminal(70) as tty,
    ):
        stage = started(tty, hostile, verbose=True)
        stage.agent(action(1, HOSTILE, HOSTILE))
        stage.agent(text(1, HOSTILE))
        stage.record(replace(check(1, failed=1), check=HOSTILE, output=HOSTILE))
        shown = tty.look()  # the screen fails on anything it does not know
        assert not any("owned" in line for line in shown)
        assert not tty.screen.bells
        assert len(footer(tty)) <= 6


def test_a_terminal_that_goes_away_never_reaches_the_loop(writer: LoopWriter) -> None:
    with terminal() as tty:
        stage = started(tty, writer)
        os.close(tty.master)
        stage.iteration(2)
        assert stage.watcher
        stage.watcher.tick()
        stage.watcher.close()
        tty.master = os.open(os.devnull, os.O_RDONLY)


def test_a_closed_stream_never_reaches_the_loop(writer: LoopWriter) -> None:
    with terminal() as tty:
        stage = started(tty, writer)
        tty.stream.close()
        stage.iteration(2)
        assert stage.watcher
        stage.watcher.close()


def test_a_terminal_that_is_held_up_does_not_hold_up_the_loop(writer: LoopWriter) -> None:
    """As after Ctrl-S: nothing is read, for longer than any buffer lasts; later it goes on where it was."""
    with terminal() as tty:
        stage = started(tty, writer, verbose=True)
        began = time.monotonic()
        for number in range(2000):
            stage.agent(text(1, f"line {number} " + "x" * 60))
        assert time.monotonic() - began < 20
        deadline = time.monotonic() + 20
        while not any("line 1999" in line for line in tty.look()) and time.monotonic() < deadline:
            assert stage.watcher
            stage.watcher.tick()
        assert any("line 1999" in line for line in tty.look())


def test_a_terminal_that_can_do_nothing_gets_plain_lines(writer: LoopWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with terminal() as tty:
        started(tty, writer)
        tty.look()
        assert "\x1b" not in tty.raw


def test_without_colors_the_footer_still_stands(writer: LoopWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    with terminal() as tty:
        started(tty, writer)
        assert footer(tty)[-1] == HINT
        assert "\x1b[2m" not in tty.raw


def test_a_drawing_costs_next_to_nothing(writer: LoopWriter) -> None:
    with terminal() as tty:
        stage = started(tty, writer)
        assert stage.watcher
        began, rounds = time.process_time(), 200
        for number in range(rounds):
            stage.agent(action(1, "read", f"{number}.py"))
            tty.look()
        assert (time.process_time() - began) / rounds < 0.02
