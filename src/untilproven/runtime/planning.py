"""From settings to a plan: which agent, which checks, within which limits."""

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from untilproven.agents.factory import NAMES
from untilproven.checks import criterion
from untilproven.checks import line as lines
from untilproven.checks.factory import checks_for
from untilproven.checks.find import Found, find_checks, nothing_found
from untilproven.checks.wrappers import base, program_at
from untilproven.config.settings import Layer, Settings
from untilproven.core.naming import quoted
from untilproven.errors import UsageError
from untilproven.model.plan import Allowance, Plan, PlannedCheck
from untilproven.model.state import LoopConfiguration, LoopState
from untilproven.store.files import MIB
from untilproven.store.layout import Project
from untilproven.workspace.environment import dropped
from untilproven.workspace.factory import chosen
from untilproven.workspace.openings import Openings, refuse_nonsense

PROMISE = "DONE"
OUTPUT_BYTES = 1024 * MIB
"""How much an agent may print in one iteration before it is stopped."""

_HOOKS = {
    "onTaskStart": "hooks.on_task_start",
    "onIterationStart": "hooks.on_iteration_start",
    "onAction": "hooks.on_action",
    "onIterationEnd": "hooks.on_iteration_end",
    "onTaskEnd": "hooks.on_task_end",
    "onAnomaly": "hooks.on_anomaly",
}


def plan_of(
    settings: Settings,
    project: Project,
    task: str,
    arguments: tuple[str, ...] = (),
    *,
    checks: Sequence[PlannedCheck] = (),
) -> Plan:
    """What the loop will obey from its first line to its last. `checks` are a task's own, in place of the settings'."""
    if not task.strip():
        raise UsageError("there is no task", hint='ralph run "what is to be done" --until "a command that proves it"')
    agent, command, billed = _agent(settings, project)
    hooks = {name: line for name, key in _HOOKS.items() if (line := settings.value(key))}
    return Plan(
        agent=agent,
        agent_cmd=command or UNSET,
        agent_arguments=arguments,
        agent_home=_agent_home(settings, agent),
        billed=billed or UNSET,
        model=settings.model or UNSET,
        task_hash=hash_of(task),
        checks=checks_of(settings, project, checks),
        promise=settings.promise or PROMISE,
        trust_promise=settings.trust_promise,
        require_proof=settings.require_proof,
        context=settings.context,
        mode=_mode(settings, agent),
        **_room(settings, project),
        on_gate=settings.on_gate,
        reinforcement=settings.reinforcement,
        measure=settings.measure,
        metrics=_metrics(settings.metric),
        sensitive=tuple(settings.sensitive),
        notify=_notified(settings.notify),
        notify_on=tuple(settings.notify_on) if settings.notify else (),
        hooks=hooks or UNSET,
        check_timeout_seconds=settings.check_timeout.total_seconds() if settings.check_timeout else UNSET,
    )


def _mode(settings: Settings, agent: str) -> Any:
    if settings.mode == "strict" and not agent.startswith("replay:"):
        raise UsageError(
            "--mode strict plays a record again, and no record is named",
            hint="record a loop with --mode logged, then give: --agent replay:.aiwg/ralph/loops/LOOP/recording",
        )
    if settings.mode == "seeded" and _is_unknown(agent):
        raise UsageError(
            "--mode seeded pins model, temperature and seed of an agent that is known by name, and yours is not",
            hint="give --mode logged, or name an agent with --agent",
        )
    if settings.mode == "seeded" and not settings.model:
        raise UsageError("--mode seeded pins the model, and none is named", hint="give --model NAME")
    return settings.mode


def _agent_home(settings: Settings, agent: str) -> Any:
    if settings.agent_home == "user" and _is_unknown(agent):
        raise UsageError(
            "--agent-home user is for an agent that is known by name: nobody knows where yours has its settings",
            hint="leave it away, or name an agent with --agent",
        )
    return settings.agent_home


def _is_unknown(agent: str) -> bool:
    return agent == "command" or agent.startswith("replay:")


