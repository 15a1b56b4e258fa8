"""Settings of one call: from its environment, and from what was typed."""

from collections.abc import Iterator, Mapping
from typing import Any

from untilproven.config import values
from untilproven.config.nearest import nearest
from untilproven.config.settings import Found, Layer, Origin, Setting
from untilproven.core.naming import quoted
from untilproven.errors import ConfigError
from untilproven.model.settings import BY_KEY, OPTIONS

TRUST_VARIABLE = "RALPH_TRUST"
# Set by this program for what it starts, or read by it; none of them is a setting.
_RESERVED = frozenset(
    {TRUST_VARIABLE, "RALPH_LOOP_ID", "RALPH_ITERATION", "RALPH_RESULT_FILE", "RALPH_PROMPT_FILE"}
    | {"RALPH_TASK_ID", "RALPH_KEEPER", "RALPH_HOOK", "RALPH_LOOP", "RALPH_EVENT", "RALPH_MESSAGE"}
    | {"RALPH_GITHUB_TOKEN", "RALPH_GITHUB_URL"}
)
_PREFIX = "RALPH_"


def from_variables(environ: Mapping[str, str]) -> tuple[Found, list[str]]:
    """What the variables say, and a warning for each that was probably meant to be one. Empty is the same as unset."""
    settings: Found = {}
    for option in OPTIONS:
        if text := environ.get(option.variable):
            value = _named(option.variable, option.key, text)
            settings[option.key] = Setting(option.key, value, Origin(Layer.ENVIRONMENT, option.variable))
    return settings, [*_mistyped(environ)]


def _mistyped(environ: Mapping[str, str]) -> Iterator[str]:
    names = {option.variable.removeprefix(_PREFIX): option.variable for option in OPTIONS}
    for variable in sorted(environ):
        if variable.startswith(_PREFIX) and variable not in _RESERVED and variable not in names.values():
            near = nearest(variable.removeprefix(_PREFIX), names, cutoff=0.8)
            if near:
                yield f"{quoted(variable)[1:-1]} is not a setting; did you mean {names[near]}?"


def from_flags(flags: Mapping[str, Any]) -> Found:
    """What was typed: by key, text, or what the command line has already made a list or a switch."""
    return {
        key: Setting(key, _named(BY_KEY[key].flag, key, raw), Origin(Layer.FLAG, BY_KEY[key].flag))
        for key, raw in flags.items()
    }


def _named(name: str, key: str, raw: Any) -> Any:
    read = values.from_text if isinstance(raw, str) else values.from_toml
    try:
        return read(BY_KEY[key], raw)
    except ValueError as error:
        raise ConfigError(f"{name}: {error}", hint=f"`{key}` is: {BY_KEY[key].help}") from error


def is_trusted(environ: Mapping[str, str]) -> bool:
    """Whether this one call trusts the project's file, as CI does after a human reviewed it."""
    text = environ.get(TRUST_VARIABLE, "")
    try:
        return bool(text) and values.switch(text)
    except ValueError as error:
        raise ConfigError(f"{TRUST_VARIABLE}: {error}") from error
