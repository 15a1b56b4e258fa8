"""The contract: what an agent, a workspace, a room and a check are to everybody else.

Every adapter stands behind one of these; the driver knows nothing else about them.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple, Protocol

import msgspec

from untilproven.model.events import AgentEvent, Entry
from untilproven.model.iteration import Action, Continue, FileChange, IterationResult, Usage
from untilproven.model.program import Ending, Limits, Speech, Stop, Stream
from untilproven.model.state import LoopState

Output = Callable[[Stream, bytes], None]
Emit = Callable[[AgentEvent], None]


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended that was run in a room. Exactly one of the first four says why."""

    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    not_started: str = ""
    """Why it could not be started: missing, not executable."""
    output: str = ""
    """What it printed, both streams as they came, the middle cut out if it was too much."""
    seconds: float = 0.0


class Exchange(NamedTuple):
    """A directory that both sides can write to: where we find it, and where a program in the room does."""

    outside: Path
    inside: Path


class Room(Protocol):
    """A place where a program sees a tree of files. Nothing that is run in it outlives its run."""

    @property
    def root(self) -> Path:
        """The tree, as a program in the room sees it. Whoever is outside looks through the room instead."""

    def scratch(self) -> AbstractContextManager[Exchange]:
        """An empty directory for one run: what a program is to find, and what it reports."""

    def look(self, path: PurePosixPath) -> os.stat_result | None:
        """What is known of a regular file of the tree as the room has it; None if there is none, or a link is on the
        way to it."""

    def read(self, path: PurePosixPath, limit: int) -> bytes | None:
        """The same for what is in it; None also if it is larger than that."""

    def find(self, pattern: str) -> list[PurePosixPath]:
        """The regular files of the tree whose paths match, `*` within a name and `**` across directories."""

    def run(self, command: str | Sequence[str], *, timeout: float, env: Mapping[str, str] | None = None) -> Ran:
        """Run a program, or a line of shell, to its end. `env` is added to what the room gives every program."""


class AgentRoom(Room, Protocol):
    """A room in which an agent works, watched by whoever opened it."""

    def stream(
        self,
        command: str | Sequence[str],
        *,
        output: Output,
        stdin: bytes | Speech = b"",
        env: Mapping[str, str] | None = None,
        pulse: Callable[[], None] = lambda: None,
    ) -> Ending:
        """The same, handing over what it prints as it comes; whoever opened the room may stop it. `pulse` is called
        about twice a second meanwhile. With a `Speech`, `output` and `pulse` may go on talking to it."""


class Supervision(msgspec.Struct, frozen=True, kw_only=True):
    """What whoever opens a room watches over: limits, wishes to stop, and a look at every byte."""

    marker: str
    """What leftovers are found by, should the runner be killed."""
    limits: Limits = Limits()
    until: Callable[[], Stop | None] = lambda: None
    """Called at least twice a second, and at once when something in `wake` can be read."""
    wake: Sequence[int] = ()
    tee: Output = lambda _stream, _chunk: None
    beside: Callable[[], Stop | None] = lambda: None
    """What there is to do while a program starts; called once for each, when it is on its way."""


class Delta(msgspec.Struct, frozen=True, kw_only=True):
    """What an iteration changed, and the tree it led to."""

    tree: str
    changes: tuple[FileChange, ...] = ()
    notes: tuple[str, ...] = ()
    """What was refused, neutralised or could not be seen; for the record and the user."""


When = Literal["start", "before", "now"]


class Differs(NamedTuple):
    """One path then and now."""

    was_there: bool
    is_there: bool


class Conflict(NamedTuple):
    """A path that the user changed while the agent worked: theirs stays."""

    path: str
    wanted: str
    """What the agent did with it: changed or deleted."""
    aside: Path | None
    """Where the agent's version is kept."""


