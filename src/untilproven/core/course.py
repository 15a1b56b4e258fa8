"""How far a loop has come: what the next decision needs of the past, folded from the journal, event by event.

The same fold serves a running loop and one that is taken over after a kill, so both decide alike.
"""

import re
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from untilproven.core import quality, stuck
from untilproven.core.text import cut
from untilproven.model import events
from untilproven.model.fields import Decision
from untilproven.model.iteration import Continue, Failed, Fate, Finding
from untilproven.model.plan import Plan
from untilproven.model.status import Status

REMEMBERED = 50
"""How many iterations back are looked at for a loop that turns in circles, or for a usual price."""

TOLD_BYTES = 8192
"""How much of what a check printed is told to the agent."""

Checks = dict[str, events.CheckFinished]
_NAMED = 5
_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+")


class Lap(msgspec.Struct, frozen=True, kw_only=True):
    """One iteration, under way or done."""

    number: int
    observed: events.IterationObserved | None = None
    judged: bool = False
    """The guard has looked at what it changed."""
    measured: bool = False
    findings: tuple[Finding, ...] = ()
    """What the guard saw that somebody has not accepted."""
    checks: Checks = {}
    score: float | None = None
    finished: events.IterationFinished | None = None


class Course(msgspec.Struct, frozen=True, kw_only=True):
    plan: Plan
    control: Checks = {}
    baselined: bool = False
    """How things were before the work has been measured."""
    start_tree: str = ""
    touched: bool = False
    """Whether an agent has changed the tree, or was killed while it could: what checks leave behind is no work."""
    lap: Lap | None = None
    """The iteration under way."""
    last: Lap | None = None
    """The iteration that finished last."""
    pardoned: bool = False
    """A human has seen to what the last iteration left open, or time has: it stops the loop no more."""
    failures: int = 0
    """How many times in a row the agent failed."""
    limited: int = 0
    """How many times in a row the provider's limit was in the way."""
    costs: tuple[float, ...] = ()
    steps: tuple[stuck.Step, ...] = ()
    session: str = ""
    moved: bool = False
    """The tree is not the one that the last iteration's checks saw: they are run again, once."""
    insisted: int = 0
    """How many times in a row the work passed only with tests or dependencies that were to stay as they were."""
    verdicts: tuple[Lap, ...] = ()
    """The last iterations that were checked: a verdict on a tree is not computed twice."""
    committed: bool = False
    """The work of the last iteration is in a commit."""
    gate: events.GateOpened | None = None
    """What a human has to decide before the loop goes on."""
    returned: events.GateOpened | None = None
    """What others changed while the agent worked on the same, until the agent has been told."""
    given_back: bool = False
    """That was so once: the next time it is a human's."""
    discarded: str = ""
    """Why the iteration before was thrown away, until the agent has been told."""
    refusals: tuple[str, ...] = ()
    """What the guard refused in the iterations before, one after the other, each by the kind of it."""
    approved: int = 0
    """An iteration that was held back and that a human has accepted; it has yet to become part of the tree."""
    accepted: frozenset[str] = frozenset()
    """Findings that a human has accepted, by their ids."""
    noticed: frozenset[str] = frozenset()
    """Findings that are on the record, by their ids."""
    scores: tuple[quality.Scored, ...] = ()
    """Of the iterations that were kept and for which there is evidence."""

    @property
    def stuck(self) -> stuck.Verdict | None:
        return stuck.verdict(self.start_tree, self.steps)

    @property
    def plateau(self) -> bool:
        return quality.on_plateau(self.scores)

    @property
    def clean_gains(self) -> int:
        return quality.gains_in_a_row(self.scores)


def fold(course: Course, event: events.Event | None) -> Course:  # noqa: C901, PLR0912  one case for each kind of event
    """What is known after this event."""
    match event:
        case events.LoopStarted():
            start = str(event.state.get("start_tree", ""))
            touched = bool(event.state.get("touched"))
            return replace(course, start_tree=start, touched=touched, costs=_usual_cost(event.state))
        case events.CheckFinished():
            return _checked(course, event)
        case events.IterationStarted():
            start = course.start_tree or event.tree or ""
            return replace(course, lap=Lap(number=event.iteration), start_tree=start, discarded="")
        case events.IterationObserved():
            lap = Lap(number=event.iteration, observed=_brief(event))
            session, touched = event.session or course.session, course.touched or bool(event.delta)
            return replace(course, lap=lap, session=session, touched=touched)
        case events.IterationFinished():
            return _finished(course, event)
        case events.LoopAdopted():
            why = "the runner was killed while you worked" if course.lap else course.discarded
            return replace(course, lap=None, discarded=why, touched=course.touched or course.lap is not None)
        case events.BaselineCaptured():
            return replace(course, baselined=True)
        case events.TreeMeasured():
            return replace(course, lap=replace(course.lap, measured=True)) if course.lap else course
        case events.QualityScored():
            return replace(course, lap=replace(course.lap, score=event.score)) if course.lap else course
        case events.GuardFinding():
            return _found(course, event)
        case events.GuardFinished():
            return replace(course, lap=replace(course.lap, judged=True)) if course.lap else course
        case events.TreeRestored():
            return _restored(course, event)
        case events.WorkCommitted():
            return replace(course, committed=True)
        case events.TreeChanged():
            return _moved(course, event)
        case events.GateOpened():
            return _opened(course, event)
        case events.GateDecided():
            return _decided(course, event)
        case events.StatusChanged(to=Status.RUNNING):
            return _resumed(course)
    return course


