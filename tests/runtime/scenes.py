"""What the tests of this room share: a small runner in a process of its own, and one that has died."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from process.scenes import wait_for
from untilproven.store.layout import Project
from untilproven.store.vouch import user_state

RUNNER = """
import select, sys
from pathlib import Path
from untilproven.model.fields import PauseReason
from untilproven.model.status import Status
from untilproven.runtime.control.server import Bell
from untilproven.store.layout import find_project
from untilproven.store.lifecycle import create_state

root, *steps = sys.argv[1:]
deaf = "deaf" in steps
idle = "idle" in steps
with create_state(find_project(Path(root)), "fix") as writer:
    for step in steps:
        if step in list(Status):
            writer.transition_status(Status(step))
    with Bell(writer.directory, writer.state.loop_id) as bell:
        print(writer.state.loop_id, bell.problem or bell.path, flush=True)
        fds = [bell.fd] if bell.fd >= 0 and not deaf else []
        while True:
            select.select(fds, [], [], 0.05)
            if not deaf:
                bell.answer()
            wanted = None if idle else bell.wanted()
            if wanted:
                to = Status.ABORTED if wanted.do == "abort" else Status.PAUSED
                writer.transition_status(to, reason=wanted.kind)
                bell.done(wanted)
                break
"""

DEAD_RUNNER = """
import os, signal, sys
from pathlib import Path
from untilproven.model import events
from untilproven.model.status import Status
from untilproven.runtime.control.server import Bell
from untilproven.store.layout import find_project
from untilproven.store.lifecycle import create_state
root, *steps = sys.argv[1:]
writer = create_state(find_project(Path(root)), "die young")
writer.record(events.IterationStarted(iteration=1))
for step in steps:
    writer.transition_status(Status(step))
with Bell(writer.directory, writer.state.loop_id):
    print(writer.state.loop_id, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


class Runner:
    def __init__(self, process: "subprocess.Popen[str]", loop_id: str, bell: str) -> None:
        self.process = process
        self.pid = process.pid
        self.loop_id = loop_id
        self.bell = bell
        """The path of its bell, or why it has none."""


@contextmanager
def runner_of(project: Project, *steps: str, env: Mapping[str, str] | None = None) -> Iterator[Runner]:
    """A process that runs a loop of the project until it is asked to pause or abort."""
    command = [sys.executable, "-c", RUNNER, str(project.root), *steps]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}) as process:
        assert process.stdout
        try:
            loop_id, _, bell = process.stdout.readline().strip().partition(" ")
            yield Runner(process, loop_id, bell)
        finally:
            process.kill()


def dead_loop(project: Project, *steps: str) -> str:
    """A loop whose runner was killed; its bell still hangs there."""
    command = [sys.executable, "-c", DEAD_RUNNER, str(project.root), *steps]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    return done.stdout.strip()


def marked_orphan(marker: str, directory: Path) -> int:
    """A process in a session of its own that carries a loop's mark, as a killed runner and keeper leave it."""
    line = "setsid sh -c 'echo $$ > orphan.pid; exec sleep 1000' > /dev/null 2>&1 &"
    env = {"PATH": os.environ["PATH"], "RALPH_KEEPER": marker}
    subprocess.run(["sh", "-c", line], cwd=directory, env=env, check=True)
    written = directory / "orphan.pid"
    wait_for(lambda: written.exists() and written.read_text().endswith("\n"), "the orphan's pid")
    return int(written.read_text())


def kept_requests() -> list[str]:
    """What is left of requests anywhere; nothing should be once all is done."""
    control = user_state() / "control"
    return [str(path.relative_to(control)) for path in control.rglob("*")] if control.exists() else []
