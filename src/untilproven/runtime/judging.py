"""Was it honest? What an iteration changed is compared with the tree as it was when the loop began, and with the tree
before the iteration: what was slipped in earlier is seen as well as what was taken away again."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from msgspec import UNSET

from untilproven.checks.protected import is_allowed
from untilproven.contract import When, Workspace
from untilproven.core.course import id_of
from untilproven.core.decide import how_it_ended
from untilproven.core.ending import CONSEQUENCES
from untilproven.core.text import cut, text
from untilproven.guard.change import Change
from untilproven.guard.finding import Finding as Seen
from untilproven.guard.finding import Severity as Weight
from untilproven.guard.finding import Signal
from untilproven.guard.judging import weigh
from untilproven.guard.marks import Marks, marked
from untilproven.model import events
from untilproven.model.fields import Severity
from untilproven.model.iteration import Finding
from untilproven.model.persistence import RegressionDetails, RegressionEvent, RegressionType
from untilproven.model.program import Stop
from untilproven.runtime import checking
from untilproven.runtime.boundaries import crossed
from untilproven.store import clock

if TYPE_CHECKING:
    from untilproven.runtime.driver import Driver

_LARGEST = 1024 * 1024
_LISTED = 20
_MANY, _LITTLE = 10, 10.0
"""More iterations than that, for fewer points than that."""
_SHOWN = 400
_NAMES = {RegressionType.TEST_DELETION: "deleted_tests", RegressionType.TEST_SKIPPING: "skipped_tests"}
_REFUSED = Stop("what was changed is refused", now=True)


def run(driver: "Driver", number: int, checks: tuple[str, ...]) -> None:
    """Look at what the iteration changed, while the first of these checks runs; at the end the journal says what was
    found. Work that is refused is not checked to the end."""
    look = _Look(driver, number)
    if checks:
        checking.run(driver, number, checks, look)
    look()


class _Look:
    """What is looked at is read before a check can write to it. The guard is asked once the check is on its way, or the
    two would get in each other's way."""

    def __init__(self, driver: "Driver", number: int) -> None:
        self._driver, self._number = driver, number
        began, workspace = time.monotonic(), driver.cast.workspace
        self._differing = workspace.since_start()
        self._mine = [change.path for change in workspace.delta().changes]
        now = {path: workspace.read(path, "now", _LARGEST) for path in dict.fromkeys((*self._differing, *self._mine))}
        self._since_start = _changes(workspace, self._differing, "start", now)
        self._since_before = _changes(workspace, self._mine, "before", now)
        self._seconds = time.monotonic() - began
        self._done = False

    def __call__(self) -> Stop | None:
        if not self._done:
            self._done = True
            self._look()
        lap = self._driver.course.lap
        return None if lap is None or CONSEQUENCES[how_it_ended(lap)].checked else _REFUSED

    def _look(self) -> None:
        driver, number, differing, mine = self._driver, self._number, self._differing, self._mine
        began = time.monotonic()
        driver.jury.ask(self._since_start, self._since_before, task=driver.cast.task)
        driver.cast.workspace.make_ready()
        since_start, since_before = driver.jury.answer(driver.tick)
        found = {one.id: one for one in (*since_before.findings, *since_start.findings, *_getting_nowhere(driver))}
        allowed = driver.state.allowance.test_edits if driver.state.allowance else ()
        marks = Marks(driver.cast.project.root).valid(clock.now())
        heard = [
            finding
            for one in sorted(marked(found.values(), marks), key=_gravest)
            if (finding := recorded(one, allowed=is_allowed(one.path, allowed))).blocking
            or one.id not in _known(driver)
        ]
        bounds = crossed(dict.fromkeys((*differing, *mine)), driver.course.plan.never_touch)
        heard += [one for one in bounds if id_of(one) not in driver.course.accepted]
        now = clock.now()
        regressions = _regressions(driver, number, heard, now)
        said = Counter(mark.verdict for name, mark in marks.items() if name in driver.course.noticed or name in found)
        not_analysed = {one.path: one.reason for one in (*since_start.not_analysed, *since_before.not_analysed)}
        driver.record(
            *(
                events.GuardFinding(iteration=number, finding=one, regression=regressions.get(id_of(one), UNSET))
                for one in heard
            ),
            events.GuardFinished(
                iteration=number,
                files=len({*differing, *mine}),
                duration_seconds=round(self._seconds + time.monotonic() - began, 6),
                not_analysed=tuple(f"{text(path)}: {why}" for path, why in sorted(not_analysed.items())[:_LISTED]),
                confirmed=said["confirmed"] if said else UNSET,
                false_positives=said["false_positive"] if said else UNSET,
            ),
        )


