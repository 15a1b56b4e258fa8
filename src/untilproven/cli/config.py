"""`ralph config`."""

import click

from untilproven.cli import here, output
from untilproven.cli.flags import given, settings_flags
from untilproven.config.layers import load
from untilproven.config.settings import Setting, Settings
from untilproven.config.sources import unknown_key
from untilproven.config.values import to_plain, to_toml
from untilproven.errors import ConfigError
from untilproven.model.settings import BY_KEY, OPTIONS, SECTIONS


@click.command("config", short_help="the settings in force, and where each comes from")
@click.argument("key", required=False, shell_complete=lambda _ctx, _param, typed: _completions(typed))
@click.option("--origin", is_flag=True, help="say where each value comes from")
@click.option("--json", "as_json", is_flag=True, help="print as JSON, with origins")
@settings_flags()
def command(key: str | None, *, origin: bool, as_json: bool) -> None:
    """Show the settings in force, or those of KEY: a setting, or a section like `task`.

    Flags of `ralph run` can be given as well, to see what they would change.
    """
    keys = _keys(key)
    settings = load(here.project().root, given())
    if as_json:
        output.emit_json(_as_json(settings, keys))
    elif key in BY_KEY and not origin:
        _print_value(settings.value(keys[0]))
    else:
        head = ("setting", "value", "origin") if origin else ("setting", "value")
        output.table(head, (_row(settings.found[name])[: len(head)] for name in keys))
    for warning in settings.warnings:
        output.warn(warning)
    if not as_json:
        _name_withheld(settings, keys)


def _keys(key: str | None) -> list[str]:
    keys = [option.key for option in OPTIONS if key in (None, option.key, option.section)]
    if not keys or key == "":
        message, hint = unknown_key(key or "")
        raise ConfigError(message, hint=hint)
    return keys


def _as_json(settings: Settings, keys: list[str]) -> dict[str, object]:
    return {
        "settings": {
            key: {"value": to_plain(settings.value(key)), "origin": str(settings.origin(key))} for key in keys
        },
        "withheld": [
            {"key": setting.key, "value": to_plain(setting.value), "origin": str(setting.origin)}
            for setting in settings.withheld
            if setting.key in keys
        ],
    }


def _print_value(value: object) -> None:
    """For scripts: the bare value, a list item by item, and nothing for what is not set."""
    plain = to_plain(value)
    for item in plain if isinstance(plain, list) else [] if plain is None else [plain]:
        click.echo(item if isinstance(item, str) else to_toml(item))


def _row(setting: Setting) -> tuple[str, str, str]:
    return setting.key, "-" if setting.value is None else to_toml(setting.value), str(setting.origin)


def _name_withheld(settings: Settings, keys: list[str]) -> None:
    withheld = [setting for setting in settings.withheld if setting.key in keys]
    for setting in withheld:
        output.warn(f"not in force until you trust it: {setting.key} = {to_toml(setting.value)} ({setting.origin})")
    if withheld:
        output.note("  to look at these settings and allow them: ralph trust")


def _completions(typed: str) -> list[str]:
    return [name for name in (*BY_KEY, *sorted(SECTIONS)) if name.startswith(typed)]