def _usual_cost(state: dict[str, Any]) -> tuple[float, ...]:
    """What an iteration cost in the loop that this one continues, on average; nothing for a new loop."""
    metrics = state.get("metrics") or {}
    priced = metrics.get("total_iterations", 0) - metrics.get("unknown_cost_iterations", 0)
    return (metrics["total_cost_usd"] / priced,) if priced > 0 and "total_cost_usd" in metrics else ()


def _checked(course: Course, event: events.CheckFinished) -> Course:
    known = replace(event, output=cut(event.output, TOLD_BYTES)) if event.output else event
    if event.iteration == 0:
        return replace(course, control={**course.control, event.check: known})
    known = replace(known, outcomes=UNSET)
    if course.lap and course.lap.number == event.iteration:
        return replace(course, lap=_with(course.lap, known))
    if course.last and course.last.number == event.iteration:
        return replace(course, last=_with(course.last, known))
    return course


def _with(lap: Lap, check: events.CheckFinished) -> Lap:
    return replace(lap, checks={**lap.checks, check.check: check})


def _brief(event: events.IterationObserved) -> events.IterationObserved:
    """Without the lists that no decision looks at, however long they are."""
    return replace(event, delta=event.delta[:1], actions=())


def _finished(course: Course, event: events.IterationFinished) -> Course:
    lap = replace(course.lap or Lap(number=event.iteration), finished=event)
    failed = isinstance(event.result, Failed) and event.fate is Fate.DISCARDED
    cost = event.usage.cost_usd if event.usage else UNSET
    return replace(
        course,
        lap=None,
        last=lap,
        pardoned=False,
        moved=False,
        committed=False,
        insisted=course.insisted + 1 if any(_insists(check) for check in lap.checks.values()) else 0,
        verdicts=(*course.verdicts, lap)[-REMEMBERED:] if lap.checks else course.verdicts,
        failures=course.failures + 1 if failed else 0,
        limited=course.limited + 1 if lap.observed and lap.observed.usage_limit else 0,
        costs=(*course.costs, cost)[-REMEMBERED:] if cost is not UNSET else course.costs,
        steps=(*course.steps, _step(course, lap))[-REMEMBERED:] if event.counted else course.steps,
        returned=None,
        discarded=_why_discarded(lap) if event.fate is not Fate.KEPT else "",
        scores=_scores(course, lap),
        refusals=(*course.refusals, refused)[-REMEMBERED:] if (refused := _refused(lap)) else (),
    )


def _insists(check: events.CheckFinished) -> bool:
    """Green but for what was to stay as it was."""
    return bool(check.only_with or (check.passed and check.lost))


def _step(course: Course, lap: Lap) -> stuck.Step:
    tree = lap.observed.tree if lap.observed else UNSET
    before = course.steps[-1].tree if course.steps else course.start_tree
    return stuck.Step(tree or before, _fingerprint(lap))


def _fingerprint(lap: Lap) -> str:
    """How it failed, without what differs from run to run: times, addresses, line numbers."""
    if lap.finished and isinstance(lap.finished.result, Failed):
        said = lap.finished.result.error
    else:
        said = "\n".join(str(check.output or check.check) for check in lap.checks.values() if not check.passed)
    return blake2b(_VARYING.sub("0", said).encode(), digest_size=8).hexdigest() if said else ""


def _scores(course: Course, lap: Lap) -> tuple[quality.Scored, ...]:
    if lap.score is None or lap.finished is None or lap.finished.fate is not Fate.KEPT:
        return course.scores
    best = quality.best(course.scores)
    kept = course.scores[-REMEMBERED:]
    scored = quality.Scored(lap.number, lap.score, clean=not lap.findings)
    return (*([best] if best and best not in kept else []), *kept, scored)


