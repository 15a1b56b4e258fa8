"""What a Python program may say when it starts a loop: the options of the command line, typed."""

import math
import warnings
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal, TypedDict

from untilproven.config import layers
from untilproven.config.settings import Settings
from untilproven.runtime import planning, starting
from untilproven.store.layout import Project

Duration = str | timedelta
"""`"90m"`, `"8h"`, or a timedelta, in whole seconds."""


_LISTS = frozenset({"until", "share", "env", "allow_test_edits", "metric", "sensitive", "notify", "notify_on"})


class Limits(TypedDict, total=False):
    """What a loop may use; `resume` can raise it."""

    max_iterations: int
    timeout: Duration
    iteration_timeout: Duration
    idle_timeout: Duration
    max_cost: float
    max_tokens: int
    allow_unknown_cost: bool
    allow_test_edits: str | Sequence[str]
    allow_dependency_changes: bool


class Options(Limits, total=False):
    """The options of `ralph run`, by the same names. What is left out comes from the settings, as it does there."""

    until: str | Sequence[str]
    agent: str
    agent_cmd: str
    agent_home: Literal["clean", "user"]
    model: str
    mode: Literal["default", "logged", "seeded", "strict"]
    promise: str
    trust_promise: bool
    require_proof: bool
    auto_test: bool
    check_timeout: Duration
    context: Literal["fresh", "continue"]
    sandbox: Literal["auto", "overlay", "shadow", "none"]
    network: Literal["shared", "none"]
    check_network: Literal["shared", "none"]
    share: str | Sequence[str]
    env: str | Sequence[str]
    commit: bool
    new_branch: bool
    on_gate: Literal["wait", "reject"]
    notify: str | Sequence[str]
    notify_on: str | Sequence[str]
    reinforcement: Literal["adaptive", "off", "minimal", "standard", "aggressive"]
    measure: bool
    metric: str | Sequence[str]
    sensitive: str | Sequence[str]
    checkpoint_interval: int


def wanted(
    project: Project, task: str, loop_id: str | None, arguments: Sequence[str], options: Options
) -> starting.Wanted:
    settings = settings_of(project, given(options, Options))
    return starting.Wanted(
        task=task,
        plan=planning.plan_of(settings, project, task, tuple(arguments)),
        allowance=planning.allowance_of(settings),
        configuration=planning.configuration_of(settings),
        loop_id=loop_id,
    )


def settings_of(project: Project, said: dict[str, Any]) -> Settings:
    settings = layers.load(project.root, said)
    for warning in settings.warnings:
        warnings.warn(warning, stacklevel=4)
    if settings.withheld:
        names = ", ".join(setting.key for setting in settings.withheld)
        warnings.warn(f"this project's settings are not trusted, so these are not used: {names}", stacklevel=4)
    return settings


def given(options: Mapping[str, Any], known: type[Any]) -> dict[str, Any]:
    """What the caller said, as the settings take it; None is the same as nothing."""
    for name in options:
        if name not in known.__annotations__:
            raise TypeError(f"unexpected keyword argument {name!r}; there are: {', '.join(known.__annotations__)}")
    return {name: _plain(name, value) for name, value in options.items() if value is not None}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, timedelta):
        return f"{math.ceil(value.total_seconds())}s"
    if name in _LISTS:
        return list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else [value]
    return value
