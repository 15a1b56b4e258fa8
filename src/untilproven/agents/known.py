"""An agent that is known by name: its program is run as its adapter says, with a directory and a login of its own."""

import os
from pathlib import Path, PurePosixPath

import msgspec

from untilproven.agents import outcome, statement
from untilproven.agents.adapter import Adapter, Asked, Conclusion, Hearing
from untilproven.agents.command import forget_result, tell
from untilproven.agents.home import Home, forget
from untilproven.agents.listening import Printed, Telling
from untilproven.agents.logins import Lent, there
from untilproven.agents.surroundings import surroundings
from untilproven.agents.totals import Totals
from untilproven.contract import AgentRoom, Emit, Turn, Worked
from untilproven.model.iteration import Failed
from untilproven.model.program import Ending, Stream
from untilproven.process.lines import Lines
from untilproven.process.spool import Excerpt
from untilproven.store.files import MIB

_TIDY_SECONDS = 30.0
_LONGEST_LINE = 16 * MIB


class KnownAgent:
    def __init__(self, adapter: Adapter, asked: Asked, root: Path) -> None:
        self._adapter, self._asked, self._root = adapter, asked, root

    @property
    def name(self) -> str:
        return self._adapter.name

    def missing(self, root: Path) -> str:
        adapter = self._adapter
        if not program_of(adapter, root):
            return f"{adapter.program} is not on PATH"
        identity = adapter.identity(os.environ, there(adapter.logins))
        return "" if identity.words else f"nobody is logged in to {adapter.name}; {identity.hint}"

    def move_in(self, loop_id: str) -> None:
        Home(self._root, loop_id).make()

    def move_out(self, loop_id: str) -> None:
        forget(self._root, loop_id)

    def work(self, turn: Turn, room: AgentRoom, emit: Emit) -> Worked:
        adapter, home = self._adapter, Home(self._root, turn.loop_id)
        home.make()
        for name, content in adapter.files(home.path).items():
            home.write(name, content)
        forget_result(turn.result_here)
        telling = Telling(emit, turn.iteration)
        totals = Totals(home.beside)
        heard = _Heard(telling, adapter.hearing(telling, totals.of(turn.session), home))
        call = adapter.call(turn, self._asked, home.path)
        litter = [path for path in map(PurePosixPath, adapter.litter) if room.look(path) is None]
        with Lent(home, adapter.logins) as lent:
            ending = room.stream(
                [program_of(adapter, self._root) or adapter.program, *call.argv],
                output=heard.output,
                stdin=call.stdin,
                env={**surroundings(turn, self._asked.model), **call.env},
                pulse=lent.pulse,
            )
        if litter:
            room.run(["rm", "-rf", "--", *(str(path.parent) for path in litter)], timeout=_TIDY_SECONDS)
        for sentence in lent.refused:
            telling.event("error", sentence)
        came = heard.conclude(ending)
        totals.keep(came.session, came.sums)
        stated = statement.in_file(turn.result_here) or statement.in_words(came.said, turn.prompt)
        stated = stated or statement.Statement()
        tell(telling, msgspec.structs.replace(stated, usage=came.usage, usage_limit=came.usage_limit))
        claimed = came.result if isinstance(came.result, Failed) else stated.result or came.result
        return Worked(
            ending=ending,
            result=outcome.result_of(ending, claimed),
            said=came.said,
            usage=msgspec.structs.replace(came.usage, agent=adapter.name),
            usage_limit=came.usage_limit,
            session=came.session,
            unable=came.unable,
        )


def program_of(adapter: Adapter, root: Path) -> str:
    """Where its program is; empty if it is not on PATH. One in the project is not it: it would be lent the login."""
    tree = os.path.realpath(root)
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = Path(entry, adapter.program)
        if not entry.startswith("/") or not path.is_file() or not os.access(path, os.X_OK):
            continue
        if not any(Path(place).is_relative_to(tree) for place in (os.path.realpath(entry), os.path.realpath(path))):
            return str(path)
    return ""


class _Heard:
    """Sorts what the program prints: JSON for the adapter, the rest as chatter."""

    def __init__(self, telling: Telling, hearing: Hearing) -> None:
        self._hearing = hearing
        self._lines = Lines(_LONGEST_LINE)
        self._chatter = Excerpt()
        self._printed = {name: Printed(telling, {"stream": name}) for name in ("stdout", "stderr")}

    def output(self, stream: Stream, chunk: bytes) -> None:
        if stream == "stderr":
            self._beside(stream, chunk)
            return
        for line in self._lines.feed(chunk):
            self._line(line)

    def conclude(self, ending: Ending) -> Conclusion:
        for line in self._lines.finish():
            self._line(line)
        for printed in self._printed.values():
            printed.finish()
        return self._hearing.conclude(ending, self._chatter.text())

    def _line(self, line: str) -> None:
        try:
            said = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            said = None
        if isinstance(said, dict):
            self._hearing.hear(said)
        elif line.strip():
            self._beside("stdout", f"{line}\n".encode())

    def _beside(self, stream: Stream, chunk: bytes) -> None:
        self._chatter.write(chunk)
        self._printed[stream].write(chunk)
