"""`ralph verify COMMIT`."""

import sys
from typing import Any

import click
import msgspec

from untilproven.cli import here, output
from untilproven.config import durations
from untilproven.errors import UsageError
from untilproven.model import wire
from untilproven.workspace.factory import require
from untilproven.workspace.git.verifying import Checked, Verified, verify

_SHOWN = 20


@click.command("verify", short_help="run a commit's checks again, on its own tree")
@click.argument("commit")
@click.option("--until", multiple=True, metavar="CMD", help="what to check, instead of what the loop had; repeatable")
@click.option(
    "--sandbox",
    type=click.Choice(["overlay", "none"]),
    default="overlay",
    help="the room the checks run in; none runs the commit's code as you [default: overlay]",
)
@click.option("--check-timeout", metavar="DURATION", help="how long one check may take [default: 10m]")
@click.option("--json", "as_json", is_flag=True, help="print it as JSON")
def command(commit: str, *, until: tuple[str, ...], sandbox: str, check_timeout: str | None, as_json: bool) -> int:
    """Run the checks of the loop that made COMMIT once more, on that commit's tree.

    A trailer proves nothing by itself: the checks are those of a loop that you started here, or the ones you give
    with --until. Exits with 0 if they all pass and the receipt is the one the commit names, and with 1 if not.
    """
    require(sandbox)
    found = verify(here.project(), commit, until=until, sandbox=sandbox, seconds=_seconds(check_timeout))
    if as_json:
        output.emit_json(_document(found))
    else:
        _tell(found)
    return 0 if found.holds else 1


def _seconds(text: str | None) -> float | None:
    try:
        return durations.parse(text).total_seconds() if text else None
    except ValueError as error:
        raise UsageError(f"--check-timeout: {error}") from error


def _tell(found: Verified) -> None:
    claim, receipt = found.claim, found.receipt
    told = [("commit", found.commit)]
    if claim:
        told += [("loop", claim.loop_id), ("task", claim.task_id), ("claims", claim.proof), ("receipt", claim.receipt)]
    if receipt:
        told.append(("said then", f"{receipt.status}, proof {receipt.proof or 'none'}"))
    told += [("check", f"{one.check}: {_verdict(one)}") for one in found.checked]
    told.append(("found", _outcome(found)))
    for label, text in told:
        if text:
            output.line(f"{label:<12}{output.printable(text)}")
    for one in found.checked:
        if not one.found.passed:
            for line in one.found.output.strip().splitlines()[-_SHOWN:]:
                output.note(f"  {line}")
    for text in found.notes:
        output.note(f"note: {text}")
    if found.sandbox == "none":
        sys.stderr.write("note: without a room: the commit's code ran as you\n")


def _outcome(found: Verified) -> str:
    if not found.holds:
        return f"not proven: {found.why}"
    return "proven again: the checks pass on this commit" if found.receipt else "the checks pass on this commit"


def _verdict(one: Checked) -> str:
    if one.found.broken:
        return "could not run"
    return "passed" if one.found.passed else "failed"


def _document(found: Verified) -> dict[str, Any]:
    document: dict[str, Any] = {
        "commit": found.commit,
        "proven": found.holds,
        "why": found.why,
        "sandbox": found.sandbox,
        "checks": [
            {
                "check": one.check,
                "passed": one.found.passed,
                "broken": one.found.broken,
                "seconds": round(one.found.seconds, 3),
                "output": one.found.output,
            }
            for one in found.checked
        ],
        "notes": list(found.notes),
    }
    if found.claim:
        document["claim"] = {name: value for name, value in msgspec.structs.asdict(found.claim).items() if value}
    if found.receipt:
        document["receipt"] = wire.to_builtins(found.receipt)
    return document
