"""Which agents are here, which of them can work, and which one does if nobody names one."""

import os
from pathlib import Path
from typing import NamedTuple

from untilproven.agents.factory import BUILT_IN, NAMES, adapter_of
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
    why: str = ""

    @property
    def missing(self) -> str:
        """Why it cannot work; empty if it can."""
        if not self.program:
            return "not on PATH"
        return "" if self.billed else f"{self.why or 'nobody is logged in'}: {self.hint}"


def look(name: str, root: Path, model: str = "") -> Seen:
    adapter = adapter_of(name, model)
    identity = adapter.identity(os.environ, there(adapter.logins))
    return Seen(name, program_of(adapter, root), *identity)


def survey(root: Path, model: str = "") -> tuple[Seen, ...]:
    return tuple(look(name, root, model) for name in NAMES)


def choose(root: Path, model: str = "") -> Seen:
    """The first that can work. Nothing is started to find out."""
    seen = survey(root, model)
    for one in seen:
        if not one.missing:
            return one
    installed = [f"{one.name}: {one.missing}" for one in seen if one.program and one.name != BUILT_IN]
    if installed:
        raise NoAgent(f"no agent can work yet ({'; '.join(installed)})", hint=f"log in to one, {_OTHERWISE}")
    *known, built_in = seen
    raise NoAgent(
        f"no agent is named, and none that is known is on PATH ({', '.join(one.name for one in known)})",
        hint=f"install one; or for {built_in.name}, which is built in, {built_in.hint}; {_OTHERWISE}",
    )