class Workspace(Protocol):
    """The only one that touches the user's tree."""

    @property
    def kind(self) -> str:
        """overlay, shadow or none: how well the tree is protected, for the banner and the receipt"""

    @property
    def can_discard(self) -> bool:
        """Whether what an iteration did can be taken back."""

    @property
    def advice(self) -> tuple[str, ...]:
        """What an agent should know about its room, a sentence each."""

    def tree(self, *, fresh: bool = False) -> str:
        """A hash of the tree as the next iteration will find it; `fresh` looks at every file again, for the user works
        there too."""

    def open(self, iteration: int, supervision: Supervision) -> AgentRoom:
        """The room in which the agent works on this iteration."""

    def exchange(self, iteration: int) -> Exchange | None:
        """A directory shared with the agent's room; None if a program in the room sees every file as we do."""

    def delta(self) -> Delta:
        """What has changed since the room was opened."""

    def read(self, path: str, when: When, limit: int) -> bytes | None:
        """What a regular file says in the candidate (`now`), said before this iteration, or when the loop began; None
        if there is none, if it is larger than that, or if that is not known."""

    def since_start(self) -> Mapping[str, Differs]:
        """Every path at which the candidate differs from the tree as it was when the loop began."""

    def expect_check(self, supervision: Supervision) -> None:
        """A check of the candidate tree is to come at once, as far as one can tell: have its room built meanwhile."""

    def checking(self, supervision: Supervision, as_it_was: Collection[str] = ()) -> Room:
        """A room with the candidate tree, for checks; the paths named are as they were when the loop began, or absent
        if they were not there."""

    def make_ready(self) -> None:
        """There is time, and the candidate may be kept: do what would come first then and changes nothing yet."""

    def keep(self, iteration: int) -> tuple[Conflict, ...]:
        """Make the iteration's changes part of the tree; where the user changed the same, theirs stays and is returned.
        Doing it again changes nothing."""

    @property
    def undelivered(self) -> bool:
        """Whether something that was kept is not in the user's tree."""

    def deliver(self) -> tuple[Conflict, ...] | None:
        """Put what was kept into the user's tree, if it is not there yet. Where others changed the same, theirs stays
        and is returned, and nothing is put there. None if what would be put there is not what was checked: it is now
        the candidate."""

    def discard(self, iteration: int) -> None:
        """Take the iteration's changes back, where that is possible."""

    def park(self, iteration: int) -> None:
        """Hold the iteration's changes back until somebody has decided: the tree is without them, and they can still
        become part of it."""

    def bring_back(self, iteration: int) -> tuple[Conflict, ...]:
        """Make the tree what it was after this iteration, whatever has become of it; where the user changed the same
        since, theirs stays and is returned."""

    def recover(self, kept: int | None) -> tuple[Conflict, ...]:
        """At the start of a process: bring to its end what another was killed in. `kept` is the iteration that was
        kept last."""

    def close(self) -> None:
        """At the end of a process; the loop may go on in another."""

    def forget(self) -> None:
        """The loop has ended and will not go on."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One iteration, as an agent is given it."""

    loop_id: str
    iteration: int
    prompt: str
    prompt_file: Path
    """The same words in a file, as a program in the room finds it."""
    result_file: Path
    """Where a program in the room may write its result as JSON."""
    result_here: Path
    """The same file, as we find it."""
    tree: str = ""
    """A hash of the tree it finds."""
    session: str = ""
    """The agent's own session to go on with; empty for a fresh one."""
    budget_usd: float | None = None
    """What the loop has left to spend, if that is limited and known."""
    conceal: Callable[[Mapping[str, str]], None] = lambda _secrets: None
    """Takes what nobody is to keep, by names that may stand in its place: the tokens of a login that is lent."""


class UsageLimit(msgspec.Struct, frozen=True):
    """The provider's limit, read from what the agent reports in a structured way; never from text."""

    resume_at: datetime | None = None


class Worked(msgspec.Struct, frozen=True, kw_only=True):
    """How one iteration of an agent ended."""

    ending: Ending
    result: IterationResult = Continue(reason="")
    said: str = ""
    """Its own last words, the only place where a promise is looked for."""
    usage: Usage = Usage()
    uncounted: bool = False
    """Whether it used what it did not tell, or told what it did not use: what `usage` leaves out is unknown then."""
    usage_limit: UsageLimit | None = None
    actions: tuple[Action, ...] = ()
    session: str = ""
    expected_tree: str = ""
    """The hash of the tree that it must have left; empty if that does not matter."""
    diverged: str = ""
    """In what it differs from what was recorded."""
    unable: str = ""
    """Why it will not work the next time either, until somebody sees to it: nobody is logged in, a key is refused."""


class Agent(Protocol):
    """Does the work: one iteration at a time, telling what it does as it goes. It decides nothing else."""

    @property
    def name(self) -> str:
        """How the user knows it."""

    def missing(self, root: Path) -> str:
        """Why it cannot be started from here, in a sentence; empty if nothing speaks against it."""

    def move_in(self, loop_id: str) -> None:
        """Before the first room of a loop is opened: make what is to be there."""

    def move_out(self, loop_id: str) -> None:
        """The loop has ended: nothing that was made for it is left."""

    def work(self, turn: Turn, room: AgentRoom, emit: Emit) -> Worked:
        """Run one iteration in the room to its end, or until whoever opened the room stops it."""


class TestResult(msgspec.Struct, frozen=True):
    """One test, by the name its runner gives it."""

    __test__ = False  # its name looks like a test class to pytest

    name: str
    outcome: str
    """passed, failed, error or skipped"""
    message: str = ""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found. `broken` means that it could not be run at all, which is not the same as not yet."""

    passed: bool
    broken: bool = False
    missing: str = ""
    """A program that the check names by its path in the tree, and that is not there."""
    output: str = ""
    seconds: float = 0.0
    tests: tuple[TestResult, ...] | None = None
    only_with: tuple[str, ...] = ()
    """What it needs the agent's version of to pass, although that was to stay as it was."""
    canary: Literal["", "seen", "hidden", "impossible"] = ""
    """Whether a failing test that was planted was reported as failing."""
    new_tests: tuple[str, ...] = ()
    """Tests that pass now and fail on the code as it was."""
    flaky: tuple[str, ...] = ()
    """Tests that failed and then passed on the same tree."""


class Check(Protocol):
    """Is it done? Run in a room, returns evidence."""

    @property
    def name(self) -> str:
        """How the user knows it: the command, the file."""

    @property
    def kind(self) -> str:
        """command, tests, file_exists or validate"""

    def run(self, room: Room, *, timeout: float) -> Evidence:
        """Find out, without changing anything outside the room."""


class Watcher(Protocol):
    """Looks on while a loop runs. It decides nothing, and nothing that becomes of it reaches the loop."""

    def happened(self, entry: Entry, state: LoopState) -> None:
        """Something was recorded, or an agent said or did something; the state may already know what came after it."""

    def tick(self) -> None:
        """Time has passed: called about twice a second while something runs."""

    def noted(self, words: str) -> None:
        """Something to say that is not recorded: a wish was heard."""

    def close(self) -> None:
        """Nothing more comes; closing twice is fine."""
