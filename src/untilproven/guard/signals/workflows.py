"""CI that verifies less: checks that are gone, that may fail, that nothing starts."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator

import msgspec

from untilproven.guard.comparison import Comparison, Side
from untilproven.guard.finding import Signal
from untilproven.guard.signals.documents import NotUnderstood, line_of
from untilproven.guard.signals.pipelines import Other, Run, is_pipeline, jobs_in, others_in, runs_in
from untilproven.guard.signals.starting import code_left_out, events_of, gates_in
from untilproven.guard.signals.tools import WHOLE_SUITES
from untilproven.guard.signals.weakening import narrowed, verifies_nothing

_CHANGES = frozenset({"push", "pull_request", "pull_request_target", "merge_group", "workflow_call", "workflow_run"})
"""Events that come with a change."""
_MAIN = re.compile(
    r"(?i)(?:^|[^a-z])(?:ci|tests?|testing|unit|build|checks?|main|verify|maven|gradle|node|python|go|rust|java|linux)(?:$|[^a-z])"
)
"""Names of workflows that verify; others have another purpose beside it."""
_LISTS = frozenset({"include", "matrix", ""})
"""Under these stand several jobs without a name."""
_ONCE_IS_ENOUGH = frozenset({"lint", "types"})
"""They find the same on every machine."""
_NUMBERED = re.compile(r"[A-Za-z]*\d[\w.]*")
_NUMBER = re.compile(r"\d[\d.]*")
_REPORTS = re.compile(r"\b(?:codecov|coveralls|codacy|codeclimate|cc-test-reporter|goveralls)\b")
"""They tell others what was found."""


def workflows(comparison: Comparison) -> Iterator[Signal]:
    was, now = _Pipelines(comparison, "before"), _Pipelines(comparison, "after")
    fewer = list(_fewer(was, now, _words_gone(comparison)))
    yield from fewer
    yield from _unknown_but_optional(was, now, {signal.path for signal in fewer})
    yield from _on_condition(was, now)
    yield from _not_waited_for(was, now)
    yield from _not_started(was, now)
    yield from _not_started_by_code(was, now)


class _Pipelines:
    """All CI files of one tree that differ from the other's, under the names that they have now."""

    def __init__(self, comparison: Comparison, side: str) -> None:
        self.sides: dict[str, Side] = {}
        self.unread: set[str] = set()
        self.runs: list[Run] = []
        self.others: list[Other] = []
        self.jobs: set[tuple[str, str]] = set()
        for pair in comparison.pairs:
            one: Side | None = getattr(pair, side)
            if one is None or not is_pipeline(one.path):
                continue
            try:
                runs = runs_in(one)
            except NotUnderstood as reason:
                comparison.leave_out(one.path, str(reason))
                self.unread.add(pair.path)
                continue
            self.sides[pair.path] = one
            self.runs += [msgspec.structs.replace(run, path=pair.path) for run in runs]
            self.others += [msgspec.structs.replace(other, path=pair.path) for other in others_in(one)]
            self.jobs |= {(pair.path, job) for job in jobs_in(one)}

    @property
    def heard(self) -> list[Run]:
        return [run for run in self.runs if run.unheard is None and not verifies_nothing(run.check)]

    @property
    def unheard(self) -> list[Run]:
        return [run for run in self.runs if run.unheard is not None or verifies_nothing(run.check)]


def _words_gone(comparison: Comparison) -> frozenset[str]:
    """With numbers in them, from other files that say how the project is built and run."""
    others = [pair for pair in comparison.pairs if pair.before and pair.after and not is_pipeline(pair.path)]
    found = set[str]()
    for pair in others if any(is_pipeline(pair.path) for pair in comparison.pairs) else ():
        if pair.kind in {"mixed", "dependencies", "configuration"}:
            was, now = (set(_NUMBERED.findall(side.text)) if side else set[str]() for side in (pair.before, pair.after))
            found |= was - now
    return frozenset(found)


def _fewer(was: _Pipelines, now: _Pipelines, words_gone: frozenset[str]) -> Iterator[Signal]:
    """What must succeed no longer, and has nothing in its place. `words_gone` may be versions that were dropped."""
    gone, come = _without(was.heard, now.heard), _without(now.heard, was.heard)
    silenced = _without(now.unheard, was.unheard)
    left = []
    for run in gone:
        if run.path in now.unread:
            continue
        beside = [other for other in silenced if (other.path, other.job) == (run.path, run.job)]
        if quiet := _taken(run, beside):
            silenced.remove(quiet)
            yield _optional(run, quiet, was, now)
        elif new := _taken(run, come):
            if less := narrowed(run.check, new.check):
                yield _signal("command-weakened", new, now, was=run.check.command.text, now=less)
        elif quiet := _taken_by_program(run, beside, was.unheard):
            silenced.remove(quiet)
            yield _optional(run, quiet, was, now)
        else:
            left.append(run)
    all_new = _without(now.heard, was.heard)
    for run in left:
        if _is_missed(run, [new for new in come if not _is_work_of_its_own(new, run, was, now)], now):
            signal = _removed(run, was, now)
            said = ("something-came",) if _is_in_another_task(run, all_new) else ()
            said = (*said, "version-dropped") if _is_of_version(run, words_gone, now) else said
            yield msgspec.structs.replace(signal, explained=tuple(dict.fromkeys((*signal.explained, *said))))


