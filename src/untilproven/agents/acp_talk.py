"""One conversation in the Agent Client Protocol: JSON-RPC in lines, from `initialize` to the answer to one prompt."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from untilproven.agents.acp_updates import Updates
from untilproven.agents.acp_usage import Spending
from untilproven.agents.adapter import Conclusion
from untilproven.agents.listening import Telling
from untilproven.agents.reporting import Trouble, is_too_long, name, tail, trouble
from untilproven.contract import Turn, UsageLimit
from untilproven.model.iteration import Continue, Failed, IterationResult, Usage
from untilproven.model.program import OVER, Ending, Speech
from untilproven.store.files import MIB

Json = dict[str, Any]

_VERSION = 1
_CANNOT = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
"""The agent is in the room and does such things there by itself; out here they would be done to the user's tree."""
_NOT_LOGGED_IN, _NO_METHOD = -32000, -32601
_PATIENCE = 5.0
"""Seconds to end by itself when all is said. Codex takes two."""
_MOST_UNHEARD = 32 * MIB
_PERMITTED = ("allow_once", "allow_always")
"""What is allowed once changes no settings of the agent's."""
_ENDINGS: dict[str, IterationResult] = {
    "end_turn": Continue(reason="it came to its end"),
    "refusal": Failed(error="the model refused to go on"),
    "cancelled": Failed(error="it says that it was cancelled"),
}
_CAPS = {"max_tokens": "its limit of tokens is reached", "max_turn_requests": "its limit of turns is reached"}
_USED_UP = ({"errorKind": "rate_limit"}, {"codexErrorInfo": "usageLimitExceeded"})
"""How agents say it in the data of an error."""


