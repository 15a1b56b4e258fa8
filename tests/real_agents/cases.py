"""What every agent is put through by itself, to see what it says and how it ends."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from models.script import Bash, Failure, Read, Script, Step, Turn, Write
from models.server import ModelServer
from real_agents.clients import CLIENTS, Place
from real_agents.install import CACHE
from real_agents.running import Ran, run

RESETS_AT = 1_900_000_000
"""In 2030: what is recorded with it stays true."""
DONE = "All finished. <promise>DONE</promise>"
_AUTHOR = ["-c", "user.name=A User", "-c", "user.email=user@example.com"]
_WRITE = Turn(calls=(Write(write="made.txt", content="by the agent\n"),))
_SLEEP = Bash(bash="touch started; sleep 300; touch late.txt")


class Case(NamedTuple):
    steps: tuple[Step, ...]
    prompts: int = 1
    """How often it is started, going on with its session."""
    killed: bool = False
    subscription: bool = False
    agents: tuple[str, ...] = tuple(CLIENTS)
    """For whom it means something."""


_WITH_TOOLS = tuple(name for name in CLIENTS if name != "aider")
_GIVING_UP = tuple(name for name in CLIENTS if name != "opencode")
"""Opencode tries again for ever: quietly after a 429, with a shorter prompt when it was too long."""
CASES = {
    "turn": Case((_WRITE, Turn(say=DONE))),
    "tools": Case(
        (Turn(say="I look.", calls=(Bash(bash="echo seen"), Read(read="README.md"))), Turn(say=DONE)),
        agents=_WITH_TOOLS,
    ),
    "failing_tool": Case((Turn(calls=(Bash(bash="echo wrong >&2; exit 3"),)), Turn(say=DONE)), agents=_WITH_TOOLS),
    "resumed": Case((_WRITE, Turn(say="First."), Turn(say="Second.")), prompts=2),
    "refused": Case((Turn(say="I will not do that.", refused=True),) * 5),
    "unauthorized": Case((Failure(fail="unauthorized"),) * 100),
    "usage_limit": Case((Failure(fail="usage_limit", resets_at=RESETS_AT),) * 100, agents=_GIVING_UP),
    "subscription": Case((_WRITE, Turn(say=DONE)), subscription=True, agents=("claude",)),
    "subscription_limit": Case(
        (Failure(fail="usage_limit", resets_at=RESETS_AT),) * 100, subscription=True, agents=("claude",)
    ),
    "rate_limit": Case((Failure(fail="rate_limit", retry_after=1), Turn(say=DONE))),
    "too_long": Case((Failure(fail="too_long"),) * 100, agents=_GIVING_UP),
    "cut": Case((Turn(say="Half of this is said.", fault="cut"), Turn(say=DONE))),
    "killed": Case((Turn(calls=(_SLEEP,)),), killed=True, agents=_WITH_TOOLS),
}


class Played(NamedTuple):
    runs: list[Ran]
    place: Place
    server: ModelServer


@contextmanager
def stage(name: str, script: Script, directory: Path) -> Iterator[tuple[Place, ModelServer]]:
    root = directory / "project"
    home = directory / "home"
    root.mkdir(parents=True)
    home.mkdir()
    (root / "README.md").write_text("# A project\n")
    for words in (["init", "-q"], ["add", "."], [*_AUTHOR, "commit", "-qm", "begin"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    with ModelServer(script) as server:
        yield Place(root, home, server.url(name)), server


def play(name: str, case: Case, directory: Path) -> Played:
    with stage(name, {name: case.steps}, directory) as (there, server):
        place = there._replace(subscription=case.subscription)
        runs: list[Ran] = []
        for at in range(case.prompts):
            session = session_of(name, runs[0]) if at else ""
            started = place.root / "started" if case.killed else None
            runs.append(run(name, place, f"prompt {at + 1}", session, kill_after=started))
    return Played(runs, place, server)


def session_of(name: str, ran: Ran) -> str:
    """What the agent calls its session. Aider has one for each directory."""
    if name == "aider":
        return "this"
    first = json.loads(ran.out.partition("\n")[0])
    return str(first.get("session_id") or first.get("thread_id") or first["sessionID"])


def scrubbed(text: str, place: Place) -> str:
    """What an agent said, without the traces of this machine."""
    address = place.url.rpartition("/")[0]
    for here, there in {
        str(place.root): "/project",
        str(place.root)[1:]: "project",
        str(place.home): "/home/user",
        re.sub(r"[^A-Za-z0-9]", "-", str(place.root)): "-project",
        str(CACHE): "/agents",
        address: "http://model",
    }.items():
        text = text.replace(here, there)
    return text
