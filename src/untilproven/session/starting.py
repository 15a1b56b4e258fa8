"""Starting a loop in a session: it is registered like any other, the tree is remembered, the checks run once."""

import msgspec
from msgspec import UNSET

from untilproven.checks.find import NoCheck
from untilproven.config import layers
from untilproven.config.settings import Settings
from untilproven.core.text import cut
from untilproven.errors import IllegalTransition, RalphError, UsageError
from untilproven.model import events
from untilproven.model.plan import Allowance, Plan, PlannedCheck
from untilproven.model.session import SessionLoopState
from untilproven.model.state import LoopConfiguration, ProcessIdentity
from untilproven.runtime.planning import checks_of, hash_of
from untilproven.runtime.starting import SHOWN_BYTES
from untilproven.session import constants, ending, sealing, storage
from untilproven.session.place import SessionPlace, located
from untilproven.session.proving import driving
from untilproven.session.records import RalphLoopConfig, StartLoopOptions, count
from untilproven.store import clock, files
from untilproven.store.layout import Project
from untilproven.store.lifecycle import create_state
from untilproven.store.writer import LoopWriter
from untilproven.workspace.standing.workspace import StandingWorkspace


class Started(msgspec.Struct, frozen=True, kw_only=True):
    loop_id: str
    state: SessionLoopState
    prompt: str
    """What the agent is told first."""
    checks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def start(
    project: Project,
    place: SessionPlace,
    prompt: str,
    options: StartLoopOptions,
    *,
    config: RalphLoopConfig | None = None,
    agent: str,
    runner: ProcessIdentity,
) -> Started:
    """Refused if the session has a loop already, unless it is to be replaced. Without a host, settings say the rest."""
    config = config or configured(project)
    if not config.enabled:
        raise UsageError("Ralph Loop is switched off here", hint="`ralph config --origin` says who set session.enabled")
    wanted = _state(place.session_id, prompt, options, config)
    place.make()
    _refuse_elsewhere(project, place, replace=options.replace)
    with place.lock(constants.START_SECONDS):
        _make_way(project, place, replace=options.replace)
        plan = _plan(project, wanted, options, agent)
        writer = _created(project, wanted, plan, options, runner)
        try:
            # Known from here on: an agent that does not wait for us any longer leaves a loop that can be ended.
            storage.save_link(place, storage.Link(loop_id=writer.loop.loop_id))
            started = _begun(project, place, writer, wanted)
        except BaseException:
            writer.close()
            place.clear()
            ending.end_quietly(project, writer.loop.loop_id, place.session_id)
            raise
        writer.close()
    return started


def configured(project: Project) -> RalphLoopConfig:
    """The settings of the user and of the project."""
    settings = layers.load(project.root, {})
    return RalphLoopConfig(
        enabled=settings.value("session.enabled"),
        default_max_iterations=settings.value("session.max_iterations"),
        default_completion_promise=settings.value("session.promise"),
        continuation_delay=settings.value("session.continuation_delay_ms"),
    )


def _state(session_id: str, prompt: str, options: StartLoopOptions, config: RalphLoopConfig) -> SessionLoopState:
    if not prompt.strip():
        raise UsageError("there is no task", hint='/ralph "what is to be done" --until "a command that proves it"')
    given = options.max_iterations
    limit = config.default_max_iterations if given is None else given
    promise = config.default_completion_promise if options.completion_promise is None else options.completion_promise
    if not promise.split() or "</promise>" in promise.lower():
        raise UsageError("the promise must be words that can stand between <promise> and </promise>")
    return SessionLoopState(
        active=True,
        iteration=1,
        max_iterations=count(limit, "--max-iterations"),
        completion_promise=promise,
        started_at=clock.now(),
        prompt=prompt,
        session_id=session_id,
        description=options.description or UNSET,
    )


def _refuse_elsewhere(project: Project, place: SessionPlace, *, replace: bool) -> None:
    """The same session may have begun one in another project."""
    other = located(place.session_id)
    if other is None or other.root == project.root:
        return
    _make_way(other, SessionPlace(other.state, place.session_id), replace=replace)


