"""Following a loop through its files, while another process writes them, breaks them off or is killed."""

import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import MOMENT
from untilproven.errors import Foreign
from untilproven.model import events
from untilproven.model.fields import PauseReason
from untilproven.model.state import LoopState
from untilproven.model.status import Status
from untilproven.store import journal, reader
from untilproven.store.layout import Project
from untilproven.store.writer import LoopWriter
from untilproven.watch import follow as following
from untilproven.watch.console import for_terminal
from untilproven.watch.follow import Follower, Outcome, follow, last_iteration, newest_loop
from untilproven.watch.tail import Tail
from watch.scenes import LOOP, Stage, begin, finished, text

RUNNER = """
import sys, time
from pathlib import Path
from watch.scenes import Stage, begin
from untilproven.model import events
from untilproven.store.layout import find_project
stage = Stage(begin(find_project(Path.cwd())))
stage.control()
for number in range(1, 4):
    stage.iteration(number, failed=0 if number == 3 else 2)
    time.sleep(0.1)
if sys.argv[1] == "finish":
    stage.finish()
elif sys.argv[1] == "hang":
    print("hanging", flush=True)
    time.sleep(60)
"""


class Heard:
    """A console that remembers."""

    def __init__(self) -> None:
        self.entries: list[events.Entry] = []
        self.states: list[LoopState] = []
        self.ticks = 0
        self.gone = False

    def happened(self, entry: events.Entry, state: LoopState) -> None:
        self.entries.append(entry)
        self.states.append(state)

    def noted(self, words: str) -> None: ...

    def tick(self) -> None:
        self.ticks += 1

    def close(self) -> None:
        pass

    @property
    def types(self) -> list[str]:
        return [entry.header.type for entry in self.entries]


@pytest.fixture
def writer(project: Project) -> Iterator[LoopWriter]:
    with begin(project) as writer:
        yield writer


@pytest.fixture
def stage(writer: LoopWriter) -> Stage:
    return Stage(writer)


def follower(project: Project, *, since: int = 0, outputs: bool = True) -> Follower:
    return Follower(reader.view(project.state, LOOP), since=since, outputs=outputs)


def said(polled: Iterator[following.Followed]) -> list[str]:
    """The types, and of what an agent said the words."""
    told = []
    for followed in polled:
        event = followed.entry.event
        told.append(event.text if isinstance(event, events.AgentEvent) and event.text else followed.entry.header.type)
    return told


def test_entries_and_the_agents_events_come_in_the_order_in_which_they_happened(project: Project, stage: Stage) -> None:
    with follower(project) as one:
        stage.control()
        stage.record(events.IterationStarted(iteration=1))
        stage.agent(text(1, "a"))
        assert said(one.poll()) == ["loop.started", "check.finished", "check.finished", "iteration.started", "a"]
        assert said(one.poll()) == []
        stage.agent(text(1, "b"))
        assert said(one.poll()) == ["b"]
        stage.agent(text(1, "c"))
        stage.record(events.IterationObserved(iteration=1, delta=()), finished(1))
        assert said(one.poll()) == ["c", "iteration.observed", "iteration.finished"]
        assert one.state == stage.state


def test_history_is_told_in_the_same_order_as_it_was_live(project: Project, stage: Stage) -> None:
    stage.iteration(1)
    stage.iteration(2)
    with follower(project) as one:
        told = said(one.poll())
    assert told.index("iteration.started") < told.index("agent.event") < told.index("iteration.observed")
    assert told.count("I look at the module.\nThen I change it.") == 2
    with follower(project, outputs=False) as one:
        assert "agent.event" not in said(one.poll())


def test_from_a_number_on_only_what_comes_after_it(project: Project, stage: Stage) -> None:
    stage.iteration(1)
    stage.iteration(2)
    since = last_iteration(stage.writer.loop)
    with follower(project, since=since) as one:
        told = [followed.entry for followed in one.poll()]
    assert told[0].event == events.IterationStarted(iteration=2, tree="a" * 40)
    assert len(told) == 7


def test_a_long_journal_is_looked_at_only_at_its_end(project: Project, stage: Stage) -> None:
    for number in range(1, 200):
        stage.record(events.IterationStarted(iteration=number), finished(number))
    assert stage.writer.loop.journal.stat().st_size > 64 * 1024
    stage.record(events.IterationStarted(iteration=200))
    assert last_iteration(stage.writer.loop) == (stage.state.journal_seq or 0) - 1


