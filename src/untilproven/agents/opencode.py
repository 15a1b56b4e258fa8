"""OpenCode: `opencode run --format json`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from untilproven.agents import acting
from untilproven.agents.adapter import Asked, Call, Conclusion, Identity, Login
from untilproven.agents.home import Home
from untilproven.agents.listening import Telling
from untilproven.agents.reporting import count, money, tail, trouble
from untilproven.agents.spending import all_of
from untilproven.contract import Turn
from untilproven.model.iteration import Continue, Failed, IterationResult, Usage
from untilproven.model.program import Ending
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


class Opencode:
    name = "opencode"
    program = "opencode"
    litter: tuple[str, ...] = ()

    @property
    def logins(self) -> tuple[Login, ...]:
        data = os.environ.get("XDG_DATA_HOME", "")
        users = Path(data) if data.startswith("/") else Path.home() / ".local/share"
        return (Login(users / "opencode/auth.json", "data/opencode/auth.json"),)

    def identity(self, environ: Mapping[str, str], logins: tuple[Path, ...]) -> Identity:
        if logins:
            return Identity(f"the logins in {logins[0]}")
        for name in _KEYS:
            if environ.get(name):
                return Identity(f"the key in {name}")
        if environ.get("OPENCODE_CONFIG_CONTENT"):
            return Identity("the keys in OPENCODE_CONFIG_CONTENT")
        return Identity("", "run `opencode auth login`, or set the key of a provider, such as ANTHROPIC_API_KEY")

    def files(self, home: Path) -> dict[str, bytes]:  # noqa: ARG002  its settings are in its environment
        return {}

    def call(self, turn: Turn, asked: Asked, home: Path) -> Call:
        argv = ["run", "--format", "json", "--auto"]
        if turn.session:
            argv += ["--session", turn.session]
        if asked.model:
            argv += ["--model", asked.model]
        env = {
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "OPENCODE_CONFIG_CONTENT": msgspec.json.encode({**_users_settings(), **_SETTINGS}).decode(),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_SHARE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        }
        return Call([*argv, *asked.arguments], env, turn.prompt.encode("utf-8", "replace"))

    def hearing(self, telling: Telling, before: Usage, home: Home) -> "_Hearing":  # noqa: ARG002  it prints all
        return _Hearing(telling)


def _users_settings() -> dict[str, Any]:
    """Which providers and models there are; ours say how it behaves."""
    try:
        told = msgspec.json.decode(os.environ.get("OPENCODE_CONFIG_CONTENT") or "{}")
    except UNREADABLE:
        return {}
    return told if isinstance(told, dict) else {}


class _Hearing:
    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._session = ""
        self._said = ""
        self._reason = ""
        self._failure: dict[str, Any] = {}
        self._used: list[Usage] = []

    def hear(self, line: dict[str, Any]) -> None:
        self._session = str(line.get("sessionID") or self._session)
        match line:
            case {"type": "text", "part": {"text": str() as text}}:
                self._said = text
                self._telling.event("text", text)
            case {"type": "tool_use", "part": {"tool": str() as name, "state": dict() as state}}:
                self._telling.event("action", name, acting.action(name, state.get("input")))
                if state.get("status") == "error":
                    self._telling.event("error", tail(str(state.get("error") or "")), {"role": "tool"})
            case {"type": "step_finish", "part": dict() as part}:
                self._reason = str(part.get("reason") or "")
                self._step(part)
            case {"type": "error", "error": dict() as error}:
                self._failure = error
                self._telling.event("error", _message(error))

    def _step(self, part: dict[str, Any]) -> None:
        used = _usage(part.get("tokens"), part.get("cost"))
        self._used.append(used)
        self._telling.event("usage", data=msgspec.to_builtins(used))

    def conclude(self, ending: Ending, chatter: str) -> Conclusion:
        data = self._failure.get("data")
        status = data.get("statusCode") if isinstance(data, dict) else None
        met = trouble(status, _message(self._failure))
        return Conclusion(
            result=Continue(reason="the usage limit is reached") if met.limit else self._result(ending, chatter),
            said=self._said,
            usage=all_of(self._used),
            usage_limit=met.limit,
            session=self._session,
            unable=met.unable,
        )

    def _result(self, ending: Ending, chatter: str) -> IterationResult | None:
        if self._failure:
            return Failed(error=_message(self._failure))
        if not self._reason:
            return None if ending.stopped_because else Failed(error=f"it ended without a result: {tail(chatter)}")
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


def _message(error: dict[str, Any]) -> str:
    data = error.get("data")
    return tail(str((data.get("message") if isinstance(data, dict) else "") or error.get("name") or ""))
