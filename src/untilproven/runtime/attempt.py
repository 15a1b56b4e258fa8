"""One iteration: tell the agent, let it work under watch, observe what came of it."""

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

import msgspec
from msgspec import UNSET, UnsetType

from untilproven.contract import Delta, Supervision, Turn, Worked
from untilproven.core import prompt, telling
from untilproven.core.decide import how_it_ended
from untilproven.core.ending import CONSEQUENCES
from untilproven.core.redaction import Redacted, Redaction
from untilproven.core.text import cut, text
from untilproven.errors import RalphError
from untilproven.model import events
from untilproven.model.iteration import Action, Complete, Failed, IterationResult
from untilproven.model.program import Limits, Stop, Stream
from untilproven.process.spool import Spool
from untilproven.runtime.index import index_files
from untilproven.runtime.meter import Meter
from untilproven.store import clock, files
from untilproven.store.journal import encode, header_of

if TYPE_CHECKING:
    from untilproven.runtime.driver import Driver

_CLAIM_BYTES = 500
_NOT_KEPT = "the process that keeps it together was killed"
_CONFLICT_BYTES = 24 * 1024
"""Of all files together."""
_CONFLICT_READ = 4 * files.MIB
_PROMPT, _RESULT = "prompt.md", "result.json"
_LISTED = 1_000
"""How many actions and changed files of one iteration the journal names; the record says how many there were."""


def run(driver: "Driver", number: int) -> None:
    """Run the agent once; at the end the journal says what it did."""
    cast, loop = driver.cast, driver.writer.loop
    told = driver.redaction.text(_prompt(driver))
    tree = cast.workspace.tree()
    driver.record(events.IterationStarted(iteration=number, tree=tree))
    cast.hooks.on_iteration_start(driver.hooks_task, number)
    with _Attempt(driver, number) as attempt:
        room = cast.workspace.open(number, attempt.supervision())  # it is being built while the rest is made ready
        _set_aside(driver, number)
        loop.receipt.unlink(missing_ok=True)
        files.replace(loop.prompt(number), text(told).encode(), durable=False)
        turn = msgspec.structs.replace(_turn(driver, number, told), tree=tree, budget_usd=attempt.budget)
        worked = cast.agent.work(turn, room, attempt.emit)
        _clean(loop.results / f"{number}.json", driver.redaction)
        delta = cast.workspace.delta()
        if driver.course.plan.mode in {"logged", "seeded"}:
            from untilproven.runtime import recording  # noqa: PLC0415  few loops are recorded

            recording.keep(driver, turn, worked, delta)
        driver.record(attempt.observed(told, worked, delta))
    lap = driver.course.lap
    if lap and delta.changes and driver.course.plan.checks and CONSEQUENCES[how_it_ended(lap)].checked:
        cast.workspace.expect_check(driver.supervision())


def _turn(driver: "Driver", number: int, told: str) -> Turn:
    """The loop's own directory is in no room: there, prompt and result pass through a directory that both sides see."""
    loop = driver.writer.loop
    exchange = driver.cast.workspace.exchange(number)
    prompt_file, result = loop.prompt(number), loop.results / f"{number}.json"
    if exchange:
        (exchange.outside / _PROMPT).write_bytes(text(told).encode())
        prompt_file, result = exchange.inside / _PROMPT, exchange.outside / _RESULT
    return Turn(
        loop_id=loop.loop_id,
        iteration=number,
        prompt=told,
        prompt_file=prompt_file,
        result_file=exchange.inside / _RESULT if exchange else result,
        result_here=result,
        session=driver.course.session if driver.course.plan.context == "continue" else "",
        conceal=driver.redaction.add,
    )


def _clean(result: Path, redaction: Redaction) -> None:
    """Where there is no room, the result is kept as the agent wrote it."""
    with contextlib.suppress(OSError, RalphError):
        written = files.read(result)
        if (cleaned := redaction.data(written)) != written:
            files.replace(result, cleaned, durable=False)


def _prompt(driver: "Driver") -> str:
    cast, course = driver.cast, driver.course
    briefing = telling.briefing(
        driver.state,
        course,
        task=cast.task,
        index=index_files(cast.project.root),
        conflict=_conflict(course.returned),
        can_discard=cast.workspace.can_discard,
        advice=cast.workspace.advice,
    )
    goes_on = course.plan.context == "continue" and course.session
    return prompt.continuation(briefing) if goes_on else prompt.first_prompt(briefing)


