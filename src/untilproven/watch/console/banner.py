"""The first screen: who works, in which room, what will be checked and how it stands, and what may be used."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import UNSET, UnsetType

from untilproven.model.events import CheckFinished
from untilproven.model.plan import Allowance, Plan, PlannedCheck
from untilproven.model.state import CompletionCheck, LoopState, ProgressTracking
from untilproven.watch.color import BOLD, DIM, GREEN, RED, YELLOW
from untilproven.watch.console import words
from untilproven.watch.console.lines import Line, Piece, first_line, line, one_line

_LABEL = 11
_YOURS = "with your own settings, hooks and servers"
_ROOMS = {
    "overlay": ("overlay: your files change only when an iteration is kept", 0),
    "none": ("none: the agent runs as you, on your files", RED),
    "session": ("none: the agent works in your session, as you; checks run in a room", YELLOW),
    "session-bare": ("none: the agent works in your session, as you, and checks run on your files", RED),
    "shadow": ("shadow, best effort: the agent works on your files, and what fails is taken back", YELLOW),
}


def told(state: LoopState, control: Mapping[str, CheckFinished]) -> list[Line]:
    """The banner of a loop, with its checks as the control found them."""
    plan = state.plan
    lines = [
        line(Piece(state.loop_id, BOLD), loud=True),
        _labelled("task", first_line(state.task or "") or "(none recorded)"),
        _labelled("in", one_line(state.working_directory or "(not recorded)")),
    ]
    if plan:
        lines += _agent(plan)
        room = Piece(*_ROOMS.get(plan.sandbox, (one_line(plan.sandbox), 0)))
        lines.append(_labelled("room", room)._replace(loud=True))
        lines += [_labelled("", Piece(one_line(words), color)) for words, color in _openings(plan)]
        lines += _checks(plan.checks, control, state.progress)
        if plan.promise:
            lines.append(_labelled("promise", one_line(plan.promise), Piece(_believed(plan), DIM)))
    lines.append(_labelled("limits", _limits(state)))
    commands = ("ralph status", f"ralph attach {state.loop_id}", f"ralph pause {state.loop_id}")
    look = (_labelled("" if place else "look", command) for place, command in enumerate(commands))
    return [*lines, *(shown._replace(loud=True) for shown in look), line("")]


def _labelled(label: str, *parts: str | Piece) -> Line:
    return line(Piece(f"  {label:<{_LABEL}}", DIM), *parts)


def _openings(plan: Plan) -> Iterator[tuple[str, int]]:
    """What is opened in the walls, and what stays out."""
    if plan.network == "none":
        yield "no network for the agent", DIM
    if plan.check_network and plan.check_network != plan.network:
        yield f"network of the checks: {plan.check_network}", DIM
    for what in plan.share:
        if what == "docker":
            yield "shares docker: unconfined, whoever reaches it can do what root can", RED
        else:
            yield f"shares {what}", YELLOW
    if plan.env:
        yield f"passes on {', '.join(plan.env)}", YELLOW
    if plan.not_passed:
        yield f"not passed on: {', '.join(plan.not_passed)}; --env NAME passes one on", DIM


def _agent(plan: Plan) -> list[Line]:
    program = " ".join([plan.agent_cmd or "", *plan.agent_arguments]).strip()
    model = f", model {one_line(plan.model)}" if plan.model else ""
    return [
        _labelled("agent", one_line(plan.agent) + model + (f": {one_line(program)}" if program else "")),
        _labelled("", Piece(_billed(plan), DIM)),
        *(_labelled("", Piece(_YOURS, YELLOW)) for _ in range(plan.agent_home == "user")),
    ]


def _billed(plan: Plan) -> str:
    if plan.billed:
        return f"billed: {one_line(plan.billed)}"
    match plan.agent.partition(":")[0]:
        case "command":
            return "billed: not known to ralph; the command's own"
        case "replay":
            return "billed: nobody; it plays a recording"
    return f"billed: the account {one_line(plan.agent)} is logged in with"


def _believed(plan: Plan) -> str:
    return " (believed without a check)" if plan.trust_promise else " (a claim; the checks decide)"


def _checks(
    planned: Iterable[PlannedCheck], control: Mapping[str, CheckFinished], progress: ProgressTracking | UnsetType
) -> list[Line]:
    lines = []
    earlier = {check.check: check for check in (progress or ProgressTracking()).completion_checks or () if check.check}
    for check in planned:
        label = "check" if check.role == "until" else "auto_test"
        found = control.get(check.line) or earlier.get(check.line)
        why = Piece(f" ({one_line(check.why)})" if check.why else "", DIM)
        lines.append(_labelled(label, *_stands(check, found), why))
    if not any(check.role == "until" for check in planned):
        lines.insert(0, _labelled("check", Piece("none", RED)))
    if not any(check.role == "auto_test" for check in planned):
        lines.append(_labelled("auto_test", Piece("none", DIM)))
    return lines


def _stands(planned: PlannedCheck, found: CheckFinished | CompletionCheck | None) -> tuple[Piece | str, ...]:
    if found is None:
        return (Piece("not run yet ", DIM), one_line(planned.line))
    check = words.seen(found)
    if planned.role == "auto_test" and check.color != GREEN:
        return (Piece(f"{check.verdict} ", YELLOW), f"{check.name} (need not turn green)")
    return (Piece(f"{check.verdict} ", check.color), check.name, check.found and f": {check.found}")


def _limits(state: LoopState) -> str:
    allowed = state.allowance or Allowance(iterations=words.iterations(state))
    parts = [
        words.plural(allowed.iterations, "iteration"),
        words.duration(allowed.seconds) if allowed.seconds else "no time limit",
        "no money limit" if allowed.cost_usd is UNSET else words.money(allowed.cost_usd),
    ]
    return ", ".join(parts + ([words.plural(allowed.tokens, "token")] if allowed.tokens else []))
