"""aider: `aider --message-file`, which edits by text and prints text; what it used stands in a log of its own."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from untilproven.agents.adapter import Asked, Call, Conclusion, Identity, Login
from untilproven.agents.bringing import Kept
from untilproven.agents.home import Home
from untilproven.agents.listening import Telling
from untilproven.agents.prices import priced
from untilproven.agents.reporting import Trouble, count, money, tail
from untilproven.agents.reporting import name as named
from untilproven.agents.spending import all_of
from untilproven.contract import Turn, UsageLimit
from untilproven.model.iteration import Continue, Failed, IterationResult, Usage
from untilproven.model.program import Ending
from untilproven.model.wire import UNREADABLE

_LOG, _CHAT, _CONFIG = "log.jsonl", "chat.md", "aider.conf.yml"
_GIT = "gitconfig"
_NOBODY = b"[user]\n\tname = aider\n\temail = aider@localhost\n[include]\n\tpath = /etc/gitconfig\n"
"""Where git knows nobody it would write to the project's configuration, which cannot be written to in a room."""
_SESSION = "chat"
_KEYS = (
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY"),
    *("GROQ_API_KEY", "XAI_API_KEY", "MISTRAL_API_KEY", "AZURE_API_KEY"),
)
_QUIET = (
    *("--yes-always", "--no-pretty", "--no-stream", "--no-fancy-input", "--no-suggest-shell-commands"),
    *("--no-check-update", "--no-show-release-notes", "--no-show-model-warnings", "--no-detect-urls"),
    *("--analytics-disable", "--no-gitignore", "--no-auto-commits", "--no-dirty-commits", "--no-browser"),
)
_ERROR = re.compile(r"^litellm\.(\w+Error|Timeout)\b", re.MULTILINE)
_UNNAMED = frozenset({"None", "REDACTED"})
"""What it logs for a model that it does not know."""
_REFUSED = frozenset({"AuthenticationError", "PermissionDeniedError"})
_PASSING = frozenset({"RateLimitError", "InternalServerError", "ServiceUnavailableError", "BadGatewayError", "Timeout"})
"""Also if nobody answers. `APIConnectionError` is all that it has no other name for."""


class Aider:
    name = "aider"
    program = "aider"
    takes_seed = False
    litter: tuple[str, ...] = (".aider.tags.cache.v4/cache.db",)
    logins: tuple[Login, ...] = ()

    @property
    def settings(self) -> tuple[Kept, ...]:
        return (Kept(Path.home() / ".aider.conf.yml", _CONFIG),)

    def identity(self, environ: Mapping[str, str], logins: tuple[Path, ...]) -> Identity:  # noqa: ARG002  it has none
        for name in _KEYS:
            if environ.get(name):
                return Identity(f"the key in {name}")
        return Identity("", "set the key of a provider, such as OPENAI_API_KEY or ANTHROPIC_API_KEY")

    def login(self, home: Path) -> Call | None:  # noqa: ARG002  it has only keys
        return None

    def files(self, home: Path) -> dict[str, bytes]:  # noqa: ARG002  the same everywhere
        return {_CONFIG: b"check-update: false\n", _GIT: _NOBODY, _LOG: b""}

    def call(self, turn: Turn, asked: Asked, home: Path) -> Call:
        argv = [*_QUIET, "--message-file", str(turn.prompt_file), "--config", str(home / _CONFIG)]
        argv += ["--chat-history-file", str(home / _CHAT), "--input-history-file", str(home / "input")]
        argv += ["--analytics-log", str(home / _LOG)]
        if turn.session:
            argv += ["--restore-chat-history"]
        if asked.model:
            argv += ["--model", asked.model]
        return Call(
            [*argv, *asked.arguments], {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "GIT_CONFIG_SYSTEM": str(home / _GIT)}
        )

    def hearing(self, telling: Telling, before: Usage, home: Home) -> "_Hearing":  # noqa: ARG002  it counts each run
        return _Hearing(home)


class _Hearing:
    def __init__(self, home: Home) -> None:
        self._home = home

    def hear(self, line: dict[str, Any]) -> None:
        """It prints text; a line of it that happens to be JSON is a part of that."""

    def conclude(self, ending: Ending, chatter: str) -> Conclusion:
        sent = [_usage(one) for one in self._logged() if one.get("event") == "message_send"]
        *_, failed = (None, *([] if sent else _ERROR.finditer(chatter)))  # an answer may speak of errors, too
        met = _trouble(failed[1], chatter) if failed else Trouble()
        return Conclusion(
            result=_result(ending, chatter, failed, sent),
            said=chatter,
            usage=all_of(sent),
            usage_limit=met.limit,
            session=_SESSION,
            unable=met.unable,
        )

    def _logged(self) -> list[dict[str, Any]]:
        found = []
        for line in (self._home.read(_LOG) or b"").splitlines():
            try:
                told = msgspec.json.decode(line)
            except UNREADABLE:
                continue
            if isinstance(told, dict):
                found.append(told)
        return found


def _trouble(error: str, chatter: str) -> Trouble:
    if error in _REFUSED:
        return Trouble(unable=f"the provider does not let it in: {tail(chatter)}")
    return Trouble(limit=UsageLimit()) if error in _PASSING else Trouble()


def _result(ending: Ending, chatter: str, failed: re.Match[str] | None, sent: list[Usage]) -> IterationResult | None:
    """It exits with 0 whatever happened."""
    if failed:
        return Failed(error=f"{failed[1]}: {tail(chatter)}")
    if not sent:
        return None if ending.stopped_because else Failed(error=f"it asked no model: {tail(chatter)}")
    return Continue(reason="it came to its end")


def _usage(event: dict[str, Any]) -> Usage:
    told = event.get("properties")
    if not isinstance(told, dict):
        return Usage()
    given, made, cost = count(told.get("prompt_tokens")), count(told.get("completion_tokens")), money(told.get("cost"))
    model = named(told.get("main_model")).rpartition("/")[2]
    model = "" if model in _UNNAMED else model
    used = Usage(
        input_tokens=UNSET if given is None else given,
        output_tokens=UNSET if made is None else made,
        total_tokens=UNSET if given is None or made is None else given + made,
        cost_usd=cost or UNSET,
        cost_source="agent" if cost else UNSET,
        model=model or UNSET,
    )
    return used if cost else priced(used)
