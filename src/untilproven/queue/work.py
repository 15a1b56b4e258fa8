"""A run of the queue: pick a task, work on it until it is proven or given up, commit, pick the next (source 002)."""

import os
from collections.abc import Mapping
from functools import partial

import msgspec
from msgspec import UNSET

from untilproven.checks.find import NoCheck
from untilproven.config.settings import Layer, Settings
from untilproven.core import naming, picking
from untilproven.core.decide import AGENT, LIMIT, UNPROVEN, WAITING, bounds, spent
from untilproven.core.limits import reached
from untilproven.errors import Busy, Damaged, InvalidName, NoSuchLoop, TaskRefused
from untilproven.model.plan import Allowance
from untilproven.model.state import LoopState
from untilproven.model.status import CONTINUABLE, TERMINAL, Status
from untilproven.model.task import Task, TaskStatus, Update
from untilproven.queue.contract import Start, Stopped, Teller, interrupted
from untilproven.queue.mending import mend
from untilproven.queue.planning import Left, Untrusted, commits, learnings, wanted
from untilproven.queue.record import NOTHING, RunBook
from untilproven.runtime import queued, starting
from untilproven.runtime.deciding import Undecided, approved_gate
from untilproven.runtime.notifying import tell_of_block, tell_of_run
from untilproven.store import clock, reader
from untilproven.store.layout import Project
from untilproven.store.lock import FileLock, is_locked
from untilproven.store.survey import never_began
from untilproven.store.tasks import Tasks, book_of
from untilproven.store.writer import LoopWriter

RETRIES = 1
"""How many times more a task is tried in the same run, if failures are to be retried."""
FAILING = 3
"""How many tasks in a row an agent may fail at before it is not given another."""
_SET_ASIDE = frozenset({WAITING, 130, 143})
"""A run that ends so goes on when it is begun again."""
_ENDED = frozenset({TaskStatus.DONE, TaskStatus.CANCELLED})


