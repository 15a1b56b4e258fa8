"""A runner that dies by SIGKILL: at a step it takes, at a moment, when its journal has come so far, when something is
seen on the disk, or within what it is aimed into."""

import contextlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

MORTAL = Path(__file__).parent / "mortal.py"

_LOOK_EVERY = 0.0005
_PATIENCE = 60.0

Whom = Literal["runner", "keeper too", "group"]
_WHOM: tuple[Whom, ...] = ("runner", "keeper too", "group")
_AIMS = {"keep": 8, "discard": 4, "recover": 4, "commit": 12, "check": 3, "deliver": 2, "finish": 2, "open": 1}
_MERGING = "iteration-*/merging-*"
_RESTORING = "restore/merging-*"
_RECOVERY = 60
"""How many steps it may take to finish what somebody was killed in."""


class Doom(NamedTuple):
    """How a runner dies."""

    by: Literal["step", "time", "line", "sight", "aim", "nothing"] = "nothing"
    step: int = 0
    """Its nth step; of one that is aimed, counted from where that begins, and 0 to go by the time."""
    seconds: float = 0.0
    line: int = 0
    sight: str = ""
    """What has to be seen in the rooms of the loop."""
    span: str = ""
    call: int = 0
    whom: Whom = "runner"


class Counted(NamedTuple):
    """What a runner did that was left alone."""

    steps: int
    seconds: float
    lines: int
    calls: Mapping[str, Sequence[int]]
    """How many steps there were in each call of what can be aimed into."""


def doom(luck: random.Random, known: Counted) -> Doom:
    """A death anywhere in the life of a loop; one in a room dies more often where its tree is changed."""
    whom = luck.choices(_WHOM, (4, 4, 2))[0]
    indoors = "keep" in known.calls
    by = luck.choices(("step", "time", "line", "aim", "sight"), (5, 2, 3, 8 if indoors else 2, 2 if indoors else 0))[0]
    if by == "step":
        return Doom("step", step=luck.randint(1, known.steps), whom=whom)
    if by == "time":
        return Doom("time", seconds=luck.uniform(0.0, known.seconds * 1.05), whom=whom)
    if by == "aim":
        return _aimed(luck, known, whom)
    if by == "sight":
        return Doom("sight", seconds=luck.expovariate(1 / 0.002), sight=_MERGING, whom=whom)
    return Doom("line", seconds=luck.expovariate(1 / 0.004), line=luck.randint(1, known.lines), whom=whom)


def _aimed(luck: random.Random, known: Counted, whom: Whom) -> Doom:
    spans = [span for span in known.calls if span in _AIMS]
    span = luck.choices(spans, [_AIMS[span] for span in spans])[0]
    call = luck.randint(1, len(known.calls[span]))
    steps = _RECOVERY if span == "recover" else known.calls[span][call - 1]
    if span == "check" or luck.random() < 0.2 or not steps:
        return Doom("aim", seconds=luck.uniform(0.0, 0.2 if span == "check" else 0.02), span=span, call=call, whom=whom)
    return Doom("aim", step=luck.randint(1, steps), span=span, call=call, whom=whom)


def doom_of_restoring(luck: random.Random, known: Counted) -> Doom:
    """A death of somebody who goes back to an earlier tree."""
    whom = luck.choices(_WHOM, (4, 4, 2))[0]
    by = luck.choices(("step", "sight", "aim"), (2, 2, 6))[0]
    if by == "step":
        return Doom("step", step=luck.randint(1, known.steps), whom=whom)
    if by == "sight":
        return Doom("sight", seconds=luck.expovariate(1 / 0.002), sight=_RESTORING, whom=whom)
    (steps,) = known.calls["restore"]
    return Doom("aim", step=luck.randint(1, steps), span="restore", call=1, whom=whom)


class Life:
    """One process of `ralph`, from its start to its end."""

    def __init__(
        self,
        words: tuple[str, ...],
        *,
        cwd: Path,
        env: Mapping[str, str],
        log: Path,
        fate: Mapping[str, object],
        doom: Doom = Doom(),  # noqa: B008  immutable
    ) -> None:
        self.doom = doom
        self._began = time.monotonic()
        self._heard, tell = os.pipe()
        told = {
            "step": doom.step if doom.by == "step" else 0,
            "inner": doom.step,
            "span": doom.span,
            "call": doom.call,
            "keeper": doom.whom == "keeper too",
            "tell": tell,
            **fate,
        }
        with log.open("ab") as said:
            said.write(f"$ ralph {' '.join(words)[:200]}   # {doom}\n".encode())
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(MORTAL), json.dumps(told), *words],
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
                pass_fds=(tell,),
            )
        os.close(tell)

    def end(self, lines: Callable[[], int], is_seen: Callable[[str], bool]) -> int:
        """Wait for it, or for the moment of its death; the exit code, or minus the signal."""
        doom = self.doom
        try:
            if doom.by == "line":
                self._await(lambda: lines() >= doom.line)
            elif doom.by == "sight":
                self._await(lambda: is_seen(doom.sight))
            elif doom.by == "aim" and not doom.step:
                self._await(lambda: bool(select.select([self._heard], [], [], 0)[0]))
            if doom.by in {"time", "line", "sight"} or (doom.by == "aim" and not doom.step):
                self._wait(doom.seconds)
                self._kill()
            return self._process.wait(_PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._heard)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def _await(self, is_so: Callable[[], bool]) -> None:
        while self._process.poll() is None and not is_so():
            time.sleep(_LOOK_EVERY)

    def _wait(self, seconds: float) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def _kill(self) -> None:
        if self._process.poll() is not None:
            return
        pid = self._process.pid
        keepers = _children(pid) if self.doom.whom == "keeper too" else []
        if self.doom.whom == "group":
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)
        for keeper in keepers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(keeper, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