def _make_way(project: Project, place: SessionPlace, *, replace: bool) -> None:
    try:
        known = storage.load(place)
    except RalphError:
        known = None
    if known and known.active and not replace and not ending.is_over(project, place):
        raise IllegalTransition(
            f"this session has a loop already, at iteration {known.iteration} of {known.max_iterations}",
            hint="/cancel-ralph ends it; --replace ends it and starts this one",
        )
    ending.cancel(project, place)


def _plan(project: Project, wanted: SessionLoopState, options: StartLoopOptions, agent: str) -> Plan:
    given = {"until": tuple(options.until)} if options.until else {}
    settings = layers.load(project.root, {**given, **({"trust_promise": True} if options.trust_promise else {})})
    checks = () if settings.trust_promise and not settings.until else _checks(settings, project)
    return Plan(
        agent=agent,
        session=wanted.session_id,
        task_hash=hash_of(wanted.prompt),
        checks=checks,
        promise=wanted.completion_promise,
        trust_promise=settings.trust_promise,
        require_proof=settings.require_proof,
        context="continue",
        sandbox=_room() if checks else "session-bare",
        on_gate="reject",
        measure=False,
        check_timeout_seconds=settings.check_timeout.total_seconds() if settings.check_timeout else UNSET,
    )


def _checks(settings: Settings, project: Project) -> tuple[PlannedCheck, ...]:
    try:
        return checks_of(settings, project)
    except NoCheck as error:
        raise UsageError(
            error.message,
            hint='give one: /ralph "task" --until "a command that proves it"; --trust-promise takes the agent\'s word',
        ) from error


def _room() -> str:
    """Where the checks run. The agent has no room at all, so nothing is weaker for that."""
    from untilproven.workspace.overlay.available import available  # noqa: PLC0415  loads all that starts programs

    return "session-bare" if available() else "session"


def _created(
    project: Project, wanted: SessionLoopState, plan: Plan, options: StartLoopOptions, runner: ProcessIdentity
) -> LoopWriter:
    return create_state(
        project,
        cut(wanted.prompt, SHOWN_BYTES),
        completion_criteria="; ".join(check.line for check in plan.checks if check.role == "until") or UNSET,
        configuration=LoopConfiguration(max_iterations=wanted.max_iterations),
        plan=plan,
        allowance=Allowance(
            iterations=wanted.max_iterations,
            test_edits=tuple(options.allow_test_edits),
            dependency_changes=options.allow_dependency_changes,
        ),
        task_file=wanted.prompt.encode("utf-8", "surrogatepass"),
        runner=runner,
    )


def _begun(project: Project, place: SessionPlace, writer: LoopWriter, wanted: SessionLoopState) -> Started:
    notes = []
    with driving(project, writer, wanted.prompt, constants.CONTROL_SECONDS) as driver:
        workspace = driver.cast.workspace
        tree = workspace.begin() if isinstance(workspace, StandingWorkspace) else UNSET
        settled = driver.settle()
        if settled.kind in {"paused", "failed", "done"}:
            raise UsageError(
                f"the check cannot be run: {settled.words}",
                hint='give one that can: /ralph "task" --until "a command that proves it"',
            )
        if settled.kind == "late":
            notes.append("the checks take long; how they stood before the work is found out at the first claim")
        first = settled.prompt or driver.first_prompt()
        driver.record(events.IterationStarted(iteration=1, tree=tree), durable=True)
    if writer.state.plan and writer.state.plan.sandbox == "session-bare" and writer.state.plan.checks:
        notes.append("no room can be built here (see `ralph doctor`): checks run on your files themselves")
    files.replace(writer.loop.prompt(1), first.encode("utf-8", "replace"), durable=False)
    storage.save(place, wanted)
    writer.catch_up()
    sealing.seal(project, place, writer)
    plan = writer.state.plan
    checks = tuple(check.line for check in plan.checks) if plan else ()
    return Started(loop_id=writer.loop.loop_id, state=wanted, prompt=first, checks=checks, notes=tuple(notes))
