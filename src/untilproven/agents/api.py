"""The built-in agent: a model behind an API, and a program of ours in the room that acts for it."""

import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from untilproven.agents.adapter import Asked, Call, Conclusion, Identity, Login
from untilproven.agents.bringing import Kept
from untilproven.agents.home import Home
from untilproven.agents.listening import Telling
from untilproven.agents.prices import priced
from untilproven.agents.reporting import Trouble, count, session, tail, tokens, trouble
from untilproven.agents.reporting import name as named
from untilproven.agents.spending import SUMS, all_of
from untilproven.contract import Turn, UsageLimit
from untilproven.model.iteration import Action, Continue, Failed, IterationResult, Usage
from untilproven.model.program import Ending

_MODELS = {
    "ANTHROPIC_API_KEY": "anthropic:claude-sonnet-5-5",
    "OPENAI_API_KEY": "openai:gpt-6.1-terra",
    "GEMINI_API_KEY": "google:gemini-4-argon",
}
"""What is used if no model is named, by the key that is there."""
_KEYS = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
    "openai-chat": ("OPENAI_API_KEY",),
    "openai-responses": ("OPENAI_API_KEY",),
}
_CAPS = {"turns": "its limit of turns is reached", "length": "its answer is longer than the model allows"}
_FAILURES = {"refused": "the model refused", "too_long": "the conversation is too long for the model"}
_INSTALL = 'pip install "untilproven[api]"'
_LONGEST_WAIT = timedelta(days=31).total_seconds()


class Api:
    name = "api"
    program = sys.executable
    takes_seed = True
    litter: tuple[str, ...] = ()
    settings: tuple[Kept, ...] = ()
    logins: tuple[Login, ...] = ()

    def __init__(self, model: str = "") -> None:
        self._model = model

    def identity(self, environ: Mapping[str, str], logins: tuple[Path, ...]) -> Identity:  # noqa: ARG002  keys alone
        if not find_spec("pydantic_ai"):
            return Identity("", _INSTALL, "api is not installed")
        if not (model := self._model or _default(environ)):
            *first, last = _MODELS
            return Identity("", f"set {', '.join(first)} or {last}", "there is no key")
        provider, colon, _ = model.partition(":")
        if not colon:
            return Identity("", f"--model PROVIDER:NAME, such as {_MODELS['OPENAI_API_KEY']}", f"{model} is no model")
        keys = _KEYS.get(provider, (f"{provider.upper().replace('-', '_')}_API_KEY",))
        if key := next((key for key in keys if environ.get(key)), ""):
            return Identity(f"the key in {key}")
        if provider.startswith("openai") and environ.get("OPENAI_BASE_URL"):
            return Identity("whoever runs the server at OPENAI_BASE_URL")
        if provider in _KEYS:
            return Identity("", f"set {keys[-1]}", f"there is no key for {provider}")
        return Identity(f"your account at {provider}")

    def login(self, home: Path) -> Call | None:  # noqa: ARG002  it has only keys
        return None

    def files(self, home: Path) -> dict[str, bytes]:  # noqa: ARG002  it needs none
        return {}

    def call(self, turn: Turn, asked: Asked, home: Path) -> Call:
        argv = ["-P", "-B", "-m", "untilproven.agents.worker", "--model", self._chosen, "--home", str(home)]
        if turn.session:
            argv += ["--session", turn.session]
        if asked.seeded:
            argv.append("--seeded")
        for name in asked.passed:
            argv += ["--keep", name]
        return Call([*argv, *asked.arguments], {}, turn.prompt.encode("utf-8", "replace"))

    @property
    def _chosen(self) -> str:
        return self._model or _default(os.environ)

    def hearing(self, telling: Telling, before: Usage, home: Home) -> "_Hearing":  # noqa: ARG002  it prints all
        provider = self._chosen.partition(":")[0]
        return _Hearing(telling, "openai" if provider.startswith("openai") else provider)


def _default(environ: Mapping[str, str]) -> str:
    return next((model for key, model in _MODELS.items() if environ.get(key)), "")