def _notified(channels: Sequence[str]) -> tuple[str, ...]:
    if not channels:
        return ()
    from untilproven.runtime.channels import reachable  # noqa: PLC0415  few loops tell anybody

    return reachable(channels)


def _metrics(given: Sequence[str]) -> tuple[str, ...]:
    for one in given:
        name, equals, command = one.partition("=")
        if not (name.strip() and equals and command.strip()):
            raise UsageError(f"--metric {one!r} names no command", hint="write it as NAME=COMMAND")
    return tuple(given)


def _room(settings: Settings, project: Project) -> dict[str, Any]:
    """The room that can be built here, and what is opened in its walls."""
    if settings.new_branch and not settings.commit:
        raise UsageError("--new-branch is for commits, and none is asked for", hint="give --commit too")
    sandbox = chosen(settings.sandbox)
    if sandbox == "none":
        if "none" in {settings.network, settings.check_network}:
            raise UsageError(
                "no network without a room: with --sandbox none nothing keeps a program from it",
                hint="leave --sandbox none away",
            )
        if settings.commit:
            raise UsageError(
                "--commit needs a room: with --sandbox none nobody can tell what you changed from what the agent did",
                hint="leave --sandbox none away, or commit yourself",
            )
        return {"sandbox": sandbox}
    refuse_nonsense(tuple(settings.share), project)
    opened = Openings(share=tuple(settings.share), env=tuple(settings.env))
    return {
        "sandbox": sandbox,
        "network": settings.network,
        "check_network": settings.check_network or UNSET,
        "share": opened.share,
        "env": opened.env,
        "not_passed": dropped(opened.variables),
        "commit": settings.commit,
        "new_branch": settings.commit and settings.new_branch,
    }


def allowance_of(settings: Settings) -> Allowance:
    asked_for = any(
        settings.value(key) is not None and settings.origin(key).layer is not Layer.DEFAULT
        for key in ("max_cost", "max_tokens")
    )
    return Allowance(
        iterations=settings.max_iterations,
        seconds=_seconds(settings, "timeout"),
        cost_usd=UNSET if settings.max_cost is None else settings.max_cost,
        tokens=settings.max_tokens or UNSET,
        iteration_seconds=_seconds(settings, "iteration_timeout"),
        idle_seconds=_seconds(settings, "idle_timeout"),
        output_bytes=OUTPUT_BYTES,
        test_edits=tuple(settings.allow_test_edits),
        dependency_changes=settings.allow_dependency_changes,
        unknown_cost="stop" if asked_for and not settings.allow_unknown_cost else "warn",
    )


def configuration_of(settings: Settings) -> LoopConfiguration:
    """The same in source 000's words."""
    timeout = _seconds(settings, "timeout")
    return LoopConfiguration(
        max_iterations=settings.max_iterations,
        timeout_minutes=max(round(timeout / 60), 1) if timeout else UNSET,
        interactive=settings.interactive,
        auto_test=settings.auto_test,
        checkpoint_interval=settings.checkpoint_interval,
        execution_mode=settings.mode,
    )


def raised(
    state: LoopState, settings: Settings, given: Mapping[str, Any]
) -> tuple[Allowance | UnsetType, LoopConfiguration | None]:
    """The loop's limits with those replaced that the user typed."""
    if not given or not state.allowance:
        return UNSET, None
    typed = allowance_of(settings)
    fields = {
        "max_iterations": "iterations",
        "timeout": "seconds",
        "iteration_timeout": "iteration_seconds",
        "idle_timeout": "idle_seconds",
        "max_cost": "cost_usd",
        "max_tokens": "tokens",
        "allow_test_edits": "test_edits",
        "allow_dependency_changes": "dependency_changes",
    }
    changes = {field: getattr(typed, field) for key, field in fields.items() if key in given}
    if given.keys() & {"max_cost", "max_tokens", "allow_unknown_cost"}:
        changes["unknown_cost"] = typed.unknown_cost
    configuration = state.configuration or LoopConfiguration()
    said = configuration_of(settings)
    if "max_iterations" in given:
        configuration = replace(configuration, max_iterations=said.max_iterations)
    if "timeout" in given:
        configuration = replace(configuration, timeout_minutes=said.timeout_minutes)
    if "interactive" in given:
        configuration = replace(configuration, interactive=said.interactive)
    return replace(state.allowance, **changes), configuration