class Talk:
    """What is said goes into `speech`; what the agent says comes to `hear`, line by line."""

    def __init__(self, root: Path) -> None:
        self.speech = Speech(_PATIENCE)
        self._root = str(root)
        self._number, self._asked = _random(), ""
        self._then: Callable[[Json], None] = self._initialized
        self._keeps_sessions = self._prompted = False
        self._logins: list[Json] = []
        self._keys: list[Json] = []
        self._agent = self._session = self._cap = ""
        self._result: IterationResult | None = None
        self._met = Trouble()

    def begin(self, turn: Turn, model: str) -> None:
        self._turn, self._model = turn, model
        self._ask("initialize", self._initialized, protocolVersion=_VERSION, clientCapabilities=_CANNOT)

    def listen(self, telling: Telling, before: Usage) -> None:
        """`before` is what was counted of the session that it goes on with."""
        self._telling, self._before = telling, before
        self._spending = Spending(telling)
        self._updates = Updates(telling, self._spending)

    def hear(self, line: Json) -> None:
        match line:
            case {"method": "session/update", "params": {"sessionId": self._session, "update": dict() as update}}:
                if self._prompted:  # what comes before is the past of a session that goes on
                    self._updates.hear(update)
            case {"method": str() as method, "id": (str() | int()) as number}:
                self._asked_for(method, number, line.get("params"))
            case {"id": self._number, "error": error} if error is not None:
                self._number = _random()
                self._refused(error if isinstance(error, dict) else {"message": str(error)})
            case {"id": self._number, "result": result}:
                self._number = _random()
                self._then(result if isinstance(result, dict) else {})

    def conclude(self, ending: Ending, chatter: str) -> Conclusion:
        self._updates.finish()
        result = self._result
        if ending.stopped_because not in {"", OVER}:
            result = None if isinstance(result, Failed) else result  # it fails because it is stopped
        elif result is None and not ending.not_started:
            result = Failed(error=f"it ended before it had answered {self._asked}: {tail(chatter)}")
        return Conclusion(
            result=result,
            said=self._updates.said,
            usage=self._spending.used,
            uncounted=self._spending.fell,
            sums=self._spending.sums,
            usage_limit=self._met.limit,
            session=self._session if self._keeps_sessions else "",
            is_exhausted=isinstance(result, Failed) and is_too_long(result.error),
            unable=self._met.unable,
            cap=self._cap,
            is_done=self.speech.is_over,
        )

    def _send(self, message: Json) -> None:
        if self.speech.is_over:
            return
        self.speech.say(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")
        if len(self.speech.unheard) > _MOST_UNHEARD:
            self._end(Failed(error="it asks, and does not listen to the answers"))

    def _ask(self, method: str, then: Callable[[Json], None], **params: Any) -> None:
        """One question at a time."""
        self._number, self._asked, self._then = _random(), method, then
        self._send({"id": self._number, "method": method, "params": params})

    def _initialized(self, told: Json) -> None:
        if told.get("protocolVersion") != _VERSION:
            spoken = str(told.get("protocolVersion"))[:20]
            self._end(Failed(error=f"it speaks version {spoken} of the protocol, and ralph only {_VERSION}"))
            return
        match told.get("agentInfo"):
            case {"name": str() as agent}:
                self._agent = agent
        match told.get("agentCapabilities"):
            case {"loadSession": True}:
                self._keeps_sessions = True
        match told.get("authMethods"):
            case list() as methods:
                self._logins = [one for one in methods if isinstance(one, dict) and isinstance(one.get("id"), str)]
                self._keys = [one for one in self._logins if _takes_a_key(one)]
        self._open()

    def _open(self) -> None:
        session = self._turn.session
        if session and self._keeps_sessions:
            self._session = session
            self._ask("session/load", self._opened, sessionId=session, cwd=self._root, mcpServers=[])
            return
        if session:
            self._telling.event("error", "the agent cannot go on with a session: a fresh one begins")
        self._begin()

    def _begin(self) -> None:
        self._session, self._before = "", Usage()
        self._ask("session/new", self._opened, cwd=self._root, mcpServers=[])

    def _opened(self, told: Json) -> None:
        if not self._session:
            self._session = name(told.get("sessionId"))
        if not self._session:
            self._end(Failed(error="it began a session without a name"))
        elif self._model:
            self._choose_model(told)
        else:
            self._prompt()

    def _choose_model(self, told: Json) -> None:
        options = told.get("configOptions")
        for option in options if isinstance(options, list) else []:
            match option:
                case {"category": "model", "id": str() as number}:
                    chosen = {"configId": number, "value": self._model}
                    self._ask("session/set_config_option", self._prompt, sessionId=self._session, **chosen)
                    return
        if isinstance(told.get("models"), dict):
            self._ask("session/set_model", self._prompt, sessionId=self._session, modelId=self._model)
            return
        self._end(Failed(error="it lets nobody choose a model; say it in its own command, and leave --model out"))

    def _prompt(self, _told: Json | None = None) -> None:
        self._spending.begin(self._agent, self._before, goes_on=self._session == self._turn.session)
        self._prompted = True
        words = self._turn.prompt.encode("utf-8", "replace").decode()
        self._ask("session/prompt", self._answered, sessionId=self._session, prompt=[{"type": "text", "text": words}])

    def _answered(self, told: Json) -> None:
        self._spending.answered(told)
        reason = str(told.get("stopReason"))
        unknown = Failed(error=f"it stopped for a reason that is not known: {reason[:100]}")
        self._cap = _CAPS.get(reason, "")
        self._end(Continue(reason=self._cap) if self._cap else _ENDINGS.get(reason, unknown))

    def _end(self, result: IterationResult) -> None:
        self._result = result
        self.speech.end()

    def _refused(self, error: Json) -> None:
        code, words = error.get("code"), _words(error)
        if code == _NOT_LOGGED_IN and not self._prompted:
            self._log_in(words)
        elif self._asked == "session/load":
            self._telling.event("error", f"the session {self._session} cannot go on ({words}): a fresh one begins")
            self._begin()
        elif self._asked == "authenticate":
            self._log_in(words)
        else:
            self._met = _trouble(error, words)
            self._end(Failed(error=f"{self._asked}: {words}"))

    def _log_in(self, words: str) -> None:
        """With a key from the environment, which needs nobody; every other way wants a person."""
        if self._keys:
            self._ask("authenticate", lambda _: self._open(), methodId=self._keys.pop(0)["id"])
            return
        ways = ", ".join(str(one.get("name") or one["id"]) for one in self._logins)
        self._met = Trouble(unable=_not_logged_in(words, ways))
        self._end(Failed(error=self._met.unable))

    def _asked_for(self, method: str, number: str | int, params: Any) -> None:
        if method != "session/request_permission":
            error = {"code": _NO_METHOD, "message": f"there is no {method[:100]} here"}
            self._send({"id": number, "error": error})
            return
        given = params if isinstance(params, dict) else {}
        options = given.get("options")
        offered = [one for one in options if isinstance(one, dict)] if isinstance(options, list) else []
        chosen = next((one for kind in _PERMITTED for one in offered if one.get("kind") == kind), None)
        call = given.get("toolCall")
        title = str(call.get("title") or call.get("toolCallId")) if isinstance(call, dict) else "something"
        if chosen is None:
            self._send({"id": number, "result": {"outcome": {"outcome": "cancelled"}}})
            self._telling.event("error", f"it asked for {title[:300]} and offered no way to allow it")
            return
        self._send({"id": number, "result": {"outcome": {"outcome": "selected", "optionId": chosen.get("optionId")}}})
        self._telling.event("text", f"allowed: {title[:300]}", {"permission": chosen.get("kind")})


def _random() -> str:
    """The number of a question, so that nobody can answer it who has not read it."""
    return os.urandom(16).hex()


def _takes_a_key(method: Json) -> bool:
    meta = method.get("_meta")
    return method.get("type") == "env_var" or (isinstance(meta, dict) and "api-key" in meta)


def _not_logged_in(words: str, ways: str) -> str:
    return f"nobody is logged in: {words}" + (f"; the agent offers: {ways}" if ways else "")


def _words(error: Json) -> str:
    data = error.get("data")
    details = (data.get("details") or data.get("message")) if isinstance(data, dict) else data
    message = str(error.get("message") or "")
    return tail(f"{message}: {details}" if isinstance(details, str) and details not in message else message)


def _trouble(error: Json, words: str) -> Trouble:
    """What it means for the loop, by numbers and names that the agent gives it; never by its words."""
    code, data = error.get("code"), error.get("data")
    if code == _NOT_LOGGED_IN:
        return Trouble(unable=_not_logged_in(words, ""))
    if isinstance(data, dict) and any(data.items() >= sign.items() for sign in _USED_UP):
        return Trouble(limit=UsageLimit())
    return trouble(code, words)