def test_a_line_that_is_not_finished_waits(project: Project, writer: LoopWriter, stage: Stage) -> None:
    stage.record(events.IterationStarted(iteration=1))
    with follower(project) as one:
        list(one.poll())
        event = text(1, "all of it")
        line = journal.encode(events.Entry(journal.header_of(LOOP, 2, MOMENT, event), event))
        with writer.loop.output(1).open("ab") as file:
            file.write(line[:20])
            file.flush()
            assert said(one.poll()) == []
            file.write(line[20:])
        assert said(one.poll()) == ["all of it"]


def test_an_unfinished_line_that_is_cut_off_again_is_never_seen(project: Project, writer: LoopWriter) -> None:
    with follower(project) as one:
        list(one.poll())
        size = writer.loop.journal.stat().st_size
        with writer.loop.journal.open("ab") as file:
            file.write(b'{"v":1,"ts":"2026')
        assert said(one.poll()) == []
        os.truncate(writer.loop.journal, size)
        writer.record(events.IterationStarted(iteration=1))
        assert said(one.poll()) == ["iteration.started"]
        assert one.unreadable == 0


def test_a_journal_that_was_put_back_is_not_told_again(project: Project, writer: LoopWriter, stage: Stage) -> None:
    stage.control()
    with follower(project) as one:
        list(one.poll())
        copy = writer.loop.journal.with_suffix(".copy")
        copy.write_bytes(writer.loop.journal.read_bytes())
        event = events.IterationStarted(iteration=1)
        with copy.open("ab") as file:
            file.write(journal.encode(events.Entry(journal.header_of(LOOP, 4, MOMENT, event), event)))
        copy.rename(writer.loop.journal)
        assert said(one.poll()) == ["iteration.started"]


def test_what_cannot_be_read_is_counted_and_the_rest_goes_on(project: Project, writer: LoopWriter) -> None:
    with writer.loop.journal.open("ab") as file:
        file.write(b"junk\n\xff\n")
    with follower(project) as one:
        list(one.poll())
        event = events.IterationStarted(iteration=1)
        with writer.loop.journal.open("ab") as file:
            seq = (writer.state.journal_seq or 0) + 1
            file.write(journal.encode(events.Entry(journal.header_of(LOOP, seq, MOMENT, event), event)))
        assert said(one.poll()) == ["iteration.started"]
        assert one.unreadable == 2


def test_an_iteration_that_is_tried_again_is_heard_from_its_new_file(project: Project, stage: Stage) -> None:
    loop = stage.writer.loop
    stage.record(events.IterationStarted(iteration=1))
    stage.agent(text(1, "first try"))
    with follower(project) as live:
        assert said(live.poll())[-1] == "first try"
        loop.output(1).rename(loop.attempt(loop.output(1), 1))
        process = stage.state.process
        assert process
        stage.record(events.LoopAdopted(process=process, vouch=stage.state.vouch or "", discarded_iteration=1))
        stage.record(events.IterationStarted(iteration=1))
        stage.agent(text(1, "second try"))
        told = ["loop.adopted", "iteration.started", "second try"]
        assert said(live.poll()) == told
    with follower(project) as late:
        assert said(late.poll())[-4:] == ["iteration.started", *told]


def test_a_file_that_takes_the_place_of_another_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "file"
    tail = Tail(path)
    assert list(tail.lines()) == []
    path.write_bytes(b"a\nb\n")
    assert list(tail.lines()) == [b"a\n", b"b\n"]
    with path.open("ab") as file:
        file.write(b"c\n")
    path.rename(tmp_path / "aside")
    assert list(tail.lines()) == [b"c\n"]
    path.write_bytes(b"d\n")
    assert list(tail.lines()) == [b"d\n"]
    path.write_bytes(b"")
    path.write_bytes(b"e")
    assert list(tail.lines()) == []
    path.write_bytes(b"ef\n")
    assert list(tail.lines()) == [b"ef\n"]
    tail.close()


def test_a_line_too_long_to_be_believed_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("untilproven.watch.tail.LINE_LIMIT", 10)
    path = tmp_path / "file"
    path.write_bytes(b"x" * 35 + b"\nshort\n")
    tail = Tail(path)
    assert list(tail.lines()) == [b"short\n"]
    tail.close()


