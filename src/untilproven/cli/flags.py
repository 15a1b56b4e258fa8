"""The command line's side of the settings: one flag for each, made from its declaration."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from untilproven.config.values import to_toml
from untilproven.model.settings import OPTIONS, Kind, Option

_GIVEN = "untilproven.settings"
_METAVARS = {Kind.COUNT: "N", Kind.MONEY: "USD", Kind.DURATION: "DURATION"}
_Verb = TypeVar("_Verb", bound=Callable[..., Any])


def settings_flags(options: Iterable[Option] = OPTIONS) -> Callable[[_Verb], _Verb]:
    """Give a verb a flag for each of these settings; `given` says which were used."""

    def decorate(verb: _Verb) -> _Verb:
        for option in reversed([*options]):
            verb = _flag(option)(verb)
        return verb

    return decorate


def given() -> dict[str, Any]:
    """What was typed, by key, as `config.layers.load` takes it."""
    found: dict[str, Any] = click.get_current_context().meta.get(_GIVEN, {})
    return found


def _flag(option: Option) -> Callable[[_Verb], _Verb]:
    def remember(ctx: click.Context, _param: click.Parameter, value: Any) -> None:
        if value not in (None, ()):
            ctx.meta.setdefault(_GIVEN, {})[option.key] = value

    name = "setting_" + option.key.replace(".", "_")
    switch = option.kind is Kind.SWITCH
    spelled = [f"{option.flag}/--no-{option.flag[2:]}"] if switch else option.flags
    return click.option(
        *spelled,
        name,
        type=click.BOOL if switch else click.Choice(option.choices) if option.choices else click.STRING,
        default=None,
        multiple=option.kind is Kind.LIST,
        metavar=_METAVARS.get(option.kind),
        help=_help(option),
        expose_value=False,
        callback=remember,
    )


def _help(option: Option) -> str:
    shown = "" if option.default in (None, ()) else f" [default: {to_toml(option.default).strip(chr(34))}]"
    return option.help + shown
