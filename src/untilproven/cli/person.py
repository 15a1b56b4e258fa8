"""Questions to whoever sits in front of the terminal; without one nothing is asked."""

import sys

import click

from untilproven.cli import asking, output
from untilproven.errors import RalphError
from untilproven.runtime.control.requests import new_request
from untilproven.store.layout import StateDirectory


def is_there() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def a_check() -> str:
    """The command that tells when the work is done; empty if the person has none."""
    output.note("No check was given and none was found in this project.")
    answer: str = click.prompt("Which command tells that the work is done", default="", show_default=False, err=True)
    return answer.strip()


def frees_a_slot(directory: StateDirectory, full: RalphError) -> bool:
    """Whether the person picked one of the active loops to abort (source 004, interactive override)."""
    listed = full.details.get("active_loops", [])
    output.note(full.message)
    for number, row in enumerate(listed, start=1):
        output.note(f"  {number}  {row['loop_id']}  {row['task']}")
    choice = click.prompt(
        "Abort one of them to make room? Its number, or Enter for none",
        default=0,
        show_default=False,
        type=click.IntRange(0, len(listed)),
        err=True,
    )
    if not choice:
        return False
    asking.ask(directory, listed[choice - 1]["loop_id"], new_request("abort"), wait=True, as_json=False)
    return True
