"""Gemini CLI: `gemini --output-format stream-json`."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from untilproven.agents import acting
from untilproven.agents.adapter import Asked, Call, Conclusion, Identity, Login, chosen
from untilproven.agents.bringing import Kept, of
from untilproven.agents.home import Home
from untilproven.agents.listening import Telling
from untilproven.agents.own_logins import own_first
from untilproven.agents.prices import priced
from untilproven.agents.reporting import Trouble, is_too_long, session, tail, tokens, trouble
from untilproven.agents.reporting import name as named
from untilproven.contract import Turn, UsageLimit
from untilproven.model.iteration import Continue, Failed, IterationResult, Usage
from untilproven.model.program import Ending

_KEYS = {"GEMINI_API_KEY": "gemini-api-key", "GOOGLE_API_KEY": "vertex-ai", "GOOGLE_GENAI_USE_VERTEXAI": "vertex-ai"}
_LOGINS = ("oauth_creds.json", "google_accounts.json")
_CUT = re.compile(r'^\{"type":"\w+","timestamp":"', re.MULTILINE)
"""The beginning of a line that it did not print to its end: it exits without waiting for a pipe that is full."""
_EXIT_CODES = 256
"""It exits with the status of the provider's answer, of which this much does not fit into an exit code."""

_NOBODY_ANSWERS = re.compile(r"\[API Error: (?:exception )?TypeError: fetch failed\b")
_NOBODY = 41
"""What it exits with when nobody is logged in, and it says nothing that is JSON."""


class Gemini:
    name = "gemini"
    program = "gemini"
    takes_seed = False
    litter: tuple[str, ...] = ()

    @property
    def logins(self) -> tuple[Login, ...]:
        return own_first(self.name, *(Login(Path.home() / ".gemini" / name, f".gemini/{name}") for name in _LOGINS))

    @property
    def settings(self) -> tuple[Kept, ...]:
        return of(
            Path.home() / ".gemini",
            ("settings.json", "GEMINI.md", "extensions", "commands", "skills", "policies"),
            ".gemini/",
        )

    def identity(self, environ: Mapping[str, str], logins: tuple[Path, ...]) -> Identity:
        for name in _KEYS:
            if environ.get(name):
                return Identity(f"the key in {name}" if name.endswith("KEY") else f"Vertex AI ({name})")
        if logins:
            return Identity(f"the login in {logins[0].parent}")
        return Identity("", "run `gemini` and log in, or set GEMINI_API_KEY")

    def login(self, home: Path) -> Call | None:
        return Call([], {"GEMINI_CLI_HOME": str(home)})  # it asks by itself where it finds nobody

    def files(self, home: Path) -> dict[str, bytes]:  # noqa: ARG002  the same everywhere
        auth = next((auth for name, auth in _KEYS.items() if os.environ.get(name)), "oauth-personal")
        settings = {
            "security": {"auth": {"selectedType": auth}},
            "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
        }
        return {".gemini/settings.json": msgspec.json.encode(settings)}

    def call(self, turn: Turn, asked: Asked, home: Path) -> Call:
        argv = ["--output-format", "stream-json", "--yolo"]
        argv += chosen(turn, asked, "--resume")
        env = {
            "GEMINI_CLI_HOME": str(home),
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }
        return Call([*argv, *asked.arguments], env, turn.prompt.encode("utf-8", "replace"))

    def hearing(self, telling: Telling, before: Usage, home: Home) -> "_Hearing":  # noqa: ARG002  it prints all
        return _Hearing(telling)


class _Hearing:
    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._session = ""
        self._model = ""
        self._saying: list[str] = []
        self._said = ""
        self._results: list[dict[str, Any]] = []

    def hear(self, line: dict[str, Any]) -> None:
        match line:
            case {"type": "message", "role": "assistant", "content": str() as text}:
                self._saying.append(text)
                return
            case {"type": "init"}:
                self._session = self._session or session(line.get("session_id"))
                self._model = self._model or named(line.get("model"))
            case {"type": "tool_use", "tool_name": str() as name}:
                self._spoken()
                self._telling.event("action", name, acting.action(name, line.get("parameters")))
            case {"type": "tool_result", "status": "error"}:
                self._telling.event("error", _message(line), {"role": "tool"})
            case {"type": "error"}:
                self._telling.event("error", _message(line))
            case {"type": "result"}:
                self._results.append(line)
        self._spoken()

    def _spoken(self) -> None:
        """It speaks piece by piece; what it says is told when it has said it."""
        if self._saying:
            self._said = "".join(self._saying)
            self._saying.clear()
            self._telling.event("text", self._said)

    def conclude(self, ending: Ending, chatter: str) -> Conclusion:
        self._spoken()
        last = self._results[-1] if self._results else {}
        failed = last.get("status") == "error"
        met = trouble((ending.exit_code or 0) + _EXIT_CODES if failed else None, _message(last))
        if failed and _NOBODY_ANSWERS.match(_message(last)):
            met = Trouble(limit=UsageLimit())
        if ending.exit_code == _NOBODY and not last:
            met = Trouble(unable=f"nobody is logged in: {tail(chatter)}")
        return Conclusion(
            result=self._result(last, ending, chatter),
            said=self._said,
            usage=self._used(last),
            usage_limit=met.limit,
            session=self._session,
            is_exhausted=failed and is_too_long(_message(last)),
            unable=met.unable,
        )

    def _result(self, last: dict[str, Any], ending: Ending, chatter: str) -> IterationResult | None:
        if not last and ending.exit_code == 0 and _CUT.search(chatter):
            return Continue(reason="it came to its end before all was printed, so what it used is not known")
        if not last:
            return None if ending.stopped_because else Failed(error=f"it ended without a result: {tail(chatter)}")
        if last.get("status") != "success":
            return Failed(error=_message(last))
        return Continue(reason="it came to its end")

    def _used(self, last: dict[str, Any]) -> Usage:
        stats = last.get("stats")
        if len(self._results) != 1 or not isinstance(stats, dict):
            return Usage(model=self._model or UNSET)
        used = tokens(stats, ("input_tokens",), ("output_tokens",), "cached")
        models = stats.get("models")
        only = named(next(iter(models))) if isinstance(models, dict) and len(models) == 1 else self._model
        return priced(replace(used, model=only or UNSET), "google")


def _message(line: dict[str, Any]) -> str:
    error = line.get("error")
    return tail(str((error.get("message") if isinstance(error, dict) else error) or line.get("message") or ""))