def _is_missed(run: Run, come: list[Run], now: _Pipelines) -> bool:
    """It verified something, and nothing came that may verify the same."""
    if run.check.purpose == "anything" and run.check.tool.split()[0] not in WHOLE_SUITES:
        return False
    if any(new.check.purpose == "anything" and _may_stand_for(new, run, now) for new in come):
        return False
    return not any(run.check.purpose in {new.check.purpose, "anything"} for new in come)


def _is_work_of_its_own(new: Run | Other, run: Run, was: _Pipelines, now: _Pipelines) -> bool:
    """It came with a job that is new, and the job whose tests went still is there, without any like them."""
    if run.check.purpose in _ONCE_IS_ENOUGH or new.job in _LISTS or (new.path, new.job) in was.jobs:
        return False
    left = (other for other in now.heard if (other.path, other.job) == (run.path, run.job))
    return _is_left(run, now) and all(other.check.tool != run.check.tool for other in left)


def _is_of_version(run: Run, words_gone: frozenset[str], now: _Pipelines) -> bool:
    """It ran for a version that is named elsewhere no longer, and the same is run for others."""
    versions = {word for word in run.check.command.words if _NUMBERED.fullmatch(word)}
    same = (other for other in now.heard if other.path == run.path)
    apart = _NUMBER.sub("", run.identity)
    return bool(versions) and versions <= words_gone and any(_NUMBER.sub("", other.identity) == apart for other in same)


def _is_in_another_task(run: Run, new: list[Run]) -> bool:
    """A linter or a type checker was a task of the project, and its job runs another of them now: what is in it is not
    known."""
    runner, _, task = run.check.tool.partition(" ")
    beside = (one.check.tool.partition(" ") for one in new if (one.path, one.job) == (run.path, run.job))
    return run.check.purpose in _ONCE_IS_ENOUGH and any(task and one[0] == runner and one[2] for one in beside)


def _removed(run: Run, was: _Pipelines, now: _Pipelines) -> Signal:
    known = {other.text for other in was.others}
    came = [
        other
        for other in now.others
        if other.text not in known and not other.only_prepares and _may_stand_for(other, run, now)
        if not _is_work_of_its_own(other, run, was, now)
    ]
    explained = ["something-came"] if came else []
    if any(other.check.purpose in {run.check.purpose, "anything"} for other in now.heard):
        explained.append("others-left")
    elif run.check.purpose == "lint":
        explained.append("lint-only")
    same_left = any(other.identity == run.identity for other in now.heard)
    if same_left and (run.check.purpose in _ONCE_IS_ENOUGH or not _is_left(run, now)):
        explained.append("same-left")
    if run.path not in now.sides:
        if not run.path.startswith(".github/"):
            explained.append("service-left")
        elif not _MAIN.search(run.path.rpartition("/")[2]):
            explained.append("side-workflow")
    signal = _signal("ci-removed", run, was, was=run.check.command.text)
    return msgspec.structs.replace(signal, explained=tuple(explained))


def _is_left(run: Run, now: _Pipelines) -> bool:
    """Whether its job still is there, and only this is gone from it."""
    return run.job not in _LISTS and (run.path, run.job) in now.jobs


def _unknown_but_optional(was: _Pipelines, now: _Pipelines, told: set[str]) -> Iterator[Signal]:
    """Whatever it does: it failed the run, and no longer does. Not where there is worse to tell."""
    before = {(one.text, one.path, one.job) for one in was.others if one.unheard is None}
    still = {one.text for one in now.others if one.unheard is None}
    for one in now.others:
        if one.path in told or one.unheard is None or one.text in still:
            continue
        if (one.text, one.path, one.job) in before:
            line = line_of(now.sides[one.path].text, one.text.split()[0])
            subject = f"{one.job}: {one.text}" if one.job else one.text
            said = ("unknown", "reports") if _REPORTS.search(one.text) else ("unknown",)
            yield Signal("ci-optional", one.path, line, subject, was=one.text, now=one.unheard, explained=said)


def _on_condition(was: _Pipelines, now: _Pipelines) -> Iterator[Signal]:
    """What is run as before, but hardly ever, and nowhere else."""
    told = set[tuple[str, str, str]]()
    heard = now.heard
    for run in (one for one in heard if one.gates):
        before = [one for one in was.heard if (one.path, one.job, one.identity) == (run.path, run.job, run.identity)]
        known = frozenset[str]().union(*(one.gates for one in before))
        new = ", ".join(sorted(run.gates - known))
        always = any(one.identity == run.identity and one.gates <= known for one in heard)
        if before and new and not always and (run.path, run.job, new) not in told:
            told.add((run.path, run.job, new))
            signal = _signal("ci-optional", run, now, was=run.check.command.text, now=new)
            yield msgspec.structs.replace(signal, explained=("on-condition",))


