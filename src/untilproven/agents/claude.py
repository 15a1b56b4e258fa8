"""Claude Code: `claude -p`, which prints what it does as JSON lines."""

import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from untilproven.agents import totals
from untilproven.agents.adapter import Asked, Call, Conclusion, Identity, Login, chosen
from untilproven.agents.bringing import Kept, of
from untilproven.agents.home import Home
from untilproven.agents.listening import Telling
from untilproven.agents.own_logins import own_first
from untilproven.agents.reporting import Trouble, count, moment, money, tail, trouble
from untilproven.agents.stream_json import StreamJson
from untilproven.contract import Turn, UsageLimit
from untilproven.model.iteration import Usage
from untilproven.model.program import Ending

_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_CLOUDS = {"CLAUDE_CODE_USE_BEDROCK": "Amazon Bedrock", "CLAUDE_CODE_USE_VERTEX": "Google Vertex AI"}
_OF_MODELS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
_RESET = re.compile(r"\|(\d{10})$")
_LOGGED_OUT = re.compile(r"invalid api key|run /login|not logged in|oauth token (?:has expired|revoked)", re.IGNORECASE)
_RETRIES = "4"
"""By itself it tries ten times, which takes minutes; a loop has its own way to wait."""


class Claude:
    name = "claude"
    program = "claude"
    takes_seed = False
    litter: tuple[str, ...] = ()

    @property
    def logins(self) -> tuple[Login, ...]:
        return own_first(self.name, Login(_users() / ".credentials.json", ".credentials.json"))

    @property
    def settings(self) -> tuple[Kept, ...]:
        users = _users()
        beside = users / ".claude.json" if os.environ.get("CLAUDE_CONFIG_DIR") else Path.home() / ".claude.json"
        names = ("CLAUDE.md", "settings.json", "skills", "commands", "agents", "plugins", "hooks", "output-styles")
        return (*of(users, names), Kept(beside, ".claude.json"))

    def identity(self, environ: Mapping[str, str], logins: tuple[Path, ...]) -> Identity:
        for name, cloud in _CLOUDS.items():
            if environ.get(name):
                return Identity(f"your account at {cloud} ({name})")
        for name in _KEYS:
            if environ.get(name):
                return Identity(f"the key in {name}")
        if logins:
            return Identity(f"the login in {logins[0].parent}")
        return Identity("", "run `claude` and log in, or set ANTHROPIC_API_KEY")

    def login(self, home: Path) -> Call | None:
        return Call(["auth", "login"], {"CLAUDE_CONFIG_DIR": str(home)})

    def files(self, home: Path) -> dict[str, bytes]:  # noqa: ARG002  it needs none
        return {}

    def call(self, turn: Turn, asked: Asked, home: Path) -> Call:
        argv = ["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
        argv += [] if asked.users_settings else ["--strict-mcp-config"]
        argv += chosen(turn, asked, "--resume")
        if turn.budget_usd is not None:
            argv += ["--max-budget-usd", f"{turn.budget_usd:.4f}"]
        env = {
            "CLAUDE_CONFIG_DIR": str(home),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": os.environ.get("CLAUDE_CODE_MAX_RETRIES", _RETRIES),
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "IS_SANDBOX": "1",
        }
        return Call([*argv, *asked.arguments], env, turn.prompt.encode("utf-8", "replace"))

    def hearing(self, telling: Telling, before: Usage, home: Home) -> "_Hearing":  # noqa: ARG002  it prints all
        return _Hearing(telling, before)


def _users() -> Path:
    named = os.environ.get("CLAUDE_CONFIG_DIR", "")
    return Path(named) if named.startswith("/") else Path.home() / ".claude"


class _Hearing(StreamJson):
    inputs = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")

    def __init__(self, telling: Telling, before: Usage) -> None:
        super().__init__(telling)
        self._before = before
        self._limit: UsageLimit | None = None

    def hear(self, line: dict[str, Any]) -> None:
        match line:
            case {"type": "system", "subtype": "api_retry"}:
                status = count(line.get("error_status"))
                what = "the connection to the provider broke" if status is None else f"the provider answered {status}"
                self.telling.event("error", f"{what}: it tries again", {"status": status})
            case {"type": "rate_limit_event", "rate_limit_info": dict() as info}:
                self._limit = UsageLimit(moment(info.get("resetsAt"))) if info.get("status") == "rejected" else None
            case _:
                super().hear(line)

    def conclude(self, ending: Ending, chatter: str) -> Conclusion:
        met = self._trouble(chatter)
        usage, sums = self._used()
        return Conclusion(
            result=self.result(ending, chatter),
            said=self.said,
            usage=replace(usage, model=self.model or UNSET),
            sums=sums,
            usage_limit=met.limit,
            session=self.session,
            is_exhausted=self.is_exhausted,
            unable=met.unable,
            cap=self.cap,
        )

    def _trouble(self, chatter: str) -> Trouble:
        last = self.last
        if last and not last.get("is_error"):
            return Trouble()
        if self._limit:
            return Trouble(limit=self._limit)
        words = self.words if last or self.session else chatter  # once it works, others speak beside it
        if _LOGGED_OUT.search(words):
            return Trouble(unable=f"nobody is logged in: {tail(words)}")
        status = last.get("api_error_status")
        if status is None and last.get("terminal_reason") == "api_error" and last.get("stop_reason") != "refusal":
            return Trouble(limit=UsageLimit())  # nobody answered
        return trouble(status, words, _named(words))

    def _used(self) -> tuple[Usage, Usage]:
        """Of this run, and of the session. `usage` is the run's; the cost is the session's in newer versions, which
        shows in the tokens beside it."""
        last = self.last
        if len(self.results) != 1:
            return Usage(), Usage()  # none, or more than it can have printed itself
        run, cost, by_model = self.used(last.get("usage")), money(last.get("total_cost_usd")), last.get("modelUsage")
        if cost is None:
            return run, Usage()
        counted, before = _counted(by_model), self._before.total_tokens or 0
        if not run.total_tokens and counted > before:
            run = Usage(total_tokens=counted - before)  # it leaves out the answer that used up its money
        whole = Usage(cost_usd=cost, cost_source="agent", total_tokens=counted)
        is_sum = before and counted >= before + (run.total_tokens or 0)
        spent = totals.since(self._before, whole) if is_sum else whole
        return replace(run, cost_usd=spent.cost_usd, cost_source=spent.cost_source), whole


def _counted(by_model: Any) -> int:
    models = [one for one in by_model.values() if isinstance(one, dict)] if isinstance(by_model, dict) else []
    return sum(count(one.get(name)) or 0 for one in models for name in _OF_MODELS)


def _named(words: str) -> datetime | None:
    """Its own message names the moment after a bar."""
    found = _RESET.search(words.strip())
    return moment(found[1]) if found else None
