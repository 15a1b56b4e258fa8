"""A writer is killed with SIGKILL at random moments; nothing it was told is kept may be missing afterwards.

The writer creates loops, records iterations, takes checkpoints, ends loops, and reports each step down a pipe
*after* the store has acknowledged it. After each kill the store must open, every state must equal the replay of
its journal, no file may be half-written, and everything reported must be there.
"""

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from support import iteration_events
from untilproven.errors import NoSlot
from untilproven.model import events, wire
from untilproven.model.iteration import IterationRecord
from untilproven.model.registry import Registry
from untilproven.model.state import LoopState
from untilproven.model.status import CONTINUABLE, TERMINAL, Status
from untilproven.store import reader
from untilproven.store.archive import archive_loop, ended_loops
from untilproven.store.checkpoints import read_checkpoint, write_checkpoint
from untilproven.store.layout import LoopDirectory, Project, find_project
from untilproven.store.lifecycle import adopt_loop, continue_loop, create_state
from untilproven.store.replay import replay_journal
from untilproven.store.survey import check_stale_loops
from untilproven.store.writer import LoopWriter

LONGEST_LIFE = 0.12


def live(project: Project, tell: int, seed: int) -> None:
    """The writer: adopt what a dead predecessor left, then work until killed."""
    luck = random.Random(seed)

    def say(writer: LoopWriter, what: str, **more: object) -> None:
        fact = {"loop": writer.state.loop_id, "what": what, "seq": writer.state.journal_seq, **more}
        os.write(tell, json.dumps(fact).encode() + b"\n")

    while True:
        writer = _adopted(project) or create_state(project, "work until killed")
        say(writer, "open")
        for _ in range(luck.randint(1, 6)):
            number = writer.state.iteration + 1
            writer.record(events.IterationStarted(iteration=number), durable=False)
            writer.record(*iteration_events(number, output="x" * luck.randint(0, 9000)))
            write_checkpoint(writer)
            say(writer, "iteration", number=number)
            writer.update_heartbeat()
        end = luck.choice([Status.ABORTED, Status.FAILED, Status.COMPLETING, None])
        if end:
            writer.transition_status(end)
            if end is Status.COMPLETING:
                writer.transition_status(Status.COMPLETED)
            say(writer, "ended", status=writer.state.status)
        writer.close()
        if writer.state.status in CONTINUABLE and luck.random() < 0.5:
            with continue_loop(project, writer.state.loop_id) as successor:
                say(successor, "open")


def _adopted(project: Project) -> LoopWriter | None:
    for loop in project.state.all_loops():
        if reader.look(project.state, loop).state.status not in TERMINAL:
            writer = adopt_loop(project, loop.loop_id)
            if writer.state.status is Status.COMPLETING:
                writer.transition_status(Status.COMPLETED)
                writer.close()
                continue
            return writer
    return None


def inspect(project: Project, facts: list[dict[str, object]]) -> int:
    """Look at everything the dead writer left; raises AssertionError at the first thing that is wrong."""
    state = project.state
    if not state.loops.exists():
        assert not facts
        return 0
    successors: set[str] = set()
    if state.registry.exists():
        wire.decode(Registry, state.registry.read_bytes())
    for loop in state.all_loops():
        if not loop.journal.exists() or not loop.journal.stat().st_size:
            _never_began(loop, facts)
            continue
        replay = replay_journal(loop)
        if replay.state is None:
            _never_began(loop, facts)
            continue
        assert replay.damage == (), replay.damage
        seen = reader.look(state, loop)
        assert seen.state == replay.state
        assert not seen.foreign
        parent = seen.state.resumed_from
        if parent:
            assert parent not in successors, f"{parent} was continued twice"
            successors.add(parent)
        _whole(loop)
    for fact in facts:
        _still_true(project, fact)
    return len(facts)


def _whole(loop: LoopDirectory) -> None:
    """No file is half-written."""
    if loop.state.exists():
        wire.decode(LoopState, loop.state.read_bytes())
    for record in loop.iterations.glob("*.json"):
        wire.decode(IterationRecord, record.read_bytes())
    for checkpoint in loop.checkpoints.glob("*.gz"):
        read_checkpoint(loop, int(checkpoint.name[10:].partition(".")[0]))


def _never_began(loop: LoopDirectory, facts: list[dict[str, object]]) -> None:
    """A loop killed before its first line was whole was never acknowledged; the next look clears it away."""
    assert all(fact["loop"] != loop.loop_id for fact in facts), f"{loop.loop_id} was acknowledged and is gone"
    check_stale_loops(find_project(loop.path).state)
    assert not loop.path.exists()


def _still_true(project: Project, fact: dict[str, object]) -> None:
    seen = reader.view(project.state, str(fact["loop"]))
    known, said = seen.state.journal_seq, fact["seq"]
    assert isinstance(known, int)
    assert isinstance(said, int)
    assert known >= said, f"seq {said} was acknowledged, the store knows {known}"
    if fact["what"] == "iteration":
        assert isinstance(fact["number"], int)
        assert seen.state.iteration >= fact["number"]
        assert seen.directory.iteration(fact["number"]).is_file()
    if fact["what"] == "ended":
        assert seen.state.status == fact["status"]


def kill(times: int, said: Callable[[str], object], seed: int) -> int:
    luck = random.Random(seed)
    acknowledged = 0
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_STATE_HOME"] = f"{place}/state"
        root = Path(place) / "project"
        (root / ".git").mkdir(parents=True)
        project = find_project(root)
        for number in range(1, times + 1):
            acknowledged += inspect(project, one_life(project, luck))
            for loop_id in ended_loops(project.state):
                archive_loop(project.state, loop_id)
            shutil.rmtree(project.state.archive, ignore_errors=True)  # looked at, and in the way of a quick end
            if number % 50 == 0:
                said(f"killed {number} times; {acknowledged} acknowledged steps, all there (seed {seed})\n")
    return acknowledged


def one_life(project: Project, luck: random.Random) -> list[dict[str, object]]:
    """Start a writer, kill it at a random moment, and return what it had reported by then."""
    hear, tell = os.pipe()
    seed = luck.randrange(2**32)
    pid = os.fork()
    if pid == 0:
        os.close(hear)
        code = 3
        try:
            live(project, tell, seed)
        except NoSlot:
            code = 7
        finally:
            if code == 3:
                traceback.print_exc()
            os._exit(code)
    os.close(tell)
    time.sleep(luck.uniform(0.0, LONGEST_LIFE))
    os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code == -signal.SIGKILL, f"the writer ended by itself with {code}"
    heard = b""
    while part := os.read(hear, 65536):
        heard += part
    os.close(hear)
    return [json.loads(line) for line in heard.split(b"\n")[:-1]]


if __name__ == "__main__":
    kill(
        int(sys.argv[1]) if len(sys.argv) > 1 else 300,
        sys.stdout.write,
        int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6),
    )
