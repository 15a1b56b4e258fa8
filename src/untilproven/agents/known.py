"""An agent that is known by name: its program is run as its adapter says, with a directory and a login of its own."""

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec

from untilproven.agents import outcome, statement
from untilproven.agents.adapter import Adapter, Asked, Call, Conclusion, Hearing, Login, Overhearing
from untilproven.agents.bringing import brought
from untilproven.agents.command import forget_result, tell
from untilproven.agents.home import Home, forget
from untilproven.agents.listening import Printed, Telling
from untilproven.agents.logins import Lent, there
from untilproven.agents.surroundings import surroundings
from untilproven.agents.totals import Totals
from untilproven.contract import AgentRoom, Emit, Turn, Worked
from untilproven.model.iteration import Continue, Failed, IterationResult
from untilproven.model.program import OVER, Ending, Stream
from untilproven.model.wire import UNREADABLE
from untilproven.process.lines import Lines
from untilproven.process.spool import Excerpt
from untilproven.store.files import MIB

_TIDY_SECONDS = 30.0
_LONGEST_LINE = 16 * MIB


class KnownAgent:
    def __init__(self, adapter: Adapter, asked: Asked, root: Path, *apart: Path) -> None:
        self._adapter, self._asked, self._root = adapter, asked, root
        self._trees = (root, *apart)
        """Where its program cannot be."""

    @property
    def name(self) -> str:
        return self._adapter.name

    def missing(self, root: Path) -> str:
        adapter = self._adapter
        if not program_of(adapter, root, *self._trees):
            return f"{adapter.program} is not on PATH"
        identity = adapter.identity(os.environ, there(adapter.logins))
        why = identity.why or f"nobody is logged in to {adapter.name}"
        return "" if identity.words else f"{why}; {identity.hint}"

    def move_in(self, loop_id: str) -> None:
        Home(self._root, loop_id, self.name).make()

    def move_out(self, loop_id: str) -> None:
        forget(self._root, loop_id)

    def work(self, turn: Turn, room: AgentRoom, emit: Emit) -> Worked:
        adapter, home = self._adapter, Home(self._root, turn.loop_id, self.name)
        home.make()
        for name, content in self._settings(home).items():
            home.write(name, content)
        forget_result(turn.result_here)
        telling = Telling(emit, turn.iteration)
        if self._asked.seeded and not adapter.takes_seed:
            telling.event("error", f"{adapter.name} takes no seed: only its model is pinned")
        totals = Totals(home.beside)
        if not totals.knows(turn.session):
            turn = msgspec.structs.replace(turn, session="")  # it went with the directory it was in
        heard = _Heard(telling, adapter.hearing(telling, totals.of(turn.session), home))
        call = adapter.call(turn, self._asked, home.path)
        litter = [path.parts[0] for path in map(PurePosixPath, adapter.litter) if room.look(path) is None]
        with Lent(home, self._logins(), turn.conceal) as lent:
            ending = self._run(call, turn, room, heard, lent)
        if litter:
            room.run(["rm", "-rf", "--", *litter], timeout=_TIDY_SECONDS)
        for sentence in lent.refused:
            telling.event("error", sentence)
        came = heard.conclude(ending)
        if came.unable and lent.was_overtaken:  # the next iteration begins with the login that works
            error = f"its login was renewed by somebody else while it worked: {came.unable}"
            came = msgspec.structs.replace(came, unable="", result=Failed(error=error))
        if came.is_exhausted:
            came = msgspec.structs.replace(came, session="")
        if came.is_done and ending.stopped_because in {"", OVER}:
            ending = msgspec.structs.replace(ending, exit_code=0, signal=None, stopped_because="")
        lost = came.is_exhausted or (ending.exit_code and not ending.stopped_because)  # there is none to go on with
        if came.session or lost:
            totals.keep(came.session, came.sums)
        stated = statement.in_file(turn.result_here) or statement.in_words(came.said, turn.prompt)
        stated = stated or statement.Statement()
        tell(telling, msgspec.structs.replace(stated, usage=telling.untold(came.usage), usage_limit=came.usage_limit))
        return Worked(
            ending=ending,
            result=_result(came, stated.result, ending),
            said=came.said,
            usage=msgspec.structs.replace(came.usage, agent=adapter.name),
            uncounted=came.uncounted,
            usage_limit=came.usage_limit,
            actions=came.actions,
            session=came.session,
            unable=came.unable,
        )

    def _settings(self, home: Home) -> dict[str, bytes]:
        """Ours; and the user's in place of them, where they are asked for."""
        ours = self._adapter.files(home.path)
        return {**ours, **dict(brought(self._adapter.settings))} if self._asked.users_settings else ours

    def _logins(self) -> tuple[Login, ...]:
        """Those that are billed: with a key, none is lent. Only the user's own settings may prefer them to a key."""
        adapter = self._adapter
        billed, by_key = (adapter.identity(os.environ, found).words for found in (there(adapter.logins), ()))
        return adapter.logins if billed != by_key or self._asked.users_settings else ()

    def _run(self, call: Call, turn: Turn, room: AgentRoom, heard: "_Heard", lent: Lent) -> Ending:
        if not (program := program_of(self._adapter, *self._trees)):
            return Ending(not_started=f"{self._adapter.program} is not on PATH any more")
        return room.stream(
            [program, *call.argv],
            output=heard.output,
            stdin=call.stdin,
            env={"PWD": str(room.root), **surroundings(turn, self._asked.model), **call.env},
            pulse=lent.pulse,
        )


