"""`ralph agents`."""

import os
import re
import subprocess

import click

from untilproven.agents import choosing
from untilproven.cli import here, output

_SECONDS = 20.0
_VERSION = re.compile(r"\d+(?:\.\d+)+\S*")


@click.command("agents", short_help="the agents that are known, and which can work here")
@click.option("--json", "as_json", is_flag=True, help="print it as JSON")
def command(*, as_json: bool) -> int:
    """List the agents that ralph knows by name: version, who is billed, and what is missing.

    The first that can work is the one that `--agent auto` takes.
    """
    seen = choosing.survey(here.project().root)
    asked = {one.name: _started(one.program) for one in seen if one.program}
    versions = {name: _version(answer) for name, answer in asked.items()}
    if as_json:
        told = [
            {
                "name": one.name,
                "program": one.program or None,
                "version": versions.get(one.name) or None,
                "billed": one.billed or None,
                "missing": one.missing or None,
            }
            for one in seen
        ]
        output.emit_json({"agents": told})
        return 0
    rows = [
        (one.name, versions.get(one.name) or "-", "ready" if not one.missing else "missing", _state(one))
        for one in seen
    ]
    output.table(("agent", "version", "state", ""), rows)
    return 0


def _state(one: choosing.Seen) -> str:
    return one.missing or f"billed: {one.billed}"


def _started(program: str) -> subprocess.Popen[bytes]:
    """All at once: some take seconds to say who they are."""
    env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.Popen(
        [program, "--version"],
        cwd="/",
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _version(answer: subprocess.Popen[bytes]) -> str:
    try:
        said, _ = answer.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        answer.kill()
        answer.communicate()
        return ""
    found = _VERSION.search(said.decode("utf-8", "replace"))
    return found[0] if found else ""