def test_no_link_is_followed(project: Project, stage: Stage, tmp_path: Path) -> None:
    loop = stage.writer.loop
    stage.iteration(1)
    outside = tmp_path / "outside"
    loop.outputs.rename(outside)
    loop.outputs.symlink_to(outside)
    with follower(project) as one:
        assert "agent.event" not in said(one.poll())
    with pytest.raises(Foreign):
        list(Tail(loop.output(1)).lines())
    loop.outputs.unlink()
    loop.outputs.mkdir()
    loop.output(1).symlink_to(outside / "iteration-001.jsonl")
    with follower(project) as one:
        assert "agent.event" not in said(one.poll())


@pytest.fixture
def runner(project: Project) -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def start(project: Project, runner: list[subprocess.Popen[str]], how: str) -> subprocess.Popen[str]:
    tests = str(Path(__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", RUNNER, how],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": tests},
        stdout=subprocess.PIPE,
        text=True,
    )
    runner.append(process)
    deadline = time.monotonic() + 30
    while not (project.state.loops / LOOP / "state.json").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


def test_a_loop_is_followed_to_its_end_while_another_process_runs_it(
    project: Project, runner: list[subprocess.Popen[str]]
) -> None:
    start(project, runner, "finish")
    heard = Heard()
    with follower(project) as one:
        assert follow(one, heard) is Outcome.ENDED
        assert one.finished
        assert one.finished.exit_code == 0
    seqs = [entry.header.seq for entry in heard.entries if entry.header.type != "agent.event"]
    assert seqs == list(range(1, len(seqs) + 1))
    assert heard.types[-1] == "loop.finished"
    assert heard.types.count("agent.event") == 9
    assert heard.states[-1].status is Status.COMPLETED


def test_a_runner_that_is_killed_is_noticed(
    project: Project, runner: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "_UNRUN", 0.5)
    process = start(project, runner, "hang")
    assert process.stdout
    assert process.stdout.readline() == "hanging\n"

    class Killing(Heard):
        def noted(self, words: str) -> None: ...

        def tick(self) -> None:
            super().tick()
            if self.ticks == 4:  # it was not given up while it was alive
                process.kill()
                process.wait()

    heard = Killing()
    with follower(project) as one:
        assert follow(one, heard) is Outcome.ABANDONED
    assert heard.ticks >= 4


def test_a_pause_that_nobody_sits_out_ends_the_watch(project: Project, writer: LoopWriter, stage: Stage) -> None:
    stage.move(Status.PAUSED, pause_reason=PauseReason.USER)

    class Leaving(Heard):
        def noted(self, words: str) -> None: ...

        def tick(self) -> None:
            super().tick()
            if self.ticks == 3:
                writer.close()

    heard = Leaving()
    with follower(project) as one:
        assert follow(one, heard) is Outcome.PAUSED
    assert heard.ticks >= 3


def test_an_ending_without_a_last_word_is_an_ending(project: Project, writer: LoopWriter, stage: Stage) -> None:
    stage.move(Status.ABORTED)
    writer.close()
    with follower(project) as one:
        assert follow(one, Heard()) is Outcome.ENDED
        assert one.finished is None


def test_nobody_is_shown_anything_who_has_left(project: Project, writer: LoopWriter) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as stream, follower(project) as one:
        assert follow(one, for_terminal(stream, as_json=True)) is Outcome.UNREAD


def test_waiting_costs_nothing_to_speak_of(project: Project, writer: LoopWriter) -> None:
    class Patient(Heard):
        def noted(self, words: str) -> None: ...

        def tick(self) -> None:
            super().tick()
            self.gone = self.ticks >= 4

    heard = Patient()
    with follower(project) as one:
        began, used = time.monotonic(), time.process_time()
        follow(one, heard)
        assert time.monotonic() - began >= 4 * following.POLL * 0.9
        assert time.process_time() - used < 0.2


def test_the_newest_loop_is_the_one_written_to_last(project: Project) -> None:
    for place, name in enumerate(("ralph-a-00000000", "ralph-b-00000000")):
        with begin(project, loop_id=name) as writer:
            os.utime(writer.loop.journal, (place, place))
    assert newest_loop(project.state) == "ralph-b-00000000"


def test_a_console_can_be_fed_from_outside(project: Project, stage: Stage) -> None:
    stage.control()
    stage.iteration(1)
    stage.finish()
    page = io.StringIO()
    with follower(project) as one:
        follow(one, for_terminal(page))
    assert LOOP in page.getvalue().splitlines()[0]
    assert "completed, proven (red-to-green)" in page.getvalue()
