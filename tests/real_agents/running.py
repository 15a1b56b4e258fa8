"""Runs an agent as a program: what it printed, how it ended, what it cost; and nothing of it is left."""

import os
import resource
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from real_agents.clients import CLIENTS, Place
from real_agents.install import NODE, TOOLS

LONGEST = 150.0
"""An agent that has not ended by then is waiting for something."""


class Ran(NamedTuple):
    code: int | None
    """None if it had to be ended."""
    out: str
    err: str
    seconds: float
    cpu: float
    left: list[str]
    """The command lines of what was still alive when the agent had ended, and was ended then."""


def run(name: str, place: Place, prompt: str, session: str = "", *, kill_after: Path | None = None) -> Ran:
    """One run of an agent. It gets SIGTERM as soon as the file `kill_after` is there."""
    command, env = CLIENTS[name](place, session)
    begun, used = time.monotonic(), _cpu()
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        said.write(prompt.encode())
        said.seek(0)
        agent = subprocess.Popen(
            command,
            cwd=place.root,
            env={**environment(name, place), **env},
            stdin=said,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        code: int | None
        try:
            if kill_after:
                _wait_for(kill_after)
                agent.send_signal(signal.SIGTERM)
            code = agent.wait(LONGEST)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            agent.kill()
            agent.wait()
            left = end_all(place)
        out.seek(0)
        err.seek(0)
        printed, complained = out.read().decode(), err.read().decode()
    return Ran(code, printed, complained, time.monotonic() - begun, _cpu() - used, left)


def version(name: str, place: Place) -> str:
    done = subprocess.run(
        [name, "--version"],
        cwd=place.root,
        env=environment(name, place),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=True,
    )
    end_all(place)
    return done.stdout


def environment(name: str, place: Place) -> dict[str, str]:
    """Nothing of whoever runs the tests."""
    (place.home / "tmp").mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join([str(TOOLS[name].bin), str(NODE.bin), "/usr/local/bin", "/usr/bin", "/bin"])
    return {"PATH": path, "HOME": str(place.home), "TMPDIR": str(place.home / "tmp"), "LANG": "C.UTF-8"}


def end_all(place: Place) -> list[str]:
    """End everything that has this place for its home, whoever started it."""
    ended: list[str] = []
    while found := _at(place):
        for process, line in found:
            ended.append(line)
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs([process for process, _ in found], timeout=20)
    return ended


def _at(place: Place) -> list[tuple[psutil.Process, str]]:
    found: list[tuple[psutil.Process, str]] = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("HOME") == str(place.home) and process.status() != psutil.STATUS_ZOMBIE:
                found.append((process, " ".join(process.cmdline())))
        except psutil.Error:
            continue
    return found


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + LONGEST
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} has not been written"
        time.sleep(0.02)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
