"""What a loop costs beside a bare `while` loop in bash: time for an iteration, start-up, memory. `make bench-loop`.

Both give the prompt to the same agent, which does nothing, keep what it prints, and run the same check. The loop also
observes the tree, remembers every iteration so that it survives a power cut, and can be stopped at any time.
Rounds are interleaved and the least of each is taken, because this kind of machine is noisy.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from targets import end, machine, target
from untilproven.model import events
from untilproven.store.journal import scan
from untilproven.store.layout import LoopDirectory

ROUNDS = 5
ITERATIONS = 200
LONG = 1_000
WARM = 10
CHECK = "test -f done"
AGENT = "./agent"
RALPH = Path(__file__).parents[1] / ".venv-user" / "bin" / "ralph"  # what a user has: no development tools
BARE = f"""
n=0
while [ $n -lt {ITERATIONS} ]; do
  cat PROMPT.md | {AGENT} > output.log 2>&1
  sh -c "{CHECK}" && break
  n=$((n + 1))
done
"""

FIRST_CALL = """\
#!/bin/sh
process=$PPID
while [ $process -ne {bench} ]; do
  cat /proc/$process/schedstat >> first-call
  read -r _ _ _ process _ < /proc/$process/stat
done
"""


def project(parent: Path) -> Path:
    root = Path(tempfile.mkdtemp(dir=parent))
    (root / ".git").mkdir()
    (root / "PROMPT.md").write_text("Do nothing, again and again.\n")
    (root / "agent").write_text("#!/bin/sh\nexit 0\n")
    (root / "agent").chmod(0o755)
    for number in range(20):
        (root / f"module_{number}.py").write_text(f"VALUE = {number}\n" * 50)
    return root


def bare(root: Path) -> float:
    """Milliseconds for an iteration of the bare loop."""
    begun = time.perf_counter()
    subprocess.run(["bash", "-c", BARE], cwd=root, check=True)
    return (time.perf_counter() - begun) * 1000 / ITERATIONS


def looped(root: Path, iterations: int) -> list[float]:
    """When each iteration was finished, in seconds."""
    env = {"PATH": os.environ["PATH"], "HOME": str(root), "LANG": "C.UTF-8"}
    command = [
        str(RALPH),
        "run",
        "--agent-cmd",
        AGENT,
        "--until",
        CHECK,
        "--sandbox",
        "none",
        "-n",
        str(iterations),
        "-q",
    ]
    ended = subprocess.run(command, cwd=root, env=env, check=False, stdout=subprocess.DEVNULL)
    if ended.returncode != 4:
        sys.exit(f"the loop ended with {ended.returncode}, not with its limit")
    (path,) = (root / ".aiwg" / "ralph" / "loops").iterdir()
    loop = LoopDirectory(path)
    return [
        found.header.ts.timestamp()
        for found in scan(loop.journal, loop.loop_id)
        if isinstance(found, events.Entry) and isinstance(found.event, events.IterationFinished)
    ]


def each(times: list[float], first: int, last: int) -> float:
    """Milliseconds for an iteration between two of them."""
    return (times[last - 1] - times[first - 1]) * 1000 / (last - first)


def bench_iteration(parent: Path) -> None:
    print(f"One iteration, ms, least of {ROUNDS} rounds of {ITERATIONS}; agent: a shell script, check: `{CHECK}`")
    plain, ours = [], []
    for _ in range(ROUNDS):
        plain.append(bare(project(parent)))
        ours.append(each(looped(project(parent), ITERATIONS), WARM, ITERATIONS))
    least, least_ours = min(plain), min(ours)
    ratio = least_ours / least
    print(f"  bare bash loop   {least:6.2f}")
    print(f"  ralph run        {least_ours:6.2f}   {ratio:.2f}x {target('an iteration', ratio, 2.3)}")


def bench_growth(parent: Path) -> None:
    times = looped(project(parent), LONG)
    early, late = each(times, WARM, WARM + 100), each(times, LONG - 100, LONG)
    print(f"Growth: iterations {WARM} to {WARM + 100} take {early:.2f} ms each, {LONG - 100} to {LONG} {late:.2f} ms")
    print(f"  ratio {late / early:.2f} {target('growth', late / early, 1.5)}")


def bench_start(parent: Path) -> None:
    """The agent itself looks up how long those above it have been on a CPU when it is called."""
    least = float("inf")
    for _ in range(10):
        root = project(parent)
        agent = root / "agent"
        agent.write_text(FIRST_CALL.format(bench=os.getpid()))
        agent.chmod(0o755)
        looped(root, 1)
        used = [int(line.split()[0]) for line in (root / "first-call").read_text().splitlines()]
        least = min(least, sum(used) / 1e6)
    print("From the start of the program to the first call of the agent")
    print(f"  {least:.0f} ms of CPU time, least of 10   {target('start-up', least, 150)}")
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"Memory at most, over all runs: {memory} MB   {target('memory', memory, 60)}")


if __name__ == "__main__":
    print(f"Machine: {machine()}")
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as scratch:
        bench_iteration(Path(scratch))
        bench_growth(Path(scratch))
        bench_start(Path(scratch))
    end()