class _Hearing:
    def __init__(self, telling: Telling, provider: str) -> None:
        self._telling, self._provider = telling, provider
        self._session = ""
        self._said = ""
        self._unanswered = False
        self._used: list[Usage] = []
        self._actions: list[Action] = []
        self._results: list[dict[str, Any]] = []

    def hear(self, line: dict[str, Any]) -> None:
        match line:
            case {"type": "session"}:
                self._session = self._session or session(line.get("id"))
            case {"type": "text", "text": str() as text}:
                self._said = text
                self._telling.event("text", text)
            case {
                "type": "action",
                "kind": "read" | "write" | "bash" | "git" | "eval" as kind,
                "target": str() as target,
            }:
                self._actions.append(Action(kind=kind, target=target, at=datetime.now(UTC)))
                self._telling.event("action", kind, {"kind": kind, "target": target})
            case {"type": "outcome", "outcome": str() as outcome}:
                self._came_of_it(outcome, refused=line.get("refused") is True)
            case {"type": "request"}:
                self._unanswered = True
            case {"type": "usage"}:
                self._count(_used(line.get("told")), line.get("told"))
            case {"type": "retry"}:
                self._retries(line)
            case {"type": "result"}:
                self._unanswered = False
                self._results.append(line)

    def _came_of_it(self, outcome: str, *, refused: bool) -> None:
        if self._actions:
            self._actions[-1] = replace(self._actions[-1], outcome=outcome)
        if refused:
            self._telling.event("error", outcome, {"role": "tool"})

    def _count(self, used: Usage, told: Any) -> None:
        self._unanswered = False
        written = count(told.get("written_input_tokens")) if isinstance(told, dict) else None
        used = priced(used, self._provider, written or 0)
        self._used.append(used)
        known = {name: value for name in SUMS if (value := getattr(used, name)) is not UNSET}
        if known:
            self._telling.event("usage", data=known)

    def _retries(self, line: dict[str, Any]) -> None:
        self._unanswered = False
        why = f"the provider answered {status}" if (status := count(line.get("status"))) else "there was no answer"
        self._telling.event("error", f"{why}: it tries again ({tail(str(line.get('message')))})")

    @property
    def _last(self) -> dict[str, Any]:
        return self._results[-1] if self._results else {}

    @property
    def _words(self) -> str:
        return tail(str(self._last.get("message") or ""))

    def conclude(self, ending: Ending, chatter: str) -> Conclusion:
        ended, status = str(self._last.get("ended") or ""), self._last.get("status")
        after, spent = _after(self._last.get("retry_after")), self._spent()
        met = Trouble(limit=UsageLimit(after)) if ended == "outage" else trouble(status, self._words, after)
        return Conclusion(
            result=self._result(ended, ending, chatter),
            said=self._said,
            usage=spent,
            uncounted=spent.total_tokens is UNSET,
            usage_limit=met.limit,
            session=self._session,
            unable=met.unable or (self._words if ended == "unable" else ""),
            cap=_CAPS.get(ended, ""),
            actions=tuple(self._actions),
        )

    def _result(self, ended: str, ending: Ending, chatter: str) -> IterationResult | None:
        if not ended:
            return None if ending.stopped_because else Failed(error=f"it ended without a result: {tail(chatter)}")
        if ended == "done" or ended in _CAPS:
            return Continue(reason="it came to its end")
        return Failed(error=": ".join(filter(None, [_FAILURES.get(ended, ""), self._words])))

    def _spent(self) -> Usage:
        """Unknown if it was stopped while the model answered, or if the lines are not all the program's own."""
        forged = self._results and (len(self._results) > 1 or self._last.get("sums") != self._sums())
        return Usage() if self._unanswered or forged else all_of(self._used)

    def _sums(self) -> dict[str, int]:
        measured = [used for used in self._used if used.input_tokens is not UNSET]
        return {
            "answers": len(self._used),
            "input_tokens": sum(used.input_tokens or 0 for used in measured),
            "output_tokens": sum(used.output_tokens or 0 for used in measured),
        }


def _used(told: Any) -> Usage:
    if not isinstance(told, dict):
        return Usage()
    used = tokens(told, ("input_tokens",), ("output_tokens",), "cached_input_tokens")
    cached = count(told.get("cached_input_tokens"))
    return replace(
        used, cached_input_tokens=UNSET if cached is None else cached, model=named(told.get("model")) or UNSET
    )


def _after(seconds: Any) -> datetime | None:
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds <= _LONGEST_WAIT
    return datetime.now(UTC) + timedelta(seconds=seconds) if is_number else None
