"""What one Stop event costs beside a script of bash, jq and perl that does the same. `make bench-hook`.

Both are told that an agent wants to stop, look whose session it is, find the last words of the assistant in the
transcript, look for the promise in them, count the iteration, and answer with the next prompt. The script keeps one
small file; `ralph hook stop` holds a lock, notices who changed what in between, and leaves its journal to a child that
the agent does not wait for, and that is not in the time.
Rounds are interleaved and the least of each is taken, because this kind of machine is noisy. Where it is so busy that
even the least is a matter of luck, the time on a CPU says more, and is shown beside.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from targets import end, machine, target

ROUNDS = 15
TARGET = 0.5
SESSION = "11111111-2222-4333-8444-555555555555"
RALPH = Path(__file__).parents[1] / ".venv-user" / "bin" / "ralph"  # what a user has: no development tools
MIB = 1024 * 1024
TASK = "Go on with it. " * 50

# Written as such hooks usually are: the state is a page with a head, the fields are found with grep and sed.
SCRIPT = r"""#!/bin/bash
set -euo pipefail
event=$(cat)
state=.loop/state.md
[ -f "$state" ] || exit 0
head=$(sed -n '/^---$/,/^---$/p' "$state")
field() { grep "^$1:" <<<"$head" | sed "s/^$1: *//"; }
session=$(jq -r '.session_id // ""' <<<"$event")
[ "$session" = "$(field session_id)" ] || exit 0
iteration=$(field iteration) most=$(field max_iterations) promise=$(field completion_promise)
if ! [[ $iteration =~ ^[0-9]+$ && $most =~ ^[0-9]+$ ]] || ((iteration >= most)); then rm "$state"; exit 0; fi
transcript=$(jq -r '.transcript_path // ""' <<<"$event")
[ -f "$transcript" ] || exit 0
line=$(grep '"role":"assistant"' "$transcript" | tail -n 1)
words=$(jq -r '[.message.content[] | select(.type == "text") | .text] | join("\n")' <<<"$line")
said=$(perl -0777 -ne 'if (/<promise>(.*?)<\/promise>/s) { $_ = $1; s/^\s+|\s+$//g; s/\s+/ /g; print }' <<<"$words")
if [ "$said" = "$promise" ]; then rm "$state"; exit 0; fi
next=$((iteration + 1))
prompt=$(awk '/^---$/ { dashes++; next } dashes >= 2' "$state")
sed "s/^iteration: .*/iteration: $next/" "$state" > "$state.tmp"
mv "$state.tmp" "$state"
jq -n --arg reason "$prompt" --arg message "Iteration $next/$most" \
  '{decision: "block", reason: $reason, systemMessage: $message}'
"""


class Case(NamedTuple):
    name: str
    lines: int
    """Of the transcript."""
    bytes: int
    """Of it, at least."""
    message: int
    """Of the last words."""


class Took(NamedTuple):
    """Milliseconds."""

    wall: float
    cpu: float


def on_cpu() -> float:
    """Seconds that those we have waited for were on a CPU."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


CASES = (
    Case("10 lines", 10, 0, 200),
    Case("1,000 lines", 1_000, 0, 200),
    Case("50 MB", 12_000, 50 * MIB, 200),
    Case("last message of 5 MB", 10, 0, 5 * MIB),
)


def line(role: str, text: str) -> str:
    """As Claude Code writes it."""
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return json.dumps({"type": role, "message": message, "sessionId": SESSION}, separators=(",", ":")) + "\n"


