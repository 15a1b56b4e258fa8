"""Several tasks side by side: a process each, delivered one at a time, within the limits of one run."""

import os
import select
import signal
import sys
import time
import traceback
from typing import TYPE_CHECKING, NoReturn

import msgspec

from untilproven.core.decide import WAITING
from untilproven.errors import NoSlot, RalphError
from untilproven.model.registry import MAX_CONCURRENT_LOOPS
from untilproven.process import kernel
from untilproven.queue.contract import Start, Stopped, interrupted
from untilproven.runtime import starting
from untilproven.runtime.signals import Interrupts
from untilproven.store import files
from untilproven.store.lock import is_locked
from untilproven.store.registry import open_registry, read_registry

if TYPE_CHECKING:
    from untilproven.queue.work import Work

_TICK_SECONDS = 0.5
_SAVE_SECONDS = 5.0
_INTERNAL = 3


class _Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a worker says: which loop it runs, or why it runs none."""

    loop_id: str = ""
    error: str = ""
    no_slot: bool = False


class _Worker(msgspec.Struct, kw_only=True):
    """A process that works on one task."""

    start: Start
    pid: int
    told: int
    loop_id: str = ""
    error: str = ""
    no_slot: bool = False


class Crew:
    """At most so many at once, and never more than there are slots for."""

    def __init__(self, work: "Work", most: int) -> None:
        self._work = work
        self._most = min(most, MAX_CONCURRENT_LOOPS)
        self._workers: dict[int, _Worker] = {}
        self._stopped: Stopped | None = None
        self._saved = time.monotonic()
        self._pid = os.getpid()

    def work(self) -> Stopped:
        with Interrupts() as interrupts:
            while True:
                if self._stopped is None and not interrupts.exit_code:
                    self._fill()
                if not self._workers:
                    break
                self._wait(interrupts)
            code = interrupts.exit_code
        if code:
            return interrupted(code)
        assert self._stopped is not None  # noqa: S101  or somebody would be at work
        return self._stopped

    def _fill(self) -> None:
        """Begin what can be begun. Nothing left to begin is the end of the run once nobody is at work."""
        while len(self._workers) < self._most and self._has_slot():
            before = len(self._workers)
            busy = {worker.start.task.id: worker.start.cost_usd for worker in self._workers.values()}
            try:
                start = self._work.next_start(busy)
            except RalphError as error:
                if not self._workers:
                    raise
                self._stopped = Stopped(error.exit_code, error.message)  # those at work come to their end first
                return
            if isinstance(start, Start):
                self._begin(start)
                if len(self._workers) == before:
                    return
                continue
            if not self._workers:
                self._stopped = start
            return

    def _has_slot(self) -> bool:
        """Others may have taken them; if none is left for us at all, that is an error. A loop that nobody runs is no
        obstacle: it is one that we go on with, or its slot is free for whoever needs it."""
        state = self._work.project.state
        active = read_registry(state).registry.active_loops
        ours = self._work.cut_off()
        taken = [
            entry
            for entry in active
            if is_locked(state.loop(entry.loop_id).lock) or (entry.status == "paused" and entry.loop_id not in ours)
        ]
        if len(taken) < MAX_CONCURRENT_LOOPS:
            return True
        self._refuse_if_alone()
        return False

    def _refuse_if_alone(self) -> None:
        if not self._workers:
            with open_registry(self._work.project.state) as registry:
                raise registry.full()

    def _begin(self, start: Start) -> None:
        told, tell = os.pipe()
        _flush()
        pid = os.fork()
        if pid == 0:
            os.close(told)
            self._leave(start, tell)
        os.close(tell)
        worker = _Worker(start=start, pid=pid, told=told)
        self._hear(worker)
        if worker.no_slot:  # another was quicker: the task waits until one of ours is free
            os.waitpid(pid, 0)
            self._refuse_if_alone()
            return
        self._workers[pid] = worker

    def _hear(self, worker: _Worker) -> None:
        """Until it has begun, no other is begun: two of them must not pick the same."""
        said = b""
        while chunk := os.read(worker.told, 65536):
            said += chunk
        os.close(worker.told)
        message = msgspec.json.decode(said, type=_Message) if said else _Message(error="it ended before it began")
        worker.loop_id, worker.error, worker.no_slot = message.loop_id, message.error, message.no_slot
        if worker.loop_id:
            self._work.began(worker.start, worker.loop_id)

    def _leave(self, start: Start, tell: int) -> NoReturn:
        """The worker's process: it ends with its loop, and with the run if that is killed."""
        code = _INTERNAL
        try:
            kernel.signal_when_parent_dies(signal.SIGKILL)
            if os.getppid() != self._pid:
                os._exit(code)
            code = _work_on(self._work, start, tell)
        except BaseException:  # noqa: BLE001  nothing may come back into the caller's code
            traceback.print_exc()
        finally:
            _flush()
            os._exit(code)

    def _wait(self, interrupts: Interrupts) -> None:
        """Until one has ended, or a moment has passed."""
        select.select([interrupts.fd] if interrupts.fd >= 0 else [], [], [], _TICK_SECONDS)
        if interrupts.exit_code == 128 + signal.SIGTERM:  # Ctrl-C reaches them by itself
            for pid in self._workers:
                os.kill(pid, signal.SIGTERM)
        now = time.monotonic()
        if now - self._saved >= _SAVE_SECONDS or not self._workers:
            self._save(now)
        for pid in list(self._workers):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._ended(self._workers.pop(pid), os.waitstatus_to_exitcode(status))

    def _save(self, now: float) -> None:
        self._work.run_book.passed(now - self._saved)
        self._saved = now

    def _ended(self, worker: _Worker, code: int) -> None:
        self._save(time.monotonic())
        task = worker.start.task
        if not worker.loop_id:
            self._work.pass_over(task, worker.error)
            return
        stopped = self._work.settled(task, worker.loop_id, code if code >= 0 else WAITING)
        self._stopped = self._stopped or stopped


def _work_on(work: "Work", start: Start, tell: int) -> int:
    try:
        writer = start.make()
    except RalphError as error:
        _say(tell, _Message(error=error.message, no_slot=isinstance(error, NoSlot)))
        return error.exit_code
    _say(tell, _Message(loop_id=writer.state.loop_id))
    with (writer.loop.path / "run.log").open("a") as log:
        for stream in (sys.stdout.fileno(), sys.stderr.fileno()):
            os.dup2(log.fileno(), stream)
        with starting.driving(work.project, writer, watchers=work.teller.watchers(log)) as driver:
            return driver.run()


def _say(tell: int, message: _Message) -> None:
    files.write_all(tell, msgspec.json.encode(message))
    os.close(tell)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