class Work:
    """One run of the queue. Everything it must remember is on the disk, so it can be killed anywhere."""

    def __init__(self, project: Project, settings: Settings, teller: Teller, *, only: str = "") -> None:
        self.project = project
        self.settings = settings
        self.teller = teller
        self._only = only
        self._book = book_of(project)
        self._passed_over: set[str] = set()
        self._damage_told = False
        self._failing = 0
        self._let_go_on: dict[str, int] = {}

    def run(self) -> Stopped:
        self.project.state.make()
        lock = FileLock(self.project.state.path / "work.lock", timeout=0, what="the queue")
        with lock:
            self.run_book = RunBook(self.project, clock.now())
            if self.run_book.goes_on:
                self.teller.note("going on with the run that was cut off; what it has used counts")
            mend(self.project, self.teller)
            self._let_go_on = self._unblocked()
            stopped = self._work()
            if stopped.exit_code not in _SET_ASIDE:
                self.run_book.close()
                tell_of_run(self.settings, stopped.exit_code, stopped.why, self.project.root, self.teller.note)
        return stopped

    def _work(self) -> Stopped:
        if self.settings.value("queue.parallelism") > 1:
            from untilproven.queue.crew import Crew  # noqa: PLC0415  one after the other, as a rule

            return Crew(self, self.settings.value("queue.parallelism")).work()
        while True:
            start = self.next_start()
            if isinstance(start, Stopped):
                return start
            writer = start.make()
            self.began(start, writer.state.loop_id)
            with starting.driving(self.project, writer, watchers=self.teller.watchers()) as driver:
                code = driver.run()
                signalled = driver.wishes.exit_code  # though its iteration was proven, and so there was no pause
            if stopped := self.settled(start.task, writer.state.loop_id, code):
                return stopped
            if signalled:
                return interrupted(signalled)

    def next_start(self, busy: Mapping[str, float] | None = None) -> Start | Stopped:
        """The loop that is to be begun next, or why there is none. `busy` has the tasks that are being worked on, with
        what each of them may spend."""
        busy = busy or {}
        while True:
            left = self.left(reserved=sum(busy.values()), at_work=len(busy))
            task = self.next_task(frozenset(busy))
            if task is None:
                return self._nothing_left()
            if isinstance(left, Stopped):
                return left
            if start := self._start(task, left):
                return start

    def began(self, start: Start, loop_id: str) -> None:
        side_by_side = self.settings.value("queue.parallelism") > 1
        self.run_book.began(start.task.id, loop_id, start.before, side_by_side=side_by_side)
        self.teller.begins(start.task, loop_id)

    def left(self, *, reserved: float = 0.0, at_work: int = 0) -> Left | Stopped:
        """What the run may still use beside those at work, or the limit that it has reached."""
        used, limits = self.run_book.used(), self.settings
        most, seconds = limits.value("queue.max_cost"), limits.value("queue.timeout").total_seconds()
        if len(self.run_book.record.ended) + at_work >= (tasks := limits.value("queue.max_tasks")):
            return Stopped(LIMIT, f"the run has had its {tasks} {'task' if tasks == 1 else 'tasks'}: --max-tasks")
        if used.seconds >= seconds:
            return Stopped(LIMIT, f"the time of the run is used up: {used.seconds:.0f} of {seconds:.0f} s")
        if used.cost_usd >= most:
            return Stopped(LIMIT, f"the money of the run is used up: ${used.cost_usd:.2f} of ${most:g}")
        asked = limits.origin("queue.max_cost").layer is not Layer.DEFAULT
        if used.unknown and asked and not limits.allow_unknown_cost:
            unknown = f"nobody knows how much of its ${most:g} the run has spent"
            return Stopped(LIMIT, f"{unknown}; --allow-unknown-cost lets it go on")
        left = most - used.cost_usd - reserved
        if reserved and left < limits.value("task.max_cost"):
            return Stopped(LIMIT, "what is left of the run's money is set aside for those at work")
        return Left(seconds=seconds - used.seconds, cost_usd=left)

    def next_task(self, busy: frozenset[str] = frozenset()) -> Task | None:
        """The task that is next; those passed over in this run, and those somebody works on, are not."""
        tasks = self._tasks()
        if self._only and self._only not in tasks.by_id:
            raise TaskRefused(f"there is no task {self._only}", hint="ralph task list --all")
        most = RETRIES if self.settings.value("queue.on_failure") == "retry" else 0
        for task in picking.order(tasks.by_id):
            often = self._tries(task.id) > most
            if task.id not in self._passed_over | busy and not often and self._only in {"", task.id}:
                return task
        return None

    def _tries(self, task_id: str) -> int:
        """How often the run has come to an end with it, since a human let it go on."""
        return self.run_book.record.ended.count(task_id) - self._let_go_on.get(task_id, 0)

    def _unblocked(self) -> dict[str, int]:
        """How often a run that was cut off had ended with tasks that somebody has let go on since. Of those that wait
        for their retry the run itself has taken the loop away."""
        retries = self.settings.value("queue.on_failure") == "retry"
        ended, tasks = self.run_book.record.ended, self._tasks().by_id
        pending = [tasks[name] for name in {*ended} if name in tasks and tasks[name].status is TaskStatus.PENDING]
        return {task.id: ended.count(task.id) for task in pending if task.loop or not retries}

    def cut_off(self) -> set[str]:
        """The loops of tasks that are in progress."""
        tasks = self._tasks().by_id.values()
        return {task.loop for task in tasks if task.loop and task.status is TaskStatus.IN_PROGRESS}

    def _start(self, task: Task, left: Left) -> Start | None:
        """The loop of a task: the one that was cut off, one that goes on from where it failed, or a new one.

        None if it cannot be worked on now; then it is blocked, or passed over in this run.
        """
        try:
            return self._going_on(task, left) or self._new(task, left)
        except Busy as busy:
            self.pass_over(task, f"somebody else works on it: {busy.message}")
        except (Untrusted, TaskRefused, Undecided) as refused:
            self.pass_over(task, f"{refused.message}; {refused.hint}" if refused.hint else refused.message)
        except NoCheck as missing:
            self._block(task, f"nothing says when it is done: {missing.message}")
        return None

    def settled(self, task: Task, loop_id: str, code: int) -> Stopped | None:
        """What follows from how a loop ended; the run is over if something is returned."""
        now = reader.view(self.project.state, loop_id).state
        if now.status not in TERMINAL:
            return Stopped(code, f"{task.id} is set aside: {now.reason or 'it was interrupted'}")
        found = self._tasks().by_id.get(task.id)
        if found is None:
            self.pass_over(task, now.reason or "it is no longer in the queue")
            return None
        task = found
        self.teller.ended(task, loop_id)
        self._tell_tracker()
        if task.status is TaskStatus.PENDING and code == AGENT:
            return Stopped(AGENT, now.reason or "the agent cannot work")
        self.run_book.ended(task.id)
        self._failing = self._failing + 1 if code == AGENT else 0
        if self._failing >= FAILING:
            return Stopped(AGENT, f"the agent failed at {self._failing} tasks in a row: {now.reason}")
        if task.status is TaskStatus.BLOCKED:
            return self._failed(task)
        return None

    def _tell_tracker(self) -> None:
        if self.settings.value("queue.tracker"):
            from untilproven.queue.trackers.following import follow  # noqa: PLC0415  most projects have none

            follow(self.project, self.settings, self.teller)

    def _failed(self, task: Task) -> Stopped | None:
        match self.settings.value("queue.on_failure"):
            case "stop":
                return Stopped(UNPROVEN, f"{task.id} failed")
            case "retry" if self._tries(task.id) <= RETRIES:
                self._book.append(
                    Update(id=task.id, changes={"status": TaskStatus.PENDING, "loop": None}, source="agent"),
                    expect={task.id: TaskStatus.BLOCKED},
                )
        return None

    def _going_on(self, task: Task, left: Left) -> Start | None:
        seen = self._seen(task.loop) if task.loop else None
        if seen is None or seen.foreign or seen.state.status is Status.COMPLETED:
            return None
        state = seen.state
        if is_locked(self.project.state.loop(state.loop_id).lock):
            raise Busy(f"{state.loop_id} is running")
        if state.status in CONTINUABLE and not self._same(task, state, left):
            return None
        allowance = _within(state.allowance, state, left)
        if allowance and state.status in CONTINUABLE and approved_gate(seen.directory):
            allowance = msgspec.structs.replace(allowance, iterations=max(allowance.iterations, state.iteration + 1))
        if state.status in CONTINUABLE and reached(bounds(allowance or UNSET), spent(state)):
            return None
        make = partial(starting.take_up, self.project, state.loop_id, allowance=allowance or UNSET)
        cost = left.cost_usd if allowance is None or allowance.cost_usd is UNSET else allowance.cost_usd
        return Start(task=task, make=make, before=self.run_book.used_by(state.loop_id), cost_usd=cost)

    def _seen(self, loop_id: str) -> reader.LoopView | None:
        """None for a loop that never was, or whose maker was killed before it had begun."""
        try:
            return reader.resolve(self.project.state, loop_id)
        except (NoSuchLoop, InvalidName):  # the file may come from elsewhere
            return None
        except Damaged as error:
            loop = self.project.state.loop(loop_id)
            if is_locked(loop.lock):
                raise Busy(f"{loop_id} is being made") from error
            if never_began(loop):
                return None
            hint = f"to begin anew, move {loop.path} away"
            raise TaskRefused(f"its loop {loop_id} cannot be read: {error.message}", hint=hint) from error

    def _same(self, task: Task, state: LoopState, left: Left) -> bool:
        """Whether a loop that failed was about the task as it is now, so that another can go on from it."""
        plan = wanted(self.project, self.settings, task, left).plan
        before = state.plan or None
        return before is not None and (before.task_hash, before.checks) == (plan.task_hash, plan.checks)

    def _new(self, task: Task, left: Left) -> Start:
        asked = wanted(self.project, self.settings, task, left)
        plan = msgspec.structs.replace(asked.plan, learnings=learnings(self.project, task))
        asked = msgspec.structs.replace(asked, plan=plan)
        starting.rehearse(self.project, plan)
        name = naming.new_loop_id(f"{task.id.removeprefix('RALPH-')} {task.title}", os.urandom(4).hex())
        make = partial(self._begun, task, msgspec.structs.replace(asked, loop_id=name))
        cost = left.cost_usd if asked.allowance.cost_usd is UNSET else asked.allowance.cost_usd
        return Start(task=task, make=make, before=NOTHING, cost_usd=cost)

    def _begun(self, task: Task, asked: starting.Wanted) -> LoopWriter:
        """The task says first which loop works on it, so that whoever goes on after a kill finds the one it was."""
        queued.claim(self.project, task.id, str(asked.loop_id))
        try:
            return starting.begin(self.project, asked)
        except BaseException:
            if task.status is TaskStatus.PENDING:
                self._book.append(Update(id=task.id, changes={"status": task.status, "loop": None}, source="agent"))
            raise

    def pass_over(self, task: Task, why: str) -> None:
        self._passed_over.add(task.id)
        self.teller.passed_over(task, why)

    def _block(self, task: Task, why: str) -> None:
        queued.block(self.project, task, why, commits=commits(self.project, self.settings), note=self.teller.note)
        self.run_book.ended(task.id)
        tell_of_block(self.settings, task.id, why, self.project.root, self.teller.note)
        self.teller.passed_over(
            task, f"{why}; ralph task edit {task.id} --until CMD, then ralph task unblock {task.id}"
        )

    def _nothing_left(self) -> Stopped:
        tasks = self._tasks().by_id
        if self._only:
            task = tasks[self._only]
            if task.status is TaskStatus.DONE:
                return Stopped(0, f"{task.id} is done")
            return Stopped(UNPROVEN, f"{task.id}: {picking.why_blocked(task, tasks) or task.status}")
        open_ones = [task for task in tasks.values() if task.status not in _ENDED]
        if not open_ones:
            return Stopped(0, "every task is done" if tasks else 'there is no task; to add one: ralph task add "..."')
        left = f"{len(open_ones)} of {len(tasks)} tasks are not done, and none can be worked on"
        listed = any(task.id not in self._passed_over for task in open_ones)  # of the others it was said above
        return Stopped(UNPROVEN, f"{left}; ralph task list says why" if listed else left)

    def _tasks(self) -> Tasks:
        tasks = self._book.read()
        if tasks.damage and not self._damage_told:
            self._damage_told = True
            first = tasks.damage[0]
            more = f", and {len(tasks.damage) - 1} more" if len(tasks.damage) > 1 else ""
            self.teller.note(f"{self._book.path}: line {first.line} is left out: {first.reason}{more}")
        return tasks


def _within(allowance: Allowance | msgspec.UnsetType, state: LoopState, left: Left) -> Allowance | None:
    """What a loop may use, with no more added to what it has used than the run has left."""
    if not allowance:
        return None
    used = spent(state)
    seconds, cost = used.seconds + left.seconds, (used.cost_usd or 0.0) + left.cost_usd
    return msgspec.structs.replace(
        allowance,
        seconds=min(allowance.seconds, seconds) if allowance.seconds else seconds,
        cost_usd=cost if allowance.cost_usd is UNSET else min(allowance.cost_usd, cost),
    )
