"""Any program as an agent: it gets the prompt, works in the tree, and says what it has to say."""

import contextlib
import os
import re
import shlex
from pathlib import Path

import msgspec

from untilproven.agents import outcome, placeholder, statement
from untilproven.agents.listening import Telling, Voice
from untilproven.agents.surroundings import surroundings
from untilproven.checks import line
from untilproven.contract import AgentRoom, Emit, Turn, Worked
from untilproven.process import lookup
from untilproven.process.records import Program
from untilproven.store.files import explained

_UNSURE = frozenset("$~*?[]{}\0")
_SHELL_HAS = (
    r"[.:![]|alias|bg|break|case|cd|command|continue|echo|eval|exec|exit|export|false|fg|for|getopts|hash|if|jobs|kill"
    r"|local|printf|pwd|read|readonly|return|set|shift|source|test|time|times|trap|true|type|ulimit|umask|unalias"
    r"|unset|until|wait|while"
)
"""Words that a shell knows without a program of that name."""


class CommandAgent(msgspec.Struct, frozen=True):
    """A line of shell. The prompt is on its stdin, or in the file whose path stands for `{prompt_file}`."""

    line: str
    arguments: tuple[str, ...] = ()
    """Appended to the line, each as one word."""
    model: str = ""

    @property
    def name(self) -> str:
        return "command"

    def missing(self, root: Path) -> str:
        """Says something only about a plain line; of every other the shell knows better."""
        if not self.line.strip():
            return "its command is empty"
        parsed = line.read(self.line)
        program = parsed.programs[0] if parsed and parsed.programs else ""
        if not program or re.fullmatch(_SHELL_HAS, program) or _UNSURE & set(program):
            return ""
        return _missing(program, root)

    def move_in(self, loop_id: str) -> None:
        """It needs nothing of its own."""

    def move_out(self, loop_id: str) -> None:
        """The same."""

    def work(self, turn: Turn, room: AgentRoom, emit: Emit) -> Worked:
        forget_result(turn.result_here)
        telling = Telling(emit, turn.iteration)
        voice = Voice(telling)
        ending = room.stream(
            self._call(turn),
            output=voice.hear,
            stdin=b"" if placeholder.PROMPT_FILE in self.line else turn.prompt.encode("utf-8", "replace"),
            env=surroundings(turn, self.model),
        )
        said = voice.said()
        stated = statement.in_file(turn.result_here) or statement.in_words(said, turn.prompt) or statement.Statement()
        tell(telling, stated)
        return Worked(
            ending=ending,
            result=outcome.result_of(ending, stated.result),
            said=said,
            usage=stated.usage,
            usage_limit=stated.usage_limit,
            session=stated.session,
        )

    def _call(self, turn: Turn) -> str:
        called = placeholder.filled(self.line, str(turn.prompt_file))
        return f"{called} {shlex.join(self.arguments)}" if self.arguments else called


def forget_result(path: Path) -> None:
    """A result of an earlier run is not this run's."""
    with explained(path), contextlib.suppress(IsADirectoryError):
        path.unlink(missing_ok=True)


def tell(telling: Telling, stated: statement.Statement) -> None:
    """What was stated at the end, as events."""
    for problem in stated.problems:
        telling.event("error", problem)
    if used := msgspec.to_builtins(stated.usage):
        telling.event("usage", data=used)
    if stated.usage_limit:
        telling.event("limit", data=msgspec.to_builtins(stated.usage_limit))
    if stated.result:
        telling.event("result", data=msgspec.to_builtins(stated.result))


def _missing(program: str, root: Path) -> str:
    try:
        found = lookup.order(Program(command=[program], cwd=root, env=os.environ)).path
    except lookup.CannotStart:
        return f"{program} is not on PATH"
    path = root / found
    if not path.is_file():
        return f"{program} is not there" if not path.exists() else f"{program} is not a program"
    return "" if os.access(path, os.X_OK) else f"{program} is not executable"
