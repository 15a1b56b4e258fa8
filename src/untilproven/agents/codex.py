"""Codex: `codex exec --json`, which prints threads, turns and items as JSON lines."""

import os
import re
import shlex
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from untilproven.agents import acting, totals
from untilproven.agents.adapter import Asked, Call, Conclusion, Identity, Login
from untilproven.agents.bringing import Kept, of
from untilproven.agents.home import Home
from untilproven.agents.listening import Telling
from untilproven.agents.own_logins import own_first
from untilproven.agents.prices import priced
from untilproven.agents.reporting import Trouble, is_too_long, session, tail, tokens, trouble
from untilproven.contract import Turn, UsageLimit
from untilproven.model.iteration import Continue, Failed, IterationResult, Usage
from untilproven.model.program import Ending

_SETTINGS = b"check_for_update_on_startup = false\n[analytics]\nenabled = false\n"
_STATUS = re.compile(r"(?:unexpected|last) status:? (\d{3})\b")
_LIMIT = re.compile(r"hit your usage limit|Quota exceeded|usage limit (?:has been )?reached", re.IGNORECASE)
_AGAIN = re.compile(r"try again at (?:(\w{3}) (\d{1,2})\w*, (\d{4}) )?(\d{1,2}):(\d{2}) ([AP]M)", re.IGNORECASE)
_NOBODY_ANSWERS = re.compile(
    r"error sending request|connection (?:refused|reset|closed)|request timed out|idle timeout waiting", re.IGNORECASE
)
_LOGGED_OUT = re.compile(r"not (?:signed|logged) in|log in again|refresh token|run `?codex login", re.IGNORECASE)
_MODEL = re.compile(rb'"type":"turn_context".{0,2000}?"model":"([^"]{1,100})"', re.DOTALL)
_NOON = 12
_WRAPPED = 3
"""`/bin/bash -lc LINE`"""


class Codex:
    name = "codex"
    program = "codex"
    takes_seed = False
    litter: tuple[str, ...] = ()

    @property
    def logins(self) -> tuple[Login, ...]:
        return own_first(self.name, Login(_users() / "auth.json", "auth.json"))

    @property
    def settings(self) -> tuple[Kept, ...]:
        return of(_users(), ("config.toml", "AGENTS.md", "prompts", "skills", "rules", "hooks.json"))

    def identity(self, environ: Mapping[str, str], logins: tuple[Path, ...]) -> Identity:
        for name in ("CODEX_API_KEY", "OPENAI_API_KEY"):
            if environ.get(name):
                return Identity(f"the key in {name}")
        if logins:
            return Identity(f"the login in {logins[0].parent}")
        return Identity("", "run `codex login`, or set OPENAI_API_KEY")

    def login(self, home: Path) -> Call | None:
        return Call(["login"], {"CODEX_HOME": str(home)})

    def files(self, home: Path) -> dict[str, bytes]:  # noqa: ARG002  the same everywhere
        return {"config.toml": _SETTINGS}

    def call(self, turn: Turn, asked: Asked, home: Path) -> Call:
        argv = ["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"]
        if asked.model:
            argv += ["--model", asked.model]
        argv += [*asked.arguments, *(["resume", turn.session] if turn.session else []), "-"]
        env = {"CODEX_HOME": str(home)}
        if key := os.environ.get("CODEX_API_KEY") or os.environ.get("OPENAI_API_KEY"):
            env["CODEX_API_KEY"] = key
        return Call(argv, env, turn.prompt.encode("utf-8", "replace"))

    def hearing(self, telling: Telling, before: Usage, home: Home) -> "_Hearing":
        return _Hearing(telling, before, home)


def _users() -> Path:
    named = os.environ.get("CODEX_HOME", "")
    return Path(named) if named.startswith("/") else Path.home() / ".codex"


