"""What a room costs: on trees of different sizes beside git and cp, and an iteration in it. `make bench-room`.

Ratios are taken within one run, because this kind of machine is noisy: medians for what is measured in one process,
the least of interleaved rounds for whole loops. Nothing is reused by luck: every agent changes the tree.
`bench/room.py iteration` and `bench/room.py trees` print only one of the two.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from targets import end, machine, target
from untilproven.contract import AgentRoom, Supervision
from untilproven.model import events
from untilproven.store.journal import scan
from untilproven.store.layout import STATE_DIRECTORY, LoopDirectory, find_project
from untilproven.workspace.overlay.workspace import OverlayWorkspace

ROUNDS = 15
LOOPS = 5
ITERATIONS = 200
WARM = 10
CHECK = "test -f done"
RALPH = Path(__file__).parents[1] / ".venv-user" / "bin" / "ralph"  # what a user has: no development tools
SIZES = {"1k": 1_000, "10k": 10_000, "100k": 100_000}
GIANT = "1 GiB"
SUPERVISION = Supervision(marker="ralph-bench")
MANY = 16
AGENT = "#!/bin/sh\necho again >> module_0.py\n"
BARE = f"""
n=0
while [ $n -lt {ITERATIONS} ]; do
  cat PROMPT.md | ./agent > output.log 2>&1
  sh -c "{CHECK}" && break
  n=$((n + 1))
