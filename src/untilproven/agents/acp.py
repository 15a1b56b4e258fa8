"""Any agent that speaks the Agent Client Protocol on its stdin and stdout: `acp:COMMAND`."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from untilproven.agents.acp_talk import Talk
from untilproven.agents.adapter import Adapter, Asked, Call, Identity, Login
from untilproven.agents.bringing import Kept
from untilproven.agents.home import Home
from untilproven.agents.known import KnownAgent
from untilproven.agents.listening import Telling
from untilproven.contract import AgentRoom, Emit, Turn, Worked
from untilproven.core.naming import quoted
from untilproven.errors import UsageError
from untilproven.model.iteration import Usage

_OWN = {"codex-acp": {"INITIAL_AGENT_MODE": "agent-full-access"}}
"""Within the walls of a room it cannot build its own, and would do nothing."""
_HINT = 'for example: --agent "acp:gemini --acp"'


class AcpAgent:
    """A command that is split into words as a shell would do it, and started without one. `kin` is the known agent
    whose settings and login its program uses."""

    def __init__(self, command: str, kin: Adapter | None, asked: Asked, root: Path, *apart: Path) -> None:
        self._command, self._kin, self._asked, self._root, self._apart = command, kin, asked, root, apart
        self._words = words_of(command)

    @property
    def name(self) -> str:
        return f"acp:{self._command}"

    def missing(self, root: Path) -> str:
        program = Path(self._words[0])
        if program.is_absolute() and not _is_outside(program, root):
            return f"{program} is no program outside of the project"
        return self._run().missing(root)

    def move_in(self, loop_id: str) -> None:
        self._run().move_in(loop_id)

    def move_out(self, loop_id: str) -> None:
        self._run().move_out(loop_id)

    def work(self, turn: Turn, room: AgentRoom, emit: Emit) -> Worked:
        return self._run().work(turn, room, emit)

    def _run(self) -> KnownAgent:
        return KnownAgent(_Acp(self._words, self._kin, self._root), self._asked, self._root, *self._apart)


def words_of(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{quoted(command)} cannot be split into words: {error}", hint=_HINT) from error
    if not words or "\0" in command:
        raise UsageError("the agent `acp:` needs a command that speaks the Agent Client Protocol", hint=_HINT)
    return words


def _is_outside(program: Path, root: Path) -> bool:
    if not program.is_file() or not os.access(program, os.X_OK):
        return False
    return not any(place.is_relative_to(root.resolve()) for place in (program.resolve(), program.parent.resolve()))


class _Acp:
    """The adapter of one run: a conversation cannot be held twice."""

    litter: tuple[str, ...] = ()
    takes_seed = False

    def __init__(self, words: list[str], kin: Adapter | None, root: Path) -> None:
        self.program, *self._words = words
        self.name = f"acp-{Path(self.program).name}"
        self._kin, self._talk = kin, Talk(root)

    @property
    def logins(self) -> tuple[Login, ...]:
        return self._kin.logins if self._kin else ()

    @property
    def settings(self) -> tuple[Kept, ...]:
        return self._kin.settings if self._kin else ()

    def identity(self, environ: Mapping[str, str], logins: tuple[Path, ...]) -> Identity:
        if self._kin:
            return self._kin.identity(environ, logins)
        return Identity(f"the account {self.program} is logged in with")

    def login(self, home: Path) -> Call | None:
        return self._kin.login(home) if self._kin else None

    def files(self, home: Path) -> dict[str, bytes]:
        return self._kin.files(home) if self._kin else {}

    def call(self, turn: Turn, asked: Asked, home: Path) -> Call:
        self._talk.begin(turn, asked.model)
        env = self._kin.call(turn, asked, home).env if self._kin else {}
        return Call(
            [*self._words, *asked.arguments], {**env, **_OWN.get(Path(self.program).name, {})}, self._talk.speech
        )

    def hearing(self, telling: Telling, before: Usage, home: Home) -> Talk:  # noqa: ARG002  it tells all
        self._talk.listen(telling, before)
        return self._talk