def hash_of(task: str) -> str:
    return sha256(task.encode("utf-8", "surrogatepass")).hexdigest()


def _seconds(settings: Settings, key: str) -> float | UnsetType:
    value: timedelta | None = settings.value(key)
    return value.total_seconds() if value else UNSET


def _agent(settings: Settings, project: Project) -> tuple[str, str, str]:
    """Its name, its command if it has one, and who will be billed if that is known."""
    if settings.agent and settings.agent_cmd:
        raise UsageError(
            f"two agents are named: {settings.agent} and the command {settings.agent_cmd}",
            hint="give --agent or --agent-cmd",
        )
    if settings.agent_cmd:
        return "command", settings.agent_cmd, ""
    from untilproven.agents import choosing  # noqa: PLC0415  a command is not looked for

    if settings.agent in {None, "auto"}:
        if any(setting.key in {"agent", "agent_cmd"} for setting in settings.withheld):
            raise UsageError(
                "this project's settings name an agent and are not trusted, and none is taken in its place",
                hint="look at them and trust them with `ralph trust`, or name an agent with --agent",
            )
        found = choosing.choose(project.root, settings.model or "")
        return found.name, "", found.billed
    named = [name.strip() for name in settings.agent.split(",")]
    known = [choosing.look(name, project.root, settings.model or "") for name in named if name in NAMES]
    return settings.agent, "", "; ".join(dict.fromkeys(one.billed for one in known if one.billed))


def checks_of(settings: Settings, project: Project, given: Sequence[PlannedCheck] = ()) -> tuple[PlannedCheck, ...]:
    """What will be run: what was asked for or else found, and the project's own tests beside it."""
    asked_for = [criterion.read(line).command or line.strip() for line in settings.until]
    checks_for(asked_for)  # a line that cannot be a check is refused here
    for line in asked_for:
        _refuse_nonsense(line)
    found = find_checks(project.root)
    if given:
        asked = list(given)
    elif asked_for:
        asked = [PlannedCheck(line=line) for line in dict.fromkeys(asked_for)]
    elif settings.trust_promise:
        asked = []
    elif found:
        asked = [_found(found[0], "until")]
    else:
        raise nothing_found()
    tests = [one for one in found[:1] if settings.auto_test and not any(_covers(check.line, one) for check in asked)]
    return (*asked, *(_found(one, "auto_test") for one in tests))


def _refuse_nonsense(line: str) -> None:
    """A line that no shell understands would be red for ever."""
    if not set(line) & set("'\"`$&|;<>(){}\\\n"):
        return
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    child = os.posix_spawn("/bin/sh", ["sh", "-n", "-c", line], os.environ, file_actions=quiet)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise UsageError(f"no shell understands the check {quoted(line)}", hint="look for an unclosed quote or bracket")


def _covers(line: str, found: Found) -> bool:
    """Whether a check runs the same tests: the found command, with no more than options added."""
    ours, theirs = _runner(line), _runner(found.command)
    return ours is not None and theirs is not None and ours[0] == theirs[0] and set(theirs[1]) <= set(ours[1])


def _runner(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Which program runs the tests, and the words behind it that are no options: what it is to run."""
    parsed = lines.read(text)
    words = [word.text for word in parsed.words] if parsed else []
    at = program_at(words) if words else None
    if at is None:
        return None
    return base(words[at]), tuple(word for word in words[at + 1 :] if not word.startswith("-"))


def _found(one: Found, role: str) -> PlannedCheck:
    return PlannedCheck(line=one.command, role="auto_test" if role == "auto_test" else "until", why=one.why)