done
"""
STEPS = ("open", "run", "delta", "discard")


def milliseconds(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return (time.perf_counter() - begun) * 1000


def tree(root: Path, files: int, *, giant: bool) -> None:
    for number in range(files):
        if number % 100 == 0:
            directory = root / f"package_{number // 10_000}" / f"part_{number // 100}"
            directory.mkdir(parents=True)
        (directory / f"module_{number}.py").write_text(f"VALUE = {number}\n" * 20)
    if giant:
        with (root / "giant").open("wb") as file:
            for _ in range(1024):
                file.write(os.urandom(1024) * 1024)
    (root / ".gitignore").write_text("giant\n.aiwg\n")
    git(root, "init", "-q", ".")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all of it")


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "gc.auto=0")
    subprocess.run(["git", *identity, *words], cwd=root, check=True, stdout=subprocess.DEVNULL)


class Times:
    """Of every step, in milliseconds."""

    def __init__(self) -> None:
        self._taken: dict[str, list[float]] = {}

    def take(self, name: str, act: Callable[[], object]) -> None:
        self._taken.setdefault(name, []).append(milliseconds(act))

    def median(self, *names: str) -> float:
        """Of all these steps together."""
        return statistics.median(map(sum, zip(*(self._taken[name] for name in names), strict=True)))

    def least(self, *names: str) -> float:
        return min(map(sum, zip(*(self._taken[name] for name in names), strict=True)))

    def show(self) -> None:
        for name in self._taken:
            print(f"    {name:<34} {self.median(name):9.2f} {self.least(name):9.2f}")


def rounds(root: Path, times: Times) -> None:
    own = frozenset({PurePosixPath(".git"), PurePosixPath(STATE_DIRECTORY)})
    workspace, number = OverlayWorkspace(find_project(root), "ralph-bench-a1b2c3d4", own), 0
    times.take("first look at the tree", workspace.tree)
    changed = sorted(root.glob("package_0/part_0/*"))[:MANY]

    def work(command: list[str], prefix: str = "") -> None:
        nonlocal number
        number += 1
        rooms: list[AgentRoom] = []
        times.take(f"{prefix}open", lambda: rooms.append(workspace.open(number, SUPERVISION)))
        times.take(f"{prefix}run", lambda: rooms[0].run(command, timeout=60))
        times.take(f"{prefix}delta", workspace.delta)

    for _ in range(ROUNDS):
        work(["/bin/true"])
        times.take("discard", lambda: workspace.discard(number))
    for _ in range(ROUNDS):
        work(["/bin/sh", "-c", f"echo again >> {changed[0]}"], "one file: ")
        times.take("one file: keep", lambda: workspace.keep(number))
    for _ in range(ROUNDS):
        work(["/bin/sh", "-c", f"echo again | tee -a {' '.join(map(str, changed))}"], f"{MANY} files: ")
        times.take(f"{MANY} files: snapshot and discard", lambda: workspace.discard(number))
    for _ in range(3):
        work(["/bin/sh", "-c", f"echo again | tee -a {' '.join(map(str, changed))}"], f"{MANY} files: ")
        workspace.keep(number)
        times.take(f"{MANY} files: restore", lambda: workspace.restore("start"))
    workspace.close()
    workspace.forget()


def others(root: Path, times: Times, parent: Path) -> None:
    """What people use instead; each once, for they take their time."""
    with (root / "package_0/part_0/module_0.py").open("a") as file:
        file.write("again\n")
    times.take("git stash -u", lambda: git(root, "stash", "-qu"))
    times.take("git stash pop", lambda: git(root, "stash", "pop", "-q"))
    times.take("git worktree add", lambda: git(root, "worktree", "add", "-q", str(parent / "worktree")))
    times.take("git worktree remove", lambda: git(root, "worktree", "remove", "--force", str(parent / "worktree")))
    times.take("cp -a", lambda: subprocess.run(["cp", "-a", root, parent / "copy"], check=True))
    times.take("rm -r of the copy", lambda: shutil.rmtree(parent / "copy"))


def bench_trees(parent: Path) -> None:
    found: dict[str, Times] = {}
    for name, files in {**SIZES, GIANT: SIZES["1k"]}.items():
        root = Path(tempfile.mkdtemp(dir=parent))
        tree(root, files, giant=name == GIANT)
        found[name] = times = Times()
        rounds(root, times)
        others(root, times, parent)
        print(f"A tree of {name}: median and least ms of {ROUNDS} (git and cp: once)")
        times.show()
        shutil.rmtree(root)
    small, large = found["1k"], found["100k"]
    ratio = large.median(*STEPS) / small.median(*STEPS)
    print(f"{' + '.join(STEPS)} of `true`: {small.median(*STEPS):.2f} ms at 1k, {large.median(*STEPS):.2f} at 100k")
    print(f"  ratio of medians {ratio:.2f} {target('100k beside 1k', ratio, 1.5)}")
    snapshot = large.median(f"{MANY} files: snapshot and discard")
    print(f"  snapshot of {MANY} files at 100k: {snapshot:.2f} ms {target('snapshot', snapshot, 50)}")


def changing(parent: Path) -> Path:
    """The project of bench/loop.py, with an agent that changes a file."""
    root = Path(tempfile.mkdtemp(dir=parent))
    (root / ".git").mkdir()
    (root / "PROMPT.md").write_text("Do a little, again and again.\n")
    (root / "agent").write_text(AGENT)
    (root / "agent").chmod(0o755)
    for number in range(20):
        (root / f"module_{number}.py").write_text(f"VALUE = {number}\n" * 50)
    return root


def bare(root: Path) -> float:
    """Milliseconds for an iteration of the bare loop."""
    return milliseconds(lambda: subprocess.run(["bash", "-c", BARE], cwd=root, check=True)) / ITERATIONS


def looped(parent: Path, sandbox: str) -> tuple[float, float, float]:
    """Milliseconds for an iteration; the same for the whole program, its start and its end included; and for its end
    alone, where what nobody waited for is taken away."""
    root, home = changing(parent), Path(tempfile.mkdtemp(dir=parent))
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    words = ["run", "--agent-cmd", "./agent", "--until", CHECK, "--sandbox", sandbox, "-n", str(ITERATIONS), "-q"]
    begun = time.perf_counter()
    ended = subprocess.run([str(RALPH), *words], cwd=root, env=env, check=False, stdout=subprocess.DEVNULL)
    whole, over = (time.perf_counter() - begun) * 1000 / ITERATIONS, time.time()
    if ended.returncode != 4:
        sys.exit(f"the loop ended with {ended.returncode}, not with its limit")
    if (root / "module_0.py").read_text().count("again") != ITERATIONS:
        sys.exit("not every iteration was kept")
    (path,) = (root / ".aiwg" / "ralph" / "loops").iterdir()
    loop = LoopDirectory(path)
    lines = scan(loop.journal, loop.loop_id)
    finished = [line for line in lines if isinstance(line, events.Entry)]
    times = [line.header.ts.timestamp() for line in finished if isinstance(line.event, events.IterationFinished)]
    return (
        (times[-1] - times[WARM - 1]) * 1000 / (ITERATIONS - WARM),
        whole,
        (over - times[-1]) * 1000 / ITERATIONS,
    )


def bench_iteration(parent: Path) -> None:
    print(f"One iteration that changes a file, ms, least and median of {LOOPS} rounds of {ITERATIONS}; `{CHECK}`")
    taken: dict[str, list[float]] = {}
    for _ in range(LOOPS):
        taken.setdefault("bare bash loop", []).append(bare(changing(parent)))
        for name, sandbox in (("no room", "none"), ("in the room", "overlay")):
            iteration, whole, end_alone = looped(parent, sandbox)
            taken.setdefault(f"ralph, {name}", []).append(iteration)
            taken.setdefault(f"ralph, {name}, whole run", []).append(whole)
            taken.setdefault(f"ralph, {name}, its end", []).append(end_alone)
    for name, values in taken.items():
        print(f"  {name:<30} {min(values):6.2f} {statistics.median(values):6.2f}")
    bare_loop, iteration = min(taken["bare bash loop"]), min(taken["ralph, in the room"])
    print(f"  in the room, its check included: {iteration / bare_loop:.2f}x")
    ratio = (iteration + min(taken["ralph, in the room, its end"])) / bare_loop
    told = target("an iteration in the room", ratio, 4.5)
    print(f"  with its share of what is taken away after the last one: {ratio:.2f}x {told}")


PARTS = {"iteration": bench_iteration, "trees": bench_trees}

if __name__ == "__main__":
    wanted = sys.argv[1:] or [*PARTS]
    if not PARTS.keys() >= set(wanted):
        sys.exit(f"what can be measured: {', '.join(PARTS)}")
    print(f"Machine: {machine()}")
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as scratch:
        os.environ["HOME"] = scratch
        os.environ["XDG_STATE_HOME"] = f"{scratch}/state"
        for part in wanted:
            PARTS[part](Path(scratch))
    end()
