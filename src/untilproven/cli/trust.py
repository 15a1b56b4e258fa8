"""`ralph trust`."""

import sys
from pathlib import Path

import click

from untilproven.cli import here, output
from untilproven.config import trust
from untilproven.config.layers import load
from untilproven.config.settings import Ask
from untilproven.config.sources import PROJECT_FILE, PYPROJECT
from untilproven.config.values import to_plain, to_toml
from untilproven.errors import UsageError


@click.command("trust", short_help="allow this project's settings to run commands")
@click.option("--yes", is_flag=True, help="allow without asking")
@click.option("--revoke", is_flag=True, help="take back what was allowed to this project")
@click.option("--json", "as_json", is_flag=True, help="print what was allowed as JSON; needs --yes or --revoke")
def command(*, yes: bool, revoke: bool, as_json: bool) -> int:
    """Show what this project's settings would be allowed to do, and allow it.

    Exactly what is shown is allowed: when one of these settings changes, ralph asks again.
    """
    root = here.project().root
    if revoke:
        if yes:
            raise UsageError("--yes allows and --revoke takes back", hint="give one of the two")
        return _revoke(root, as_json=as_json)
    return _allow(load(root).ask, yes=yes, as_json=as_json)


def _allow(ask: Ask | None, *, yes: bool, as_json: bool) -> int:
    already = ask is None or trust.is_granted(ask)
    if not as_json:
        _show(ask, already=already)
    if ask and not already:
        if not yes and not _agreed(ask, as_json=as_json):
            output.note("nothing was allowed")
            return 1
        trust.grant(ask)
    if as_json:
        output.emit_json(_as_json(ask))
    elif ask and not already:
        output.note(f"allowed; to take it back: ralph trust --revoke  ({ask.file})")
    return 0


def _show(ask: Ask | None, *, already: bool) -> None:
    if ask is None:
        output.note("nothing to trust: this project's settings run no command and weaken no protection")
        return
    click.echo(f"{output.printable(str(ask.file))} {'is trusted with' if already else 'asks to be trusted with'}:")
    for setting in ask.settings:
        line = setting.origin.where.rpartition(":")[2]
        click.echo(f"  line {line}: {setting.key} = {to_toml(setting.value)}")


def _agreed(ask: Ask, *, as_json: bool) -> bool:
    if as_json or not sys.stdin.isatty():
        raise UsageError(
            f"nobody is here to ask, so nothing in {ask.file} was trusted",
            hint="allow it: ralph trust --yes (or for one call: RALPH_TRUST=1)",
        )
    return click.confirm("Allow this?", err=True)


def _as_json(ask: Ask | None) -> dict[str, object]:
    if ask is None:
        return {"file": None, "trusted": {}}
    return {
        "file": str(ask.file),
        "trusted": {setting.key: to_plain(setting.value) for setting in ask.settings},
    }


def _revoke(root: Path, *, as_json: bool) -> int:
    gone = trust.revoke([root / PROJECT_FILE, root / PYPROJECT])
    if as_json:
        output.emit_json({"revoked": [str(path) for path in gone]})
    elif not gone:
        output.note("nothing to take back: no settings of this project are trusted")
    for path in gone if not as_json else ():
        output.note(f"{path} is no longer trusted")
    return 0
