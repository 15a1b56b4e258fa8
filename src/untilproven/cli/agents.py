"""`ralph agents`."""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable
from typing import IO, NamedTuple

import click
from msgspec import UNSET

from untilproven import __version__
from untilproven.agents import choosing
from untilproven.agents.factory import BUILT_IN, NAMES, adapter_of, agent_of
from untilproven.cli import here, output, person
from untilproven.core.naming import quoted
from untilproven.errors import NoAgent, UsageError
from untilproven.model.plan import Plan

_SECONDS = 20.0
"""For all of them."""
_LONGEST = 4096
_VERSION = re.compile(r"\d+(?:\.\d+)+\S*")


@click.group("agents", invoke_without_command=True, short_help="the agents that are known, and which can work here")
@click.option("--json", "as_json", is_flag=True, help="print it as JSON")
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> int:
    """List the agents that ralph knows by name: version, who is billed, and what is missing.

    The first that can work is the one that `--agent auto` takes.
    """
    if context.invoked_subcommand:
        return 0
    return _list(as_json=as_json)


@command.command("check", short_help="try whether an agent keeps to what a loop relies on")
@click.argument("name")
@click.argument("agent_arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--agent-cmd", "line", help="the command, if NAME is `command`")
@click.option("--model", help="the model the agent is told to use")
@click.option("--sandbox", default="auto", help="the room to try it in: auto, overlay, shadow or none")
@click.option("--yes", is_flag=True, help="do not ask before the model is asked")
@click.option("--json", "as_json", is_flag=True, help="print it as JSON")
def check(
    name: str,
    agent_arguments: tuple[str, ...],
    line: str | None,
    model: str | None,
    sandbox: str,
    *,
    yes: bool,
    as_json: bool,
) -> int:
    """Let the agent NAME work on a few small things in a project made for that, and see whether it finishes, fails,
    resumes, stays in its room and is gone when it is stopped as a loop needs it to.

    NAME is what `--agent` takes. Its model is really asked, nine times at most. Exits with 1 if something did not hold.
    """
    from untilproven.runtime import conformance  # noqa: PLC0415  loads all that runs an agent
    from untilproven.workspace.factory import chosen  # noqa: PLC0415  the same

    root = here.project().root
    name = choosing.choose(root, model or "").name if name == "auto" else name
    plan = Plan(
        agent=name,
        agent_cmd=line or UNSET,
        agent_arguments=agent_arguments,
        model=model or UNSET,
        task_hash="",
        sandbox=chosen(sandbox),
    )
    if why := agent_of(plan, root).missing(root):
        raise NoAgent(f"the agent cannot be started: {why}", hint="`ralph agents` says what is missing")
    if not yes and not (person.is_there() and click.confirm(f"This asks the model of {name}, which may cost. Go on?")):
        raise UsageError("nothing was tried", hint="--yes tries it without a question")
    outcomes = []
    for one in conformance.examine(plan, root):
        outcomes.append(one)
        if not as_json:
            output.line(f"{'ok    ' if one.ok else 'FAILED'} {one.scene}{f': {one.why}' if one.why else ''}")
    if as_json:
        output.emit_json({"agent": name, "outcomes": [one._asdict() for one in outcomes]})
    return 0 if all(one.ok for one in outcomes) else 1


@command.command("login", short_help="log in to an agent for the loops alone")
@click.argument("name")
@click.argument("agent_arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--forget", "is_over", is_flag=True, help="remove it: your own login is lent again")
def login(name: str, agent_arguments: tuple[str, ...], *, is_over: bool) -> int:
    """Log in to the agent NAME once more, for the loops alone. They are lent that login instead of yours, so that
    neither can log the other out.

    The agent's own program asks you; where it stays open after that, leave it. What follows `--` is passed on to it.
    """
    from untilproven.agents import logging_in, own_logins  # noqa: PLC0415  loads all that runs an agent

    root = here.project().root
    if name not in NAMES:
        raise UsageError(f"there is no agent {quoted(name)} to log in to", hint=f"there are: {', '.join(NAMES)}")
    if is_over and not own_logins.forget(name):
        raise UsageError(f"there is no login of {name} for the loops alone", hint="`ralph agents` says what is used")
    if not is_over:
        place = logging_in.log_in(adapter_of(name), root, agent_arguments)
        output.note(f"the login for the loops is in {place}")
    seen = choosing.look(name, root)
    output.line(f"{name}: {_state(seen)}")
    return 0


def _list(*, as_json: bool) -> int:
    seen = choosing.survey(here.project().root)
    until = time.monotonic() + _SECONDS
    asked = {one.name: _started(one.program) for one in seen if one.program and one.name != BUILT_IN}
    try:
        versions = {name: _version(started, until) for name, started in asked.items() if started}
    finally:
        _end(filter(None, asked.values()))
    versions[BUILT_IN] = __version__
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


class _Asked(NamedTuple):
    """A program that was asked for its version, and where it answers: a file, for a pipe may stay open when it ends."""

    program: subprocess.Popen[bytes]
    answer: IO[bytes]


def _started(program: str) -> _Asked | None:
    """All at once: some take seconds to say who they are."""
    env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    answer = tempfile.TemporaryFile()  # noqa: SIM115  closed by whoever reads the answer
    try:
        started = subprocess.Popen(
            [program, "--version"],
            cwd="/",
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=answer,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:  # it is no program, for all its name and mode
        answer.close()
        return None
    return _Asked(started, answer)


def _version(asked: _Asked, until: float) -> str:
    with asked.answer as answer:
        try:
            asked.program.wait(max(until - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            return ""
        answer.seek(0)
        found = _VERSION.search(answer.read(_LONGEST).decode("utf-8", "replace"))
    return found[0] if found else ""


def _end(asked: Iterable[_Asked]) -> None:
    """Those that still think about it."""
    for one in asked:
        if one.program.poll() is None:
            os.killpg(one.program.pid, signal.SIGKILL)
            one.program.wait()
