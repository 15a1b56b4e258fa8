"""An adapter that listens to lines of its agent, recorded or made up."""

import json
import math
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from real_agents.recorded import DATA, Recorded, load
from untilproven.agents.adapter import Asked, Call, Conclusion
from untilproven.agents.factory import adapter_of
from untilproven.agents.home import Home
from untilproven.agents.listening import Telling
from untilproven.contract import Turn
from untilproven.model.events import AgentEvent
from untilproven.model.iteration import Usage
from untilproven.model.program import Ending

NOTHING = Usage()
NOT_ASKED = Asked()
WITH_LINES = ("claude", "codex", "opencode", "gemini", "qwen")
Line = dict[str, Any]


class Heard(NamedTuple):
    came: Conclusion
    events: list[AgentEvent]

    def told(self, kind: str) -> list[str]:
        return [str(event.text) for event in self.events if event.kind == kind]

    @property
    def actions(self) -> list[tuple[str, str]]:
        return [
            (event.data["kind"], event.data["target"]) for event in self.events if event.kind == "action" and event.data
        ]


def assert_sound(heard: Heard) -> None:
    """Whatever it was told, what came of it can be kept, and be a word of a command line."""
    came = heard.came
    for usage in (came.usage, came.sums):
        assert msgspec.json.decode(msgspec.json.encode(usage), type=Usage) == usage
        assert all(math.isfinite(told) and told >= 0 for told in (usage.cost_usd or 0, usage.total_tokens or 0))
    assert isinstance(came.said, str)
    assert came.session == "" or came.session[0].isalnum()
    for event in heard.events:
        assert msgspec.json.decode(msgspec.json.encode(event), type=AgentEvent).kind == event.kind
    assert msgspec.json.encode(came.result)


def listen(
    name: str,
    lines: Iterable[Line],
    ending: Ending,
    *,
    before: Usage = NOTHING,
    chatter: str = "",
    home: Home | None = None,
) -> Heard:
    """Hear the lines to their end."""
    events: list[AgentEvent] = []
    with tempfile.TemporaryDirectory() as nowhere:
        hearing = adapter_of(name).hearing(
            Telling(events.append, 1), before, home or Home(Path(nowhere), "ralph-x-00000000", name)
        )
        for line in lines:
            hearing.hear(line)
        return Heard(hearing.conclude(ending, chatter), events)


def call_of(name: str, *, session: str = "", budget: float | None = None, asked: Asked = NOT_ASKED) -> Call:
    """How the agent is started."""
    file = Path("/prompt.md")
    turn = Turn(
        loop_id="ralph-x-00000000",
        iteration=1,
        prompt="fix it",
        prompt_file=file,
        result_file=file,
        result_here=file,
        session=session,
        budget_usd=budget,
    )
    return adapter_of(name).call(turn, asked, Path("/own"))


def lines_of(run: Recorded) -> list[Line]:
    return [json.loads(line) for line in run.out.splitlines()]


def ended(code: int | None) -> Ending:
    """As it ended when it was recorded; the suite records a signal as a negative number."""
    return Ending(signal=-code) if code is not None and code < 0 else Ending(exit_code=code)


def recorded(name: str, case: str, *, at: int = 0, before: Usage = NOTHING) -> Heard:
    """One run of a case, heard."""
    run = load(name, case)[at]
    return listen(name, lines_of(run), ended(run.code), before=before)


def all_recorded(name: str) -> list[Recorded]:
    """Every run of every case."""
    cases = json.loads((DATA / name / "endings.json").read_text())
    return [run for case in cases for run in load(name, case)]
