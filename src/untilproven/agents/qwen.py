"""Qwen Code: `qwen`, which prints JSON lines in the manner of Claude Code."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from untilproven.agents import totals
from untilproven.agents.adapter import Asked, Call, Conclusion, Identity, Login, chosen
from untilproven.agents.bringing import Kept, of
from untilproven.agents.home import Home
from untilproven.agents.listening import Telling
from untilproven.agents.own_logins import own_first
from untilproven.agents.prices import priced
from untilproven.agents.reporting import Trouble, tail, trouble
from untilproven.agents.stream_json import StreamJson
from untilproven.contract import Turn, UsageLimit
from untilproven.model.iteration import Usage
from untilproven.model.program import Ending

_NOBODY = re.compile(r"No auth type is selected")
_STATUS = re.compile(r"^\[API Error: (\d{3})\b")
_NOBODY_ANSWERS = re.compile(r"\[API Error: (?:Connection error|Request timed out)\.")


class Qwen:
    name = "qwen"
    program = "qwen"
    takes_seed = False
    litter: tuple[str, ...] = ()

    @property
    def logins(self) -> tuple[Login, ...]:
        return own_first(self.name, Login(Path.home() / ".qwen/oauth_creds.json", "oauth_creds.json"))

    @property
    def settings(self) -> tuple[Kept, ...]:
        return of(Path.home() / ".qwen", ("settings.json", "QWEN.md", "extensions", "commands", "skills", "agents"))

    def identity(self, environ: Mapping[str, str], logins: tuple[Path, ...]) -> Identity:
        if environ.get("OPENAI_API_KEY"):
            return Identity("the key in OPENAI_API_KEY")
        if logins:
            return Identity(f"the login in {logins[0].parent}")
        return Identity("", "run `qwen` and log in, or set OPENAI_API_KEY and OPENAI_BASE_URL")

    def login(self, home: Path) -> Call | None:
        return Call([], {"QWEN_HOME": str(home)})  # it asks by itself where it finds nobody

    def files(self, home: Path) -> dict[str, bytes]:  # noqa: ARG002  the same everywhere
        auth = "openai" if os.environ.get("OPENAI_API_KEY") else "qwen-oauth"
        settings = {
            "security": {"auth": {"selectedType": auth}},
            "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            "memory": {"enableManagedAutoMemory": False},
        }
        return {"settings.json": msgspec.json.encode(settings)}

    def call(self, turn: Turn, asked: Asked, home: Path) -> Call:
        argv = ["--output-format", "stream-json", "--yolo"]
        argv += chosen(turn, asked, "--resume")
        env = {"QWEN_HOME": str(home), "QWEN_CODE_NO_RELAUNCH": "true", "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1"}
        return Call([*argv, *asked.arguments], env, turn.prompt.encode("utf-8", "replace"))

    def hearing(self, telling: Telling, before: Usage, home: Home) -> "_Hearing":  # noqa: ARG002  it prints all
        return _Hearing(telling, before)


class _Hearing(StreamJson):
    def __init__(self, telling: Telling, before: Usage) -> None:
        super().__init__(telling)
        self._before = before

    def conclude(self, ending: Ending, chatter: str) -> Conclusion:
        status = _STATUS.match(self.words) if self.last.get("is_error") else None
        met = trouble(int(status[1]) if status else None, self.words)
        if self.last.get("is_error") and _NOBODY_ANSWERS.match(self.words):
            met = Trouble(limit=UsageLimit())
        if self.last.get("is_error") and _NOBODY.match(self.words):
            met = Trouble(unable=f"nobody is logged in: {tail(self.words)}")
        sums = self.used(self.last.get("usage")) if len(self.results) == 1 else Usage()
        run = replace(totals.since(self._before, sums), model=self.model or UNSET)
        return Conclusion(
            result=self.result(ending, chatter),
            said=self.said,
            usage=priced(run),
            sums=sums,
            usage_limit=met.limit,
            session=self.session,
            is_exhausted=self.is_exhausted,
            unable=met.unable,
            cap=self.cap,
        )
