"""What it costs to remember: one iteration early and late, start-up, the lock. `make bench-store`.

Ratios are taken within one run, interleaved, because this kind of machine is noisy; absolute times are medians.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support import iteration_events, make_project
from targets import cpu, end, machine, target
from untilproven.model import events
from untilproven.model.status import Status
from untilproven.store import files, journal
from untilproven.store.checkpoints import write_checkpoint
from untilproven.store.layout import Project
from untilproven.store.lifecycle import create_state
from untilproven.store.lock import FileLock
from untilproven.store.registry import read_registry
from untilproven.store.writer import LoopWriter

AGES = (10, 1_000, 10_000)
ROUNDS = 80
FEW = 4
OUTPUT = "FAILED tests/test_thing.py::test_case - AssertionError\n" * 12


def persist(writer: LoopWriter) -> None:
    """All that is written for one iteration: two journal steps, state, record, checkpoint, heartbeat."""
    number = writer.state.iteration + 1
    writer.record(events.IterationStarted(iteration=number), durable=False)
    writer.record(*iteration_events(number, output=OUTPUT))
    write_checkpoint(writer)
    writer.update_heartbeat()


def aged(project: Project, iterations: int) -> LoopWriter:
    """A loop with a past, recorded without waiting for the disk."""
    writer = create_state(project, f"a loop of {iterations}")
    while writer.state.iteration < iterations - 1:
        number = writer.state.iteration + 1
        writer.record(events.IterationStarted(iteration=number), durable=False)
        writer.record(*iteration_events(number, output=OUTPUT), durable=False)
    return writer


def milliseconds(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return (time.perf_counter() - begun) * 1000


def bench_persist(project: Project) -> None:
    print("Persisting one iteration (journal fsynced, state, record, checkpoint, registry), median ms")
    old = {age: aged(project, age) for age in AGES[1:]}
    times: dict[int, list[float]] = {age: [] for age in AGES}
    barrier: list[float] = []
    scratch = os.open(project.root / "scratch", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    for _ in range(ROUNDS // FEW):
        young = aged(project, AGES[0])
        for _ in range(FEW):  # few, so that a young loop stays young
            os.write(scratch, b"x" * 300)
            barrier.append(milliseconds(partial(os.fdatasync, scratch)))
            for age, writer in {AGES[0]: young, **old}.items():
                times[age].append(milliseconds(partial(persist, writer)))
        young.transition_status(Status.ABORTED)
        young.close()
    medians = {age: statistics.median(taken) for age, taken in times.items()}
    for age, writer in {AGES[0]: young, **old}.items():
        size = writer.loop.state.stat().st_size // 1024
        goal = target(f"persisting at iteration {age}", medians[age], 5.0)
        print(f"  at iteration {age:>6}: {medians[age]:6.2f} ms   {goal}   state.json has {size} kB")
    ratio = medians[AGES[-1]] / medians[AGES[0]]
    print(f"  ratio {AGES[-1]} to {AGES[0]}: {ratio:.2f}   {target('the ratio of late to early', ratio, 2.0)}")
    print(f"  for comparison, one append and fdatasync: {statistics.median(barrier):.2f} ms")
    oldest = old[AGES[-1]]
    print(f"  journal of {AGES[-1]} iterations: {oldest.loop.journal.stat().st_size / files.MIB:.1f} MiB")
    begun = time.perf_counter()
    count = sum(1 for _ in journal.scan(oldest.loop.journal, oldest.loop.loop_id))
    print(f"  reading it whole: {count} events in {time.perf_counter() - begun:.2f} s")
    for writer in old.values():
        writer.close()


def bench_startup(project: Project) -> None:
    """The smallest of many: CPU time has a floor, and only noise above it."""
    user = Path(__file__).parents[1] / ".venv-user" / "bin"  # what a user has: no development tools
    ralph = str(user / "ralph")
    commands = {
        "python -c pass": (str(user / "python"), "-c", "pass"),
        "ralph --help": (ralph, "--help"),
        "ralph status": (ralph, "status"),
    }
    least = dict.fromkeys(commands, float("inf"))
    for _ in range(25):
        for name, command in commands.items():
            least[name] = min(least[name], cpu(*command, cwd=project.root))
    floor = least["python -c pass"]
    active = len(read_registry(project.state).registry.active_loops)
    print(f"Start-up, CPU ms, least of 25 (status shows {active} loops, one of them {AGES[-1]} iterations old)")
    print(f"  python -c pass  {floor:6.1f} ms")
    for name, most in (("ralph --help", 4.0), ("ralph status", 6.0)):
        times = least[name] / floor
        print(f"  {name:<15} {least[name]:6.1f} ms   {times:4.1f}x {target(name, times, most)}")


def bench_lock(project: Project) -> None:
    path = project.state.registry_lock

    def take() -> None:
        with FileLock(path, timeout=5.0, what="bench"):
            pass

    alone = statistics.median(milliseconds(take) for _ in range(2000))
    rivals = [subprocess.Popen([sys.executable, __file__, "hold", str(path)]) for _ in range(7)]
    time.sleep(1.0)
    waits = []
    for _ in range(200):
        time.sleep(0.001)
        waits.append(milliseconds(take))
    for rival in rivals:
        rival.kill()
        rival.wait()
    waits.sort()
    print("Taking the registry's lock, ms")
    print(f"  alone: median {alone:.3f}")
    spread = f"median {waits[100]:.1f}, p95 {waits[190]:.1f}, max {waits[-1]:.1f}"
    print(f"  against 7 others that hold it for 1 ms at a time: {spread}")


def hold(path: Path) -> None:
    while True:
        with FileLock(path, timeout=30.0, what="bench"):
            time.sleep(0.001)


def main() -> None:
    print(f"Machine: {machine()}")
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_STATE_HOME"] = f"{place}/state"
        project = make_project(Path(place) / "project")
        bench_persist(project)
        bench_startup(project)
        bench_lock(project)
    end()


if __name__ == "__main__":
    if sys.argv[1:2] == ["hold"]:
        hold(Path(sys.argv[2]))
    main()