class Stage:
    """A project with a loop of each kind in it, and a transcript that grows by a turn for every event."""

    def __init__(self, parent: Path, case: Case) -> None:
        self.root = Path(tempfile.mkdtemp(dir=parent))
        self.case = case
        (self.root / "src").mkdir()
        for number in range(20):
            (self.root / "src" / f"module_{number}.py").write_text(f"VALUE = {number}\n" * 50)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.root / "home"), "LANG": "C.UTF-8"}
        (self.root / "home").mkdir()
        (self.root / "project").mkdir()
        (self.root / "src").rename(self.root / "project" / "src")
        for words in (
            ["init", "-q"],
            ["add", "."],
            ["-c", "user.name=U", "-c", "user.email=u@x", "commit", "-qm", "x"],
        ):
            subprocess.run(["git", *words], cwd=self.root / "project", check=True)
        self.transcript = self.root / "transcript.jsonl"
        self._turns = 0
        with self.transcript.open("w") as file:
            size = max(case.bytes // case.lines, 200)
            for at in range(case.lines // 2):
                file.write(line("user", f"{at} " + "u" * size))
                file.write(line("assistant", f"{at} " + "a" * size))
        self._start()

    def _start(self) -> None:
        loop = self.root / "project" / ".loop"
        loop.mkdir()
        head = {"session_id": SESSION, "iteration": 1, "max_iterations": 10_000, "completion_promise": "DONE"}
        fields = "".join(f"{name}: {value}\n" for name, value in head.items())
        (loop / "state.md").write_text(f"---\n{fields}---\n{TASK}\n")
        script = self.root / "hook.sh"
        script.write_text(SCRIPT)
        script.chmod(0o755)
        told: dict[str, object] = {
            "session_id": SESSION,
            "cwd": str(self.root / "project"),
            "hook_event_name": "UserPromptSubmit",
        }
        told["prompt"] = f"/ralph '{TASK}' --until false --max-iterations 10000"
        self._call([str(RALPH), "hook", "prompt", "--agent", "claude"], told)

    def _call(self, command: list[str], told: dict[str, object]) -> tuple[Took, bytes]:
        data = json.dumps(told).encode()
        begun, used = time.perf_counter(), on_cpu()
        done = subprocess.run(
            command, cwd=self.root / "project", env=self.env, input=data, capture_output=True, check=True
        )
        return Took((time.perf_counter() - begun) * 1000, (on_cpu() - used) * 1000), done.stdout

    def stop(self, command: list[str]) -> Took:
        """One event, answered with another prompt."""
        self._turns += 1
        with self.transcript.open("a") as file:
            file.write(line("user", f"turn {self._turns}"))
            file.write(line("assistant", f"turn {self._turns} " + "w " * (self.case.message // 2)))
        time.sleep(0.6)  # events that come closer together are taken for one
        told: dict[str, object] = {
            "session_id": SESSION,
            "transcript_path": str(self.transcript),
            "cwd": str(self.root / "project"),
            "hook_event_name": "Stop",
            "stop_hook_active": True,
        }
        took, said = self._call(command, told)
        if json.loads(said or b"{}").get("decision") != "block":
            sys.exit(f"{command[0]} did not send the agent on: {said.decode()[:500]}")
        return took


def bench(parent: Path, case: Case) -> None:
    stage = Stage(parent, case)
    commands = ([str(stage.root / "hook.sh")], [str(RALPH), "hook", "stop", "--agent", "claude"])
    rounds = [[stage.stop(command) for command in commands] for _ in range(ROUNDS)]
    script, ours = (Took(*(min(times) for times in zip(*column, strict=True))) for column in zip(*rounds, strict=True))
    ratio = ours.wall / script.wall
    print(
        f"  {case.name:<22}{script.wall:8.1f}{ours.wall:8.1f}   {ratio:.2f}x {target(case.name, ratio, TARGET)}"
        f"   on a CPU {script.cpu:.0f} and {ours.cpu:.0f}, {ours.cpu / script.cpu:.2f}x"
    )
    shutil.rmtree(stage.root)


if __name__ == "__main__":
    if absent := [name for name in ("bash", "jq", "perl") if not shutil.which(name)]:
        sys.exit(f"to compare with a script, {', '.join(absent)} must be installed")
    print(f"Machine: {machine()}")
    print(f"One Stop event, ms, least of {ROUNDS} rounds")
    print(f"  {'transcript':<22}{'script':>8}{'ralph':>8}")
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as scratch:
        for one in CASES:
            bench(Path(scratch), one)
    end()