def _conflict(gate: events.GateOpened | None) -> dict[str, str]:
    """What the agent had made of the files that others changed meanwhile, as it was put aside."""
    paths = (gate.data or {}).get("paths", ()) if gate else ()
    found: dict[str, str] = {}
    for one in paths:
        shown = "(it was deleted)" if one["agent"] == "deleted" else "(it cannot be shown)"
        with contextlib.suppress(OSError, RalphError):
            if one["kept_in"]:
                shown = files.read(Path(one["kept_in"]), _CONFLICT_READ).decode("utf-8", "replace")
        found[one["path"]] = cut(shown, _CONFLICT_BYTES // len(paths))
    return found


def _set_aside(driver: "Driver", number: int) -> None:
    """What an earlier attempt at this iteration left is kept under another name; the prompt, its sign, goes last."""
    loop = driver.writer.loop
    prompt_file = loop.prompt(number)
    if not prompt_file.exists():
        return
    again = 1
    while loop.attempt(prompt_file, again).exists():
        again += 1
    for path in (loop.output(number), loop.raw(number, "stdout"), loop.raw(number, "stderr"), prompt_file):
        with files.explained(path), contextlib.suppress(FileNotFoundError):
            path.rename(loop.attempt(path, again))


class _Attempt:
    """The iteration under way: what it may still use, and everything it emits on its way to where it is kept."""

    def __init__(self, driver: "Driver", number: int) -> None:
        self._driver = driver
        self._number = number
        self._began = time.monotonic()
        self._meter = Meter(driver.state)
        self._spools: dict[Stream, Spool] = {}
        self._redacted: dict[Stream, Redacted] = {}
        self._kept: BinaryIO | None = None
        self._actions: list[Action] = []
        self._interrupted = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for stream, spool in self._spools.items():
            spool.write(self._redacted[stream].finish())
            spool.finish()
        if self._kept:
            self._kept.close()

    @property
    def budget(self) -> float | None:
        """In dollars, if the loop has a limit and what it has used is known."""
        return self._meter.left_usd

    def supervision(self) -> Supervision:
        allowance = self._driver.state.allowance
        idle = (allowance.idle_seconds if allowance else UNSET) or None
        output = (allowance.output_bytes if allowance else UNSET) or None
        return Supervision(
            marker=self._driver.writer.loop.loop_id,
            limits=Limits(wall=self._meter.wall, idle=idle, output=output),
            until=self._until,
            wake=self._driver.wishes.fds,
            tee=self._tee,
            beside=self._driver.writer.keep_up,
        )

    def _until(self) -> Stop | None:
        stop = self._driver.hurry()
        if stop:
            self._interrupted = stop.reason
            return stop
        return Stop(over) if (over := self._meter.over) else None

    def _tee(self, stream: Stream, chunk: bytes) -> None:
        if stream not in self._spools:
            self._spools[stream] = Spool(self._driver.writer.loop.raw(self._number, stream))
            self._redacted[stream] = Redacted(self._driver.redaction)
        self._spools[stream].write(self._redacted[stream].feed(chunk))

    def emit(self, event: events.AgentEvent) -> None:
        """Keep it, show it, count it."""
        driver = self._driver
        event, state = driver.redaction.record(event), driver.state
        header = header_of(state.loop_id, state.journal_seq or 1, clock.now(), event)
        entry = events.Entry(header, event)
        if self._kept is None:
            self._kept = files.append_to(driver.writer.loop.output(self._number))
        self._kept.write(encode(entry))
        self._kept.flush()
        driver.tell()
        driver.show(entry, state)
        self._meter.add(event)
        if event.kind == "action" and event.data:
            action = Action(kind=event.data.get("kind", "bash"), target=str(event.data.get("target", "")), at=header.ts)
            self._actions.append(action)
            driver.cast.hooks.on_action(action)

    def observed(self, told: str, worked: Worked, delta: Delta) -> events.IterationObserved:
        ending, diverged = worked.ending, worked.diverged or _other_tree(worked, delta)
        return events.IterationObserved(
            iteration=self._number,
            delta=delta.changes[:_LISTED],
            actions=(worked.actions or tuple(self._actions))[:_LISTED],
            tree=delta.tree,
            result=_result(worked, diverged),
            ended=_words(worked) or UNSET,
            cut=self._cut(ending.stopped_because) or UNSET,
            interrupted=self._interrupted or UNSET,
            not_started=ending.not_started or UNSET,
            diverged=diverged or UNSET,
            unable=cut(text(worked.unable), _CLAIM_BYTES) or UNSET,
            claim=self._claim(told, worked),
            usage=self._meter.total(worked),
            usage_limit=True if worked.usage_limit else UNSET,
            resume_at=(worked.usage_limit.resume_at or UNSET) if worked.usage_limit else UNSET,
            session=worked.session or UNSET,
            notes=delta.notes or UNSET,
            duration_seconds=round(time.monotonic() - self._began, 6),
        )

    def _cut(self, because: str) -> str:
        """Which limit stopped it; empty if none did."""
        if self._interrupted or because in {"", "keeper"}:
            return ""
        if because == "wall":
            return self._meter.wall_limit
        return self._meter.over if because.startswith("asked") else because

    def _claim(self, told: str, worked: Worked) -> str | UnsetType:
        from untilproven.core.promise import promised  # noqa: PLC0415  not loaded before the agent's first turn

        promise = self._driver.course.plan.promise
        if promise and promised(worked.said, promise, prompt=told):
            return cut(f"<promise>{promise}</promise>", _CLAIM_BYTES)
        return "status: complete" if isinstance(worked.result, Complete) else UNSET


def _result(worked: Worked, diverged: str) -> IterationResult:
    if worked.ending.stopped_because == "keeper":
        return Failed(error=_NOT_KEPT)
    return Failed(error=diverged) if diverged else worked.result


def _other_tree(worked: Worked, delta: Delta) -> str:
    return "it leaves another tree" if worked.expected_tree not in {"", delta.tree} else ""


def _words(worked: Worked) -> str:
    ending = worked.ending
    if ending.not_started:
        return f"cannot be started: {ending.not_started}"
    if ending.stopped_because:
        return f"stopped: {ending.stopped_because}"
    if ending.signal is not None:
        return f"ended by signal {ending.signal}"
    return f"exited with {ending.exit_code}" if ending.exit_code else ""