def _result(came: Conclusion, stated: IterationResult | None, ending: Ending) -> IterationResult:
    """A limit explains how the program ended; else it failed if the adapter or its exit code says so."""
    if came.usage_limit or came.cap:
        return Continue(reason=came.cap or "the usage limit is reached")
    return outcome.result_of(ending, came.result if isinstance(came.result, Failed) else stated or came.result)


def program_of(adapter: Adapter, *trees: Path) -> str:
    """Where its program is; empty if it is not on PATH. One in the project is not it: it would be lent the login."""
    if Path(adapter.program).is_absolute():
        return adapter.program
    inside = [os.path.realpath(tree) for tree in trees]
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = Path(entry, adapter.program)
        if not entry.startswith("/") or not os.access(path, os.X_OK) or not path.is_file():
            continue
        places = [Path(os.path.realpath(place)) for place in (entry, path)]
        if not any(place.is_relative_to(tree) for place in places for tree in inside):
            return str(path)
    return ""


class _Heard:
    """Sorts what the program prints: JSON for the adapter, the rest as chatter."""

    def __init__(self, telling: Telling, hearing: Hearing) -> None:
        self._hearing = hearing
        self._lines, self._errors = Lines(_LONGEST_LINE), Lines()
        self._chatter = Excerpt()
        self._printed = {name: Printed(telling, {"stream": name}) for name in ("stdout", "stderr")}

    def output(self, stream: Stream, chunk: bytes) -> None:
        if stream == "stderr":
            self._beside(stream, chunk)
            self._overhear(self._errors.feed(chunk))
            return
        for line in self._lines.feed(chunk):
            self._line(line)

    def conclude(self, ending: Ending) -> Conclusion:
        for line in self._lines.finish():
            self._line(line)
        self._overhear(self._errors.finish())
        for printed in self._printed.values():
            printed.finish()
        return self._hearing.conclude(ending, self._chatter.text())

    def _overhear(self, lines: Iterable[str]) -> None:
        if isinstance(self._hearing, Overhearing):
            for line in lines:
                self._hearing.overhear(line)

    def _line(self, line: str) -> None:
        try:
            said = msgspec.json.decode(line)
        except UNREADABLE:
            said = None
        if isinstance(said, dict):
            self._hearing.hear(said)
        elif line.strip():
            self._beside("stdout", f"{line}\n".encode())

    def _beside(self, stream: Stream, chunk: bytes) -> None:
        self._chatter.write(chunk)
        self._printed[stream].write(chunk)
