"""Several agents for one loop: the next takes over where one has met its provider's limit."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from untilproven.agents.listening import Telling
from untilproven.agents.spending import all_of
from untilproven.contract import Agent, AgentRoom, Emit, Turn, Worked
from untilproven.store import clock

_UNTOLD = timedelta(minutes=1)
"""After that long an agent is tried again whose provider did not say when; then after twice as long each time."""
_MOST_DOUBLED = 6


class InTurn:
    """The first that its provider lets work. They take turns within an iteration, and none of them knows."""

    def __init__(self, agents: Sequence[Agent], time: clock.Clock = clock.now) -> None:
        self._agents, self._time = agents, time
        self._limited: dict[str, datetime] = {}
        self._in_a_row: Counter[str] = Counter()

    @property
    def name(self) -> str:
        return ",".join(agent.name for agent in self._agents)

    def missing(self, root: Path) -> str:
        """Every one that is named is expected to be there when its turn comes."""
        return "; ".join(why for agent in self._agents if (why := agent.missing(root)))

    def move_in(self, loop_id: str) -> None:
        for agent in self._agents:
            agent.move_in(loop_id)

    def move_out(self, loop_id: str) -> None:
        for agent in self._agents:
            agent.move_out(loop_id)

    def work(self, turn: Turn, room: AgentRoom, emit: Emit) -> Worked:
        now = self._time()
        free = [agent for agent in self._agents if self._limited.get(agent.name, now) <= now] or list(self._agents)
        whose, _, session = turn.session.partition(":")
        used = []
        for place, agent in enumerate(free):
            own = replace(turn, session=session if whose == agent.name else "")
            worked = agent.work(own, room, emit)
            used.append(worked.usage)
            if not worked.usage_limit:
                self._in_a_row.pop(agent.name, None)
                break
            self._limited[agent.name] = worked.usage_limit.resume_at or self._untold(agent.name)
            if place + 1 < len(free):
                words = f"{agent.name} has met its provider's limit; {free[place + 1].name} goes on"
                Telling(emit, turn.iteration).event("error", words)
                if worked.ending.stopped_because:
                    worked = replace(worked, usage_limit=None)  # in the next iteration
                    break
        session = f"{agent.name}:{worked.session}" if worked.session else ""
        limit = worked.usage_limit and replace(worked.usage_limit, resume_at=min(self._limited.values()))
        uncounted = worked.uncounted or len(used) > 1  # what one of them did not tell is not in the others' words
        return replace(worked, usage=all_of(used), uncounted=uncounted, session=session, usage_limit=limit)

    def _untold(self, name: str) -> datetime:
        doubled = min(self._in_a_row[name], _MOST_DOUBLED)
        self._in_a_row[name] += 1
        return self._time() + _UNTOLD * (1 << doubled)