def _taken_by_program(run: Run, beside: list[Run], quiet_before: list[Run]) -> Run | None:
    """What the same program does in its place, told otherwise, if that was not quiet before."""
    known = {(other.path, other.job, other.check.tool) for other in quiet_before}
    program = run.check.tool.split()[0]
    alike = (other for other in beside if other.check.tool.split()[0] == program)
    return next((other for other in alike if (other.path, other.job, other.check.tool) not in known), None)


def _may_stand_for(new: Run | Other, run: Run, now: _Pipelines) -> bool:
    """Whether it came in the same file, or that file is gone."""
    return new.path == run.path or run.path not in now.sides


def _optional(run: Run, quiet: Run, was: _Pipelines, now: _Pipelines) -> Signal:
    how = quiet.unheard or verifies_nothing(quiet.check)
    signal = _signal("ci-optional", quiet, now, was=run.check.command.text, now=how)
    said = ("same-left",) if any(other.identity == run.identity for other in now.heard) else ()
    said = said if _comes_with_changes(was.sides.get(run.path)) else (*said, "side-workflow")
    return msgspec.structs.replace(signal, explained=said)


def _comes_with_changes(side: Side | None) -> bool:
    """Or nothing is said of when it is started, or it was not there."""
    events = events_of(side) if side else None
    return events is None or bool(events & _CHANGES)


def _without(runs: list[Run], others: list[Run]) -> list[Run]:
    """Those that the others do not have, by what they run on what; in the same job, or in any."""
    for place in (lambda run: (run.path, run.job, run.identity)), (lambda run: run.identity):
        if not runs:
            break
        there = Counter(map(place, others))
        known = Counter(map(place, runs)) & there
        runs, others = _rest(runs, place, known), _rest(others, place, known)
    return runs


def _rest(runs: list[Run], place: Callable[[Run], Hashable], known: Counter[Hashable]) -> list[Run]:
    left, rest = known.copy(), []
    for run in runs:
        if left[place(run)]:
            left[place(run)] -= 1
        else:
            rest.append(run)
    return rest


def _taken(run: Run, others: list[Run]) -> Run | None:
    """The one of the others that stands for it, which then stands for nothing else."""
    alike = [other for other in others if other.check.tool == run.check.tool]
    best = next((other for other in alike if (other.path, other.job) == (run.path, run.job)), next(iter(alike), None))
    if best:
        others.remove(best)
    return best


def _not_started(was: _Pipelines, now: _Pipelines) -> Iterator[Signal]:
    for path, side in was.sides.items():
        after = now.sides.get(path)
        before_events, after_events = events_of(side), events_of(after) if after else None
        if after is None or not before_events or after_events is None or not _verifies(path, was):
            continue
        lost = (before_events - after_events) & _CHANGES
        if lost and not after_events & _CHANGES:
            yield Signal(
                "ci-trigger-removed",
                path,
                line_of(after.text, "\non:", '"on":', "'on':"),
                subject=", ".join(sorted(lost)),
                was=", ".join(sorted(before_events)),
                now=", ".join(sorted(after_events)) or "what is hardly ever done",
            )


def _not_started_by_code(was: _Pipelines, now: _Pipelines) -> Iterator[Signal]:
    for path, side in was.sides.items():
        after = now.sides.get(path)
        new = code_left_out(after) - code_left_out(side) if after else frozenset[str]()
        if after and new and _verifies(path, was):
            line, places = line_of(after.text, "paths-ignore"), ", ".join(sorted(new))
            yield Signal(
                "ci-trigger-removed", path, line, places, now="what else is changed", explained=("on-condition",)
            )


def _not_waited_for(was: _Pipelines, now: _Pipelines) -> Iterator[Signal]:
    """A job that tells whether all went well tells it, whatever became of one that it waited for."""
    for path, side in was.sides.items():
        after = now.sides.get(path)
        before, jobs = gates_in(side), gates_in(after) if after else {}
        for name in before.keys() & jobs.keys() if after else ():
            lost = [need for need in before[name].needs - jobs[name].needs if (path, need) in now.jobs]
            always = jobs[name].is_always_run and not before[name].is_always_run and before[name].needs
            if after and (lost or always):
                said = f"no {', '.join(sorted(lost))}" if lost else "always()"
                yield Signal(
                    "ci-optional", path, line_of(after.text, f"{name}:"), name, now=said, explained=("on-condition",)
                )


def _verifies(path: str, pipelines: _Pipelines) -> bool:
    return any(run.path == path and run.check.purpose != "anything" for run in pipelines.heard)


def _signal(name: str, run: Run, of: _Pipelines, *, was: str | None = None, now: str | None = None) -> Signal:
    subject = f"{run.job}: {run.check.tool}" if run.job else run.check.tool
    line = line_of(of.sides[run.path].text, *run.check.command.words[:1])
    return Signal(name, run.path, line, subject, was=was, now=now)
