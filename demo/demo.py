"""`make demo`: a loop's record survives a kill, a damaged file and a crowd. Everything here is the real program."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

BIN = Path(sys.executable).parent

WORK = """
import sys, time
from pathlib import Path
from untilproven.model import events
from untilproven.model.iteration import Continue, Fate, Usage
from untilproven.store.layout import find_project
from untilproven.store.lifecycle import create_state

writer = create_state(find_project(Path.cwd()), "make the tests pass", completion_criteria="pytest -q")
print(writer.state.loop_id, flush=True)
for number in (1, 2, 3):
    writer.record(events.IterationStarted(iteration=number))
    writer.record(
        events.CheckFinished(
            iteration=number, check="pytest -q", kind="tests", passed=False, output=f"{4 - number} failed"
        ),
        events.IterationFinished(
            iteration=number, result=Continue(reason="tests fail"), fate=Fate.KEPT, counted=True, progressed=True,
            duration_seconds=1.0, usage=Usage(total_tokens=1200, cost_usd=0.02),
        ),
    )
writer.record(events.IterationStarted(iteration=4))
print("working", flush=True)
time.sleep(60)
"""

CARRY_ON = """
import sys
from pathlib import Path
from untilproven.model.status import Status
from untilproven.store.layout import find_project
from untilproven.store.lifecycle import adopt_loop

with adopt_loop(find_project(Path.cwd()), sys.argv[1]) as writer:
    print(f"adopted at iteration {writer.state.iteration}; the unfinished one is discarded")
    writer.record_completion_check(passed=True, output="all green", check="pytest -q", kind="tests")
    writer.transition_status(Status.COMPLETED, reason="checks are green")
"""

CROWD = """
from pathlib import Path
from untilproven.errors import NoSlot
from untilproven.store.layout import find_project
from untilproven.store.lifecycle import create_state

writers = [create_state(find_project(Path.cwd()), f"task {number}") for number in (1, 2, 3, 4)]
try:
    create_state(find_project(Path.cwd()), "one too many")
except NoSlot as refused:
    print(refused.message)
    print(f"(exit code {refused.exit_code})")
"""


def main() -> None:
    place = Path(tempfile.mkdtemp(prefix="ralph-demo-"))
    os.environ.update(XDG_STATE_HOME=str(place / "state"), HOME=str(place), PATH=f"{BIN}:{os.environ['PATH']}")
    project = place / "project"
    (project / ".git").mkdir(parents=True)
    os.chdir(project)
    try:
        play(project)
    finally:
        shutil.rmtree(place)


def play(project: Path) -> None:
    say("1. A loop works. In the middle of its fourth iteration its process is killed with SIGKILL.")
    worker = subprocess.Popen([sys.executable, "-c", WORK], stdout=subprocess.PIPE, text=True)
    if worker.stdout is None:
        raise RuntimeError("the worker has no output")
    name = worker.stdout.readline().strip()
    worker.stdout.readline()
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    ralph("status")

    say("2. Then something destroys its state file. The journal serves; nothing is taken for empty.")
    loop = project / ".aiwg/ralph/loops" / name
    (loop / "state.json").write_bytes(b"\x00" * 4096)
    ralph("status", name)
    ralph("state", "rebuild", name)

    say("3. Another process takes the loop over, under the same id, and finishes it.")
    python(CARRY_ON, name)
    ralph("status", "--all")

    say("4. Four loops may be active. A fifth is refused, with the list of the four.")
    python(CROWD)

    say("5. The record is plain text. The last events of the first loop:")
    for line in (loop / "events.jsonl").read_text().splitlines()[-4:]:
        print("  " + line[:150])


def say(text: str) -> None:
    print(f"\n\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


def ralph(*words: str) -> None:
    print("$ ralph " + " ".join(words), flush=True)
    subprocess.run(["ralph", *words], check=False)


def python(script: str, *words: str) -> None:
    subprocess.run([sys.executable, "-c", script, *words], check=True)


if __name__ == "__main__":
    main()