def _found(course: Course, event: events.GuardFinding) -> Course:
    course = replace(course, noticed=course.noticed | {id_of(event.finding)})
    if course.lap is None or id_of(event.finding) in course.accepted:
        return course
    return replace(course, lap=replace(course.lap, findings=(*course.lap.findings, event.finding)))


def id_of(finding: Finding) -> str:
    return str((finding.details or {}).get("id", finding.pattern_id))


def _refused(lap: Lap) -> str:
    """What the guard refused, so that the same can be told from something else; empty if nothing."""
    return ", ".join(sorted({finding.pattern_id for finding in lap.findings if finding.blocking}))


def _decided(course: Course, event: events.GateDecided) -> Course:
    """An iteration that was held back becomes part of the tree, or the agent is told why it does not."""
    gate, last = course.gate, course.last
    course = replace(course, gate=None)
    if gate and gate.kind == events.CONFLICT and event.by == "policy":
        return replace(course, returned=gate, given_back=True)
    if gate and last is None and event.decision is Decision.APPROVE:
        return _brought(course, gate)
    if gate is None or last is None or gate.kind not in {events.DESTRUCTIVE, events.RECOVERY}:
        return course
    if event.decision is Decision.APPROVE:
        accepted = course.accepted | {id_of(finding) for finding in last.findings}
        return replace(course, approved=last.number, accepted=accepted, refusals=())
    return replace(course, pardoned=True)


def _brought(course: Course, gate: events.GateOpened) -> Course:
    """A human has accepted the last iteration of the loop that this one goes on from: it is where this one begins."""
    last = Lap(
        number=gate.iteration,
        observed=events.IterationObserved(iteration=gate.iteration, delta=()),
        finished=events.IterationFinished(
            iteration=gate.iteration,
            result=Continue(reason="held back"),
            fate=Fate.DISCARDED,
            counted=False,
            progressed=False,
            duration_seconds=0.0,
        ),
    )
    found = frozenset(map(str, (gate.data or {}).get("findings", ())))
    return replace(course, last=last, approved=gate.iteration, accepted=course.accepted | found)


def _restored(course: Course, event: events.TreeRestored) -> Course:
    """What was held back is part of the tree now; no check has seen it there."""
    last = course.last
    if last is None or last.number != event.iteration or last.finished is None or last.observed is None:
        return replace(course, approved=0)
    kept = replace(
        last,
        findings=(),
        checks={},
        finished=replace(last.finished, fate=Fate.KEPT),
        observed=replace(last.observed, tree=event.tree),
    )
    return replace(course, approved=0, moved=True, touched=True, discarded="", last=kept)


def _why_discarded(lap: Lap) -> str:
    if blocking := [finding for finding in lap.findings if finding.blocking]:
        return "; ".join(finding.message or finding.pattern_name for finding in blocking[:_NAMED])
    if lap.finished and isinstance(lap.finished.result, Failed):
        return f"you ended with an error: {lap.finished.result.error}"
    return "it was stopped at once"


def _moved(course: Course, event: events.TreeChanged) -> Course:
    last = course.last
    if last is None or last.observed is None or last.number != event.iteration:
        return course
    return replace(course, moved=True, last=replace(last, checks={}, observed=replace(last.observed, tree=event.tree)))


def _opened(course: Course, gate: events.GateOpened) -> Course:
    """Where the user's version of a file stayed, no check has seen the tree that is there now."""
    if course.last is None or gate.kind != events.CONFLICT:
        return replace(course, gate=gate)
    return replace(course, gate=gate, moved=True, last=replace(course.last, checks={}))


def _resumed(course: Course) -> Course:
    """Somebody has seen to it: what stopped the loop is looked at again, and is no reason to stop by itself.

    Once there has been work, the control cannot be run again: it says how things were before.
    """
    control = course.control
    if not course.start_tree:
        control = {name: check for name, check in control.items() if not check.broken}
    last = course.last
    if last:
        settled = {name: check for name, check in last.checks.items() if not (check.broken or check.only_with)}
        last = replace(last, checks=settled)
    return replace(course, control=control, last=last, pardoned=True, failures=0, insisted=0, verdicts=(), gate=None)


def verdict_on(course: Course, tree: str, check: str) -> events.CheckFinished | None:
    """What a check said of this very tree in an earlier iteration, unless it could not be run then."""
    for lap in reversed(course.verdicts):
        found = lap.checks.get(check)
        if found and not found.broken and lap.observed and lap.observed.tree == tree:
            return found
    return None
