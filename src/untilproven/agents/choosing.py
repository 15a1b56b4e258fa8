"""Which agents are here, which of them can work, and which one does if nobody names one."""

import os
from pathlib import Path
from typing import NamedTuple

from untilproven.agents.factory import NAMES, adapter_of
from untilproven.agents.known import program_of
from untilproven.agents.logins import there
from untilproven.errors import NoAgent

_OTHERWISE = 'or name any program: --agent-cmd "my-agent --print"; it gets the prompt on stdin'


class Seen(NamedTuple):
    """One of the agents that are known by name."""

    name: str
    program: str
    """Where it is; empty if it is not on PATH."""
    billed: str
    """Who is logged in; empty if nobody is."""
    hint: str = ""

    @property
    def missing(self) -> str:
        """Why it cannot work; empty if it can."""
        if not self.program:
            return "not on PATH"
        return "" if self.billed else f"nobody is logged in: {self.hint}"


def look(name: str, root: Path) -> Seen:
    adapter = adapter_of(name)
    identity = adapter.identity(os.environ, there(adapter.logins))
    return Seen(name, program_of(adapter, root), identity.words, identity.hint)


def survey(root: Path) -> tuple[Seen, ...]:
    return tuple(look(name, root) for name in NAMES)


def choose(root: Path) -> Seen:
    """The first that can work. Nothing is started to find out."""
    seen = survey(root)
    for one in seen:
        if not one.missing:
            return one
    installed = [f"{one.name}: {one.missing}" for one in seen if one.program]
    if installed:
        raise NoAgent(f"no agent can work yet ({'; '.join(installed)})", hint=f"log in to one, {_OTHERWISE}")
    raise NoAgent(
        f"no agent is named, and none that is known is on PATH ({', '.join(NAMES)})", hint=f"install one, {_OTHERWISE}"
    )
