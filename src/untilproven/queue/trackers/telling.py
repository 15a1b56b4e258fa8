"""What a sync has done, or would do, in words."""

import msgspec

from untilproven.model.tracker import IssueState
from untilproven.queue.trackers.contract import Issue, Tracker
from untilproven.queue.trackers.deciding import Change, Conflict, Join, Make, Move, Note, Plan, Rewrite, Say, Step


class Done(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was done, or would be."""

    action: str
    text: str
    task: str = ""
    issue: str = ""
    url: str = ""


class Outcome(msgspec.Struct, kw_only=True):
    """What a sync has done, and what it could not do."""

    tracker: str
    dry_run: bool = False
    done: list[Done] = msgspec.field(default_factory=list)
    failed: list[Done] = msgspec.field(default_factory=list)
    warnings: list[str] = msgspec.field(default_factory=list)
    commands: tuple[str, ...] = ()
    """What the tasks that came in would run."""


def told(tracker: Tracker, plan: Plan, step: Step, issue: Issue | None) -> Done:
    where = tracker.external_id(issue.key) if issue else str(plan.task.external_id or "")
    return Done(
        action=str(step.__struct_config__.tag),
        text=_text(step, where),
        task=plan.task.id,
        issue=where,
        url=issue.url if issue else str(plan.task.external_url or ""),
    )


def told_new(tracker: Tracker, task_id: str, issue: Issue) -> Done:
    where = tracker.external_id(issue.key)
    return Done(
        action="take_in", text=f"new here, from {where}: {issue.title}", task=task_id, issue=where, url=issue.url
    )


def _text(step: Step, where: str) -> str:
    match step:
        case Make():
            return f"new there: {where}" if where else "new there"
        case Join():
            return f"is {where}"
        case Change():
            moves = [one["status"] for one in step.updates if "status" in one]
            return f"is {moves[-1]} now: {step.why}" if moves else f"is changed here: {step.why}"
        case Rewrite():
            return f"title and description go to {where}"
        case Say():
            return f"how the work ended is said at {where}"
        case Move(to=IssueState.DONE | IssueState.DROPPED):
            return f"{where} is closed as {step.to}"
        case Move():
            return f"{where} is {step.to} now"
        case Conflict():
            return f"both sides changed the {step.field}; {step.resolution} wins"
        case Note():
            return step.text