class _Hearing:
    def __init__(self, telling: Telling, before: Usage, home: Home) -> None:
        self._telling, self._before, self._home = telling, before, home
        self._session = ""
        self._said = ""
        self._declined = False
        self._ends: list[dict[str, Any]] = []

    def hear(self, line: dict[str, Any]) -> None:
        match line:
            case {"type": "thread.started"}:
                self._session = self._session or session(line.get("thread_id"))
            case {"type": "item.started", "item": {"type": "command_execution", "command": str() as command}}:
                self._telling.event("action", "shell", acting.ran(_inner(command)))
            case {"type": "item.completed", "item": dict() as item}:
                self._item(item)
            case {"type": "error"}:
                self._telling.event("error", str(line.get("message") or ""))
            case {"type": "turn.completed" | "turn.failed"}:
                self._ends.append(line)

    def _item(self, item: dict[str, Any]) -> None:
        match item:
            case {"type": "agent_message", "text": str() as text}:
                self._said = text
                self._telling.event("text", text)
            case {"type": "file_change", "changes": list() as changes}:
                for change in changes:
                    path = str(change.get("path") or "") if isinstance(change, dict) else ""
                    self._telling.event("action", "file_change", {"kind": "write", "target": path})
            case {"type": "command_execution", "status": "failed" | "declined" as status}:
                words = tail(str(item.get("aggregated_output") or status))
                self._telling.event("error", words, {"role": "tool"})
                self._declined = self._declined or status == "declined"
            case {"type": "error", "message": str() as message}:
                self._telling.event("error", message)  # mostly warnings

    def conclude(self, ending: Ending, chatter: str) -> Conclusion:
        met = self._trouble(chatter)
        sums = self._sums()
        run = replace(totals.since(self._before, sums), model=self._model() or UNSET)
        return Conclusion(
            result=self._result(ending, chatter),
            said=self._said,
            usage=priced(run, "openai"),
            sums=sums,
            usage_limit=met.limit,
            session=self._session,
            is_exhausted=is_too_long(self._failure or ""),
            unable=met.unable,
        )

    @property
    def _failure(self) -> str | None:
        """Why the turn failed, if it did. It ends with its turn, so the last is its own."""
        if not self._ends or self._ends[-1]["type"] != "turn.failed":
            return None
        error = self._ends[-1].get("error")
        return tail(str(error.get("message") or "") if isinstance(error, dict) else "")

    def _sums(self) -> Usage:
        """One turn is asked for, so one is reported; a second is not its own."""
        if len(self._ends) != 1:
            return Usage()
        return tokens(self._ends[0].get("usage"), ("input_tokens",), ("output_tokens",), "cached_input_tokens")

    def _result(self, ending: Ending, chatter: str) -> IterationResult | None:
        if self._failure is not None:
            return Failed(error=self._failure)
        if not self._ends:
            return None if ending.stopped_because else Failed(error=f"it ended without a result: {tail(chatter)}")
        if self._declined:
            return Failed(error="it was refused permission for a command")
        return Continue(reason="it came to its end")

    def _trouble(self, chatter: str) -> Trouble:
        words = self._failure or ("" if self._session else chatter)  # once it works, others speak beside it
        if self._failure and _LIMIT.search(words):
            return Trouble(limit=UsageLimit(_when(words)))
        status = _STATUS.search(words)
        if self._failure and not status and _NOBODY_ANSWERS.search(words):
            return Trouble(limit=UsageLimit())
        if not status and _LOGGED_OUT.search(words):
            return Trouble(unable=f"nobody is logged in: {tail(words)}")
        return trouble(int(status[1]) if status else None, words)

    def _model(self) -> str:
        """It says so only in the file that it keeps of the session."""
        kept = self._home.newest(f"sessions/**/rollout-*{self._session}.jsonl") if self._session else None
        found = _MODEL.search(kept) if kept else None
        return found[1].decode(errors="replace") if found else ""


def _inner(command: str) -> str:
    """What the shell is asked to do."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == _WRAPPED and words[1] in {"-c", "-lc"} else command


def _when(words: str) -> datetime | None:
    """The moment its message names, in this machine's time."""
    found = _AGAIN.search(words)
    if not found:
        return None
    hour = int(found[4]) % _NOON + (_NOON if found[6].upper() == "PM" else 0)
    now = datetime.now()  # noqa: DTZ005  by the clock on this machine's wall, as the message
    try:
        named = now.replace(hour=hour, minute=int(found[5]), second=0, microsecond=0)
        if found[1]:
            day = datetime.strptime(f"{found[1]} {found[2]} {found[3]}", "%b %d %Y")  # noqa: DTZ007  only the day
            named = named.replace(year=day.year, month=day.month, day=day.day)
        elif named <= now:
            named += timedelta(days=1)
        return named.astimezone()
    except (ValueError, OverflowError):
        return None
