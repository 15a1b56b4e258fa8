"""The contract of an adapter: what is particular to one agent program. It translates, and decides nothing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from untilproven.agents.bringing import Kept
from untilproven.agents.home import Home
from untilproven.agents.listening import Telling
from untilproven.contract import Turn, UsageLimit
from untilproven.model.iteration import Action, IterationResult, Usage
from untilproven.model.program import Ending, Speech


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked of the agent."""

    model: str = ""
    seeded: bool = False
    """Whether chance is to be kept out, as far as the agent lets anybody do that."""
    arguments: tuple[str, ...] = ()
    """Appended to its command line as they are."""
    users_settings: bool = False
    """Whether it works with the user's own settings, hooks, plugins and servers."""
    passed: tuple[str, ...] = ()
    """Names of variables that the user lets everything in the room see."""


class Call(NamedTuple):
    """How it is started for one iteration: what follows its program."""

    argv: list[str]
    env: dict[str, str]
    stdin: bytes | Speech = b""


def chosen(turn: Turn, asked: Asked, session: str) -> list[str]:
    """The session to go on with, by the option that names one, and the model."""
    words = [session, turn.session] if turn.session else []
    return [*words, *(["--model", asked.model] if asked.model else [])]


class Login(NamedTuple):
    """A file in which the agent keeps who is logged in: the user's, and its name in the agent's own directory."""

    users: Path
    name: str


class Identity(NamedTuple):
    """Who will be billed."""

    words: str
    """`the key in ANTHROPIC_API_KEY`, `the login in ~/.claude`; empty if nobody is logged in."""
    hint: str = ""
    """What to do if nobody is."""
    why: str = ""
    """Why it cannot work, if it is not that."""


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """What one run came to by what the agent told of it. All of it is a claim."""

    result: IterationResult | None = None
    said: str = ""
    """Its own last words."""
    usage: Usage = Usage()
    """Of this run alone."""
    uncounted: bool = False
    """Whether what it told along the way is not what it used."""
    sums: Usage = Usage()
    """Of the whole session, where the agent reports that."""
    usage_limit: UsageLimit | None = None
    session: str = ""
    is_exhausted: bool = False
    """Whether the session has become too long for its model: it cannot be gone on with."""
    unable: str = ""
    """Why it will not work the next time either: nobody is logged in, the key is refused."""
    actions: tuple[Action, ...] = ()
    """With what came of them, where the agent tells that."""
    cap: str = ""
    """Which limit of its own ended it, in a sentence. Its exit code says no more than that then."""
    is_done: bool = False
    """It had answered, and its program was to end: how that ended says nothing then."""


class Hearing(Protocol):
    """Listens to one run."""

    def hear(self, line: dict[str, Any]) -> None:
        """One line of its output that is a JSON object; what it means is told at once."""

    def conclude(self, ending: Ending, chatter: str) -> Conclusion:
        """When it has ended; `chatter` is what it printed on stderr, and of stdout what was no JSON."""


@runtime_checkable
class Overhearing(Protocol):
    """Of a hearing: its agent says on stderr what it does not say in its lines."""

    def overhear(self, line: str) -> None: ...


class Adapter(Protocol):
    """An agent program that is known by name."""

    @property
    def name(self) -> str: ...

    @property
    def program(self) -> str:
        """What is looked for on PATH; a whole path is the program itself."""

    @property
    def logins(self) -> tuple[Login, ...]: ...

    @property
    def takes_seed(self) -> bool:
        """Whether temperature and seed can be set; the model can always be named."""

    @property
    def settings(self) -> tuple[Kept, ...]:
        """What of the user's comes along with `--agent-home user`."""

    @property
    def litter(self) -> tuple[str, ...]:
        """Files that it leaves in the tree for itself alone."""

    def identity(self, environ: Mapping[str, str], logins: tuple[Path, ...]) -> Identity:
        """Who will be billed, given the environment and those files of `logins` that are there."""

    def login(self, home: Path) -> Call | None:
        """How a person logs in so that the login comes to lie in `home`; None if there are only keys."""

    def files(self, home: Path) -> dict[str, bytes]:
        """Settings it is to find in its own directory."""

    def call(self, turn: Turn, asked: Asked, home: Path) -> Call: ...

    def hearing(self, telling: Telling, before: Usage, home: Home) -> Hearing:
        """`before` is what was counted of the session that it goes on with, where the agent reports sums; in `home` is
        what it keeps to itself."""
