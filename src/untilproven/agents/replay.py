"""The agent `replay`: plays a cassette, one iteration at a time, in a real process."""

import marshal
import os
import sys
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from untilproven.agents import cassette, outcome, statement
from untilproven.agents.command import forget_result, tell
from untilproven.agents.listening import Printed, Telling
from untilproven.agents.spending import together, usage_of
from untilproven.agents.surroundings import surroundings
from untilproven.contract import AgentRoom, Emit, Turn, UsageLimit, Worked
from untilproven.core.naming import quoted
from untilproven.core.sameness import comparable, difference
from untilproven.errors import ConfigError
from untilproven.model.iteration import Action, IterationResult, Usage
from untilproven.model.program import Ending, Stream
from untilproven.process.lines import Lines
from untilproven.process.spool import Excerpt
from untilproven.store.files import MIB

_PLAYER = Path(__file__).with_name("player.py")


class ReplayAgent:
    """Does what the cassette says; reading it raises a ConfigError if it says anything that cannot be played."""

    def __init__(self, path: Path, *, strict: bool = False) -> None:
        self._cassette, self._strict = cassette.load(path), strict
        if strict and not all(scene.expect for scene in self._cassette.iteration):
            raise ConfigError(
                f"{path} does not say what was seen when it was recorded, so --mode strict has nothing to compare",
                hint="record a loop with --mode logged, and play its directory recording/",
            )

    @property
    def name(self) -> str:
        return "replay"

    def missing(self, root: Path) -> str:  # noqa: ARG002  the cassette is in memory by now
        return "" if os.access(sys.executable or "", os.X_OK) else "there is no Python to play the cassette with"

    def move_in(self, loop_id: str) -> None:
        """It needs nothing of its own."""

    def move_out(self, loop_id: str) -> None:
        """The same."""

    def work(self, turn: Turn, room: AgentRoom, emit: Emit) -> Worked:
        scene = cassette.scene_of(self._cassette, turn.iteration)
        expected = scene.expect if self._strict else UNSET
        if self._strict and not expected:
            return Worked(ending=Ending(exit_code=0), diverged="the record has no such iteration")
        if expected and expected.before != turn.tree:
            return Worked(ending=Ending(exit_code=0), diverged="it begins with another tree")
        if expected and (other := difference(expected.prompt, comparable(turn.prompt, str(room.root), turn.loop_id))):
            return Worked(ending=Ending(exit_code=0), diverged=other)
        forget_result(turn.result_here)
        telling = Telling(emit, turn.iteration)
        heard = _Heard(telling)
        ending = room.stream(
            [sys.executable, "-I", "-S", str(_PLAYER)],
            output=heard.hear,
            stdin=marshal.dumps(msgspec.to_builtins(scene.steps)),
            env=surroundings(turn),
        )
        heard.finish()
        stated = statement.in_file(turn.result_here) or statement.Statement()
        tell(telling, stated)
        return Worked(
            ending=ending,
            result=outcome.result_of(ending, heard.result or stated.result),
            said=heard.said.text(),
            usage=together([*heard.usages, stated.usage]),
            usage_limit=heard.limit or stated.usage_limit,
            actions=tuple(heard.actions),
            session=heard.session or stated.session,
            expected_tree=expected.tree if expected else "",
        )


class _Reported(msgspec.Struct, frozen=True):
    """One line of the player's."""

    kind: Literal["text", "action", "usage", "limit", "error", "result", "session"]
    text: str = ""
    data: dict[str, Any] = {}


class _Heard:
    """What the player has reported so far."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._tools = Printed(telling, {"role": "tool"})
        self._lines = Lines(2 * MIB)
        self.said = Excerpt()
        self.usages: list[Usage] = []
        self.actions: list[Action] = []
        self.limit: UsageLimit | None = None
        self.result: IterationResult | None = None
        self.session = ""

    def hear(self, stream: Stream, chunk: bytes) -> None:
        if stream == "stderr":
            self._tools.write(chunk)
            return
        for line in self._lines.feed(chunk):
            self._line(line)

    def finish(self) -> None:
        """A player that was killed may have left half a line."""
        self._tools.finish()
        for line in self._lines.finish():
            self._line(line)

    def _line(self, line: str) -> None:
        try:
            reported = msgspec.json.decode(line, type=_Reported)
            self._take(reported)
        except ValueError as error:
            self._telling.event("error", f"the player's line {quoted(line)} is not understood: {error}")

    def _take(self, reported: _Reported) -> None:
        match reported.kind:
            case "text" if "role" not in reported.data:
                self.said.write(f"{reported.text}\n".encode())
            case "action":
                self.actions.append(msgspec.convert(reported.data, Action))
            case "usage":
                self.usages.append(usage_of(reported.data))
            case "limit":
                self.limit = statement.limit_of(reported.data)
            case "result":
                self.result = statement.result_of(reported.data)
            case "session":
                self.session = statement.session_of(reported.text)
                return
        self._telling.event(reported.kind, reported.text, reported.data)
