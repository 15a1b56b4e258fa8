"""OpenCode: `opencode run --format json`."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from untilproven.agents import acting
from untilproven.agents.adapter import Asked, Call, Conclusion, Identity, Login, chosen
from untilproven.agents.bringing import Kept
from untilproven.agents.home import Home
from untilproven.agents.listening import Telling
from untilproven.agents.own_logins import own_first
from untilproven.agents.reporting import Trouble, count, money, session, tail, trouble
from untilproven.agents.spending import all_of
from untilproven.contract import Turn, UsageLimit
from untilproven.model.iteration import Continue, Failed, IterationResult, Usage
from untilproven.model.program import Ending, Speech
from untilproven.model.wire import UNREADABLE

_KEYS = (
    *("OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"),
    *("GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY"),
)
_SETTINGS = {
    "autoupdate": False,
    "share": "disabled",
    "permission": {"edit": "allow", "bash": "allow", "webfetch": "allow", "external_directory": "allow"},
}


_SHOWN = 100
_ERROR = re.compile(r'level=ERROR .*message="stream error" .*small=false .*error\.error="AI_APICallError: ')
_OVERFLOW = "ContextOverflowError"
_TRIES = 4
"""It tries again for ever, whatever its provider answers; a loop has its own way to wait. After so many it is ended."""
_MIDDLE = "tool-calls"
"""Why a step ends that another one follows; so it is too if a tool was refused."""


class Opencode:
    name = "opencode"
    program = "opencode"
    takes_seed = False
    litter: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._speech = Speech()

    @property
    def logins(self) -> tuple[Login, ...]:
        data = os.environ.get("XDG_DATA_HOME", "")
        users = Path(data) if data.startswith("/") else Path.home() / ".local/share"
        return own_first(self.name, Login(users / "opencode/auth.json", "data/opencode/auth.json"))

    @property
    def settings(self) -> tuple[Kept, ...]:
        named = os.environ.get("XDG_CONFIG_HOME", "")
        users = Path(named) if named.startswith("/") else Path.home() / ".config"
        return (Kept(users / "opencode", "config/opencode"),)

    def identity(self, environ: Mapping[str, str], logins: tuple[Path, ...]) -> Identity:
        if logins:
            return Identity(f"the logins in {logins[0]}")
        for name in _KEYS:
            if environ.get(name):
                return Identity(f"the key in {name}")
        if environ.get("OPENCODE_CONFIG_CONTENT"):
            return Identity("the keys in OPENCODE_CONFIG_CONTENT")
        return Identity("", "run `opencode auth login`, or set the key of a provider, such as ANTHROPIC_API_KEY")

    def login(self, home: Path) -> Call | None:
        return Call(["auth", "login"], {"XDG_DATA_HOME": str(home / "data")})

    def files(self, home: Path) -> dict[str, bytes]:  # noqa: ARG002  its settings are in its environment
        return {}

    def call(self, turn: Turn, asked: Asked, home: Path) -> Call:
        argv = ["run", "--format", "json", "--auto", "--print-logs", "--log-level", "ERROR"]
        argv += chosen(turn, asked, "--session")
        env = {
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "OPENCODE_CONFIG_CONTENT": msgspec.json.encode({**_users_settings(), **_SETTINGS}).decode(),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_SHARE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        }
        if not asked.users_settings:
            env["OPENCODE_TEST_HOME"] = str(home)  # it takes instructions and skills of other agents from the user's
        self._speech.say(turn.prompt.encode("utf-8", "replace"))
        self._speech.end()
        return Call([*argv, *asked.arguments], env, self._speech)

    def hearing(self, telling: Telling, before: Usage, home: Home) -> "_Hearing":  # noqa: ARG002  it prints all
        self._speech = Speech()
        return _Hearing(telling, self._speech)


def _users_settings() -> dict[str, Any]:
    """Which providers and models there are; ours say how it behaves."""
    try:
        told = msgspec.json.decode(os.environ.get("OPENCODE_CONFIG_CONTENT") or "{}")
    except UNREADABLE:
        return {}
    return told if isinstance(told, dict) else {}


class _Hearing:
    def __init__(self, telling: Telling, speech: Speech) -> None:
        self._telling, self._speech = telling, speech
        self._refusals = self._overflows = 0
        self._session = ""
        self._said = ""
        self._reason = ""
        self._failure: dict[str, Any] = {}
        self._begun = 0
        self._used: list[Usage] = []

    def hear(self, line: dict[str, Any]) -> None:
        self._session = self._session or session(line.get("sessionID"))
        self._refusals = 0
        match line:
            case {"type": "text", "part": {"synthetic": True}}:
                pass  # what it says to itself
            case {"type": "text", "part": {"text": str() as text}}:
                self._said = text
                self._telling.event("text", text)
            case {"type": "tool_use", "part": {"tool": str() as name, "state": dict() as state}}:
                self._overflows = 0
                self._telling.event("action", name, acting.action(name, state.get("input")))
                if wrong := _wrong(state):
                    self._telling.event("error", wrong, {"role": "tool"})
            case {"type": "step_start"}:
                self._begun += 1
            case {"type": "step_finish", "part": dict() as part}:
                self._reason, self._failure = str(part.get("reason") or "it does not say why")[:_SHOWN], {}
                self._step(part)
            case {"type": "error", "error": dict() as error}:
                self._failure = error
                self._telling.event("error", _message(error))
                self._overflows += error.get("name") == _OVERFLOW
                self._end_if_it_never_will()

    def overhear(self, line: str) -> None:
        """That its provider does not let it work, it says only there."""
        if _ERROR.search(line):
            self._refusals += 1
            self._end_if_it_never_will()

    @property
    def _is_hopeless(self) -> bool:
        return self._refusals >= _TRIES or self._overflows >= _TRIES

    def _end_if_it_never_will(self) -> None:
        if self._is_hopeless:
            self._speech.patience = 0.0

    def _step(self, part: dict[str, Any]) -> None:
        used = _usage(part.get("tokens"), part.get("cost"))
        self._used.append(used)
        self._telling.event("usage", data=msgspec.to_builtins(used))

    def conclude(self, ending: Ending, chatter: str) -> Conclusion:
        met = self._trouble()
        forged = len(self._used) > self._begun  # not all of these steps are its own
        if self._refusals and (self._is_hopeless or ending.stopped_because):
            met = Trouble(limit=UsageLimit())
        return Conclusion(
            result=self._result(ending, chatter),
            said=self._said,
            usage=Usage() if forged else all_of(self._used),
            uncounted=forged,
            usage_limit=met.limit,
            session=self._session,
            is_exhausted=self._overflows >= _TRIES,
            unable=met.unable,
            is_done=self._is_hopeless,
        )

    def _trouble(self) -> Trouble:
        told = self._failure.get("data")
        data = told if isinstance(told, dict) else {}
        status = data.get("statusCode")
        if status is None and data.get("isRetryable") is True:
            return Trouble(limit=UsageLimit())  # nobody answered
        return trouble(status, _message(self._failure))

    def _result(self, ending: Ending, chatter: str) -> IterationResult | None:
        if self._overflows >= _TRIES:
            return Failed(error="what it asks is too long for its model, however much it leaves out")
        if self._failure:
            return Failed(error=_message(self._failure))
        if not self._reason:
            return None if ending.stopped_because else Failed(error=f"it ended without a result: {tail(chatter)}")
        if self._reason == _MIDDLE and not ending.stopped_because:
            return Failed(error="it ended before it had looked at what its tools answered")
        return Continue(reason=f"it came to its end ({self._reason})")


def _usage(told: Any, cost: Any) -> Usage:
    """Of one step. Where it knows no price it says 0, which is not what it cost."""
    if not isinstance(told, dict):
        return Usage()
    cache = told.get("cache")
    read, written = (count(cache.get(name)) or 0 for name in ("read", "write")) if isinstance(cache, dict) else (0, 0)
    given = (count(told.get("input")) or 0) + read + written
    made = (count(told.get("output")) or 0) + (count(told.get("reasoning")) or 0)
    spent = money(cost)
    return Usage(
        input_tokens=given,
        cached_input_tokens=read or UNSET,
        output_tokens=made,
        total_tokens=given + made,
        cost_usd=spent or UNSET,
        cost_source="agent" if spent else UNSET,
    )


def _wrong(state: dict[str, Any]) -> str:
    """What went wrong with a tool; a command that failed is to it one that was completed."""
    if state.get("status") == "error":
        return tail(str(state.get("error") or ""))
    about = state.get("metadata")
    return tail(str(state.get("output") or "")) if isinstance(about, dict) and about.get("exit") else ""


def _message(error: dict[str, Any]) -> str:
    data = error.get("data")
    return tail(str((data.get("message") if isinstance(data, dict) else "") or error.get("name") or ""))
