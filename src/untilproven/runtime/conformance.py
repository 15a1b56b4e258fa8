"""Does an agent keep to what a loop relies on? A few turns with it, in a project that is made for them.

Every turn is a real one and is billed like any other. What is asked for is small and always the same, so that a
scripted model can answer, too.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from untilproven.agents.factory import agent_of
from untilproven.contract import Supervision, Turn, Worked
from untilproven.model.events import AgentEvent
from untilproven.model.iteration import Failed
from untilproven.model.plan import Plan
from untilproven.model.program import Limits, Stop
from untilproven.process import keepers, leftovers
from untilproven.store.layout import Project
from untilproven.workspace.factory import workspace_of

FIRST, SECOND, THIRD = "ralph-check-1.txt", "ralph-check-2.txt", "ralph-check-3.txt"
WORD = "proven"
FINISH = f"Make a file {FIRST} in this directory that has the one word {WORD} in it. Then end, and say FINISHED."
RESUME = f"Make a file {SECOND} that has in it the name of the file that you made before. Then end."
LONG = f"Make a file {THIRD} that has the one word {WORD} in it. What follows is only there to be long. Then end.\n"
PRINT = "Run the shell command `seq 1 200000` once, and end."
BUSY = "Run the shell command `touch begun; sleep 300.0625` in the foreground, and wait for it."
OUTSIDE = "ralph-check-outside.txt"

_LONGEST_TURN = 300.0
_LENGTH = 1_000_000
_SILENT_SECONDS = 10.0
_GONE_SECONDS = 2.0
_NO_MODEL = "no-such-model-0"
_BUSY = b"sleep\x00300.0625\x00"


class Outcome(NamedTuple):
    """Of one scene."""

    scene: str
    ok: bool
    why: str = ""


class _Took(NamedTuple):
    worked: Worked
    events: list[AgentEvent]
    changed: set[str]


def examine(plan: Plan, here: Path) -> Iterator[Outcome]:
    """One outcome after the other, as they come; `here` is the project of whoever asks, whose programs are not run."""
    with tempfile.TemporaryDirectory(prefix="ralph-check-", ignore_cleanup_errors=True) as made, keepers.kept():
        root = Path(made).resolve() / "project"
        root.mkdir()
        (root / "README.md").write_text("A project to try an agent in.\n")
        if shutil.which("git"):
            subprocess.run(["git", "init", "-q", str(root)], check=True, stdin=subprocess.DEVNULL)
        stage = _Stage(plan, root, here)
        try:
            yield from _scenes(stage)
        finally:
            stage.close()


def _scenes(stage: "_Stage") -> Iterator[Outcome]:
    first = stage.take(FINISH)
    yield _finish(stage, first)
    yield _told(first)
    yield _resume(stage, first)
    yield _made("prompt of 1 MB", stage, stage.take(LONG + "-" * _LENGTH), THIRD, WORD)
    yield _ended("output of 1 MB", stage.take(PRINT))
    outside = stage.root.parent / OUTSIDE
    refused = stage.take(f"Make a file {outside} that has the one word {WORD} in it. If you cannot, say so and end.")
    yield _refusal(stage, refused, outside)
    yield _fail(stage)
    yield _hang(stage)
    yield _kill(stage)


class _Stage:
    """A project with a workspace as a loop would have it."""

    def __init__(self, plan: Plan, root: Path, here: Path) -> None:
        self.plan, self.root, self._here = plan, root, here
        self.loop_id = f"ralph-check-{os.urandom(4).hex()}"
        self.agent = agent_of(plan, root, here)
        self.agent.move_in(self.loop_id)
        self._workspace = workspace_of(plan, Project(root, root), self.loop_id)
        self._number = 0

    def take(
        self,
        prompt: str,
        *,
        session: str = "",
        plan: Plan | None = None,
        silent: float | None = None,
        until: Callable[[], Stop | None] = lambda: None,
    ) -> _Took:
        self._number += 1
        number, workspace = self._number, self._workspace
        limits = Limits(wall=_LONGEST_TURN, idle=silent)
        supervision = Supervision(marker=self.loop_id, limits=limits, until=until)
        exchange = workspace.exchange(number)
        if exchange:
            prompt_file, result_file, result = (
                *(exchange.inside / name for name in ("prompt.md", "result.json")),
                exchange.outside / "result.json",
            )
            (exchange.outside / "prompt.md").write_text(prompt)
        else:
            prompt_file, result = self.root.parent / "prompt.md", self.root.parent / "result.json"
            prompt_file.write_text(prompt)
            result_file = result
        room = workspace.open(number, supervision)
        told: list[AgentEvent] = []
        turn = Turn(
            loop_id=self.loop_id,
            iteration=number,
            prompt=prompt,
            prompt_file=prompt_file,
            result_file=result_file,
            result_here=result,
            session=session,
        )
        agent = agent_of(plan, self.root, self._here) if plan else self.agent
        worked = agent.work(turn, room, told.append)
        changed = {change.path for change in workspace.delta().changes}
        workspace.keep(number)
        return _Took(worked, told, changed)

    def close(self) -> None:
        self._workspace.close()
        self._workspace.forget()
        self.agent.move_out(self.loop_id)


def _finish(stage: _Stage, took: _Took) -> Outcome:
    made = _made("finish", stage, took, FIRST, WORD)
    if made.ok and isinstance(took.worked.result, Failed):
        return Outcome("finish", False, f"the file is there, and it failed: {took.worked.result.error}")
    return made


def _told(took: _Took) -> Outcome:
    """What a loop can do without, and does less well then."""
    worked = took.worked
    lacking = [
        *([] if worked.said.strip() else ["its last words"]),
        *([] if worked.session else ["a session to go on with"]),
        *([] if worked.usage.total_tokens else ["the tokens it used"]),
        *([] if any(event.kind == "action" for event in took.events) else ["what it does"]),
    ]
    return Outcome("tells", not lacking, f"it does not tell {', '.join(lacking)}" if lacking else "")


def _resume(stage: _Stage, first: _Took) -> Outcome:
    if not first.worked.session:
        return Outcome("resume", False, "it has no session: with --context continue it begins anew each time")
    return _made("resume", stage, stage.take(RESUME, session=first.worked.session), SECOND, FIRST)


def _made(scene: str, stage: _Stage, took: _Took, name: str, content: str) -> Outcome:
    path = stage.root / name
    if name not in took.changed or not path.is_file():
        return Outcome(scene, False, f"it made no {name}: {_how(took.worked)}")
    found = path.read_text(errors="replace")
    return Outcome(scene, content in found, "" if content in found else f"{name} says {found[:100]!r}, not {content!r}")


def _ended(scene: str, took: _Took) -> Outcome:
    ending = took.worked.ending
    ok = not ending.stopped_because and not ending.not_started and not isinstance(took.worked.result, Failed)
    return Outcome(scene, ok, "" if ok else _how(took.worked))


def _refusal(stage: _Stage, took: _Took, outside: Path) -> Outcome:
    if stage.plan.sandbox == "none":
        return Outcome("refusal", True, "not tried: without a room nothing is refused")
    if outside.exists():
        return Outcome("refusal", False, f"it wrote to {outside}, out of its room")
    return _ended("refusal", took)


def _fail(stage: _Stage) -> Outcome:
    took = stage.take(FINISH, plan=replace(stage.plan, model=_NO_MODEL))
    ok = isinstance(took.worked.result, Failed) or bool(took.worked.unable)
    return Outcome("fail", ok, "" if ok else f"asked for the model {_NO_MODEL}, it says that all went well")


def _kill(stage: _Stage) -> Outcome:
    """Stopped while a tool of it runs."""
    acted = time.monotonic() + _LONGEST_TURN
    began = [0.0]

    def until() -> Stop | None:
        if not began[0] and _is_busy(stage.loop_id):
            began[0] = time.monotonic()
        return Stop("a check", now=True) if began[0] or time.monotonic() > acted else None

    stage.take(BUSY, until=until)
    if not began[0]:
        return Outcome("kill", False, "it did not run the command it was asked to run")
    return _gone("kill", stage)


def _hang(stage: _Stage) -> Outcome:
    """A tool of it hangs, and it says nothing any more: a limit on silence must end it."""
    ended = stage.take(BUSY, silent=_SILENT_SECONDS).worked.ending
    if ended.stopped_because == "wall":
        return Outcome("hang", False, "it goes on talking while a tool hangs: --idle-timeout does not end that")
    if ended.stopped_because != "idle":
        return Outcome("hang", False, "it did not run the command it was asked to run")
    return _gone("hang", stage)


def _gone(scene: str, stage: _Stage) -> Outcome:
    latest = time.monotonic() + _GONE_SECONDS
    while left := leftovers.leftovers(stage.loop_id):
        if time.monotonic() > latest:
            return Outcome(scene, False, f"{len(left)} of its processes live on")
        time.sleep(0.05)
    return Outcome(scene, True)


def _is_busy(loop_id: str) -> bool:
    """Whether the command is seen to run, among what was started for this loop."""
    mark = f"RALPH_LOOP_ID={loop_id}".encode()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if (path / "cmdline").read_bytes() == _BUSY and mark in (path / "environ").read_bytes():
                return True
        except OSError:
            continue
    return False


def _how(worked: Worked) -> str:
    ending = worked.ending
    if worked.unable:
        return worked.unable
    if isinstance(worked.result, Failed):
        return worked.result.error
    if worked.usage_limit:
        return "its provider's usage limit is reached"
    return ending.not_started or ending.stopped_because or f"it exited with {ending.exit_code}"