def _changes(workspace: Workspace, paths: Iterable[str], when: When, now: dict[str, bytes | None]) -> list[Change]:
    changes = (Change(path, workspace.read(path, when, _LARGEST), now[path]) for path in paths)
    return [one for one in changes if one.before != one.after]


def _getting_nowhere(driver: "Driver") -> tuple[Seen, ...]:
    """Many iterations, and next to nothing gained by all of them: LP-020."""
    scores = driver.course.scores
    if len(scores) <= _MANY or scores[-1].score - scores[0].score >= _LITTLE:
        return ()
    return weigh([Signal("no-progress", ".", 1, "the loop", amount=len(scores))], {})


def _known(driver: "Driver") -> frozenset[str]:
    """What is on the record already; what a human accepted is not said again."""
    return driver.course.noticed | driver.course.accepted


def _gravest(one: Seen) -> tuple[int, str, int]:
    return -one.severity, one.path, one.line


def recorded(one: Seen, *, allowed: bool) -> Finding:
    weight = Weight.LOW if allowed else one.severity
    return Finding(
        pattern_id=one.pattern,
        pattern_name=one.name,
        severity=Severity(weight.word),
        blocking=weight >= Weight.HIGH,
        path=text(one.path),
        message=cut(text(one.message), _SHOWN),
        explanations=(*one.explained, *(["allowed"] if allowed else [])) or UNSET,
        details={
            "id": one.id,
            "line": one.line,
            "subject": text(one.subject),
            "category": one.category,
            "recovery": one.recovery,
            **({"regression": one.regression.value} if one.regression else {}),
            **({"was": cut(text(one.was), _SHOWN)} if one.was else {}),
            **({"now": cut(text(one.now), _SHOWN)} if one.now else {}),
        },
    )


def _regressions(driver: "Driver", number: int, heard: list[Finding], at: datetime) -> dict[str, RegressionEvent]:
    """Source 003's record of what blocks, one for each kind, by the id of the first finding of that kind. What has no
    kind there is a detected pattern and nothing more."""
    by_kind: dict[RegressionType, list[Finding]] = defaultdict(list)
    for finding in heard:
        if finding.blocking and (kind := (finding.details or {}).get("regression")):
            by_kind[RegressionType(kind)].append(finding)
    return {
        id_of(found[0]): RegressionEvent(
            event_id=str(uuid5(NAMESPACE_URL, f"{driver.state.loop_id}/{number}/{kind.value}")),
            timestamp=at,
            iteration=number,
            regression_type=kind,
            severity=found[0].severity,
            details=_details(driver, kind, found),
            recovery_protocol_invoked=True,
        )
        for kind, found in by_kind.items()
    }


def _details(driver: "Driver", kind: RegressionType, found: list[Finding]) -> RegressionDetails:
    first = found[0].details or {}
    was, now = first.get("was", UNSET), first.get("now", UNSET)
    counted = _tests_at_start(driver)
    if kind is RegressionType.TEST_DELETION and counted:
        was, now = counted, max(counted - len(found), 0)
    places = [f"{one.path}: {(one.details or {})['subject']}" for one in found[:_LISTED]]
    diff = {_NAMES.get(kind, "places"): places}
    return RegressionDetails(baseline_value=was, current_value=now, category=first["category"], diff=diff)


def _tests_at_start(driver: "Driver") -> int:
    """How many tests there were before the work, as far as checks have counted them; 0 if none has."""
    return sum(check.tests.total or 0 for check in driver.course.control.values() if check.tests)
