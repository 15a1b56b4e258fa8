"""Eight processes register at the same moment, again and again: always four get in and four are refused."""

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from untilproven.errors import NoSlot, RalphError
from untilproven.model.status import Status
from untilproven.store.layout import Project, find_project
from untilproven.store.lifecycle import create_state
from untilproven.store.registry import read_registry

CONTENDERS = 8
WINNERS = 4


def round_of_eight(project: Project) -> None:
    """One round; raises AssertionError when the rule is broken."""
    go, start = os.pipe()
    done, finish = os.pipe()
    children = {}
    for number in range(CONTENDERS):
        answer, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(start)
            os.close(finish)
            contend(project, go, done, tell)
        os.close(tell)
        children[pid] = (number, answer)
    os.close(go)
    os.close(done)
    os.close(start)  # all of them wake at once
    answers = [json.loads(_read(answer)) for _, answer in children.values()]
    os.close(finish)
    codes = sorted(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children)
    assert codes == [0] * WINNERS + [7] * (CONTENDERS - WINNERS), codes
    winners = {answer["loop_id"] for answer in answers if "loop_id" in answer}
    assert len(winners) == WINNERS
    for answer in answers:
        if "active" in answer:
            assert set(answer["active"]) == winners, "a refusal lists somebody else"
    assert read_registry(project.state).registry.active_loops == ()
    assert {loop.loop_id for loop in project.state.all_loops()} >= winners


def contend(project: Project, go: int, done: int, tell: int) -> None:
    """A child: wait for the signal, register, say how it went, leave with the exit code a user would see."""
    code = 3
    try:
        os.read(go, 1)
        try:
            writer = create_state(project, "race")
        except NoSlot as refused:
            active = [row["loop_id"] for row in refused.details["active_loops"]]
            os.write(tell, json.dumps({"active": active}).encode())
            code = refused.exit_code
        else:
            os.write(tell, json.dumps({"loop_id": writer.state.loop_id}).encode())
            os.close(tell)
            os.read(done, 1)
            writer.transition_status(Status.ABORTED)
            code = 0
    except RalphError as error:
        sys.stderr.write(f"{error.kind}: {error.message}\n")
        code = error.exit_code
    finally:
        os._exit(code)


def _read(fd: int) -> bytes:
    data = b""
    while part := os.read(fd, 65536):
        data += part
    os.close(fd)
    return data


def race(rounds: int, said: Callable[[str], object]) -> None:
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_STATE_HOME"] = f"{place}/state"
        root = Path(place) / "project"
        (root / ".git").mkdir(parents=True)
        project = find_project(root)
        for number in range(1, rounds + 1):
            round_of_eight(project)
            if number % 50 == 0:
                said(f"{number} rounds of {CONTENDERS}: {WINNERS} in, {CONTENDERS - WINNERS} refused with exit 7\n")


if __name__ == "__main__":
    race(int(sys.argv[1]) if len(sys.argv) > 1 else 200, sys.stdout.write)
