"""What is left of a script, and every request that came: shared by all who answer."""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from models.script import Script, Step, Turn
from models.wire import Asked, Json


class Request(NamedTuple):
    conversation: str
    method: str
    path: str
    headers: Mapping[str, str]
    """By their names in small letters."""
    body: Any
    asked: Asked | None
    """What it means, if it asks the model for an answer."""
    steps: tuple[Step, ...]
    """What of the script it got. None for something on the side, or when the script had ended."""
    note: str
    """Why it got nothing of the script."""

    @property
    def prompt(self) -> str:
        return self.asked.words() if self.asked else ""


class Play:
    def __init__(self, script: Script, log: Path | None) -> None:
        self._left = {name: list(steps) for name, steps in script.items()}
        self._requests: list[Request] = []
        self._log = log
        self._lock = threading.Lock()

    @property
    def requests(self) -> list[Request]:
        """Every request so far, oldest first."""
        with self._lock:
            return list(self._requests)

    def turns(self, conversation: str) -> list[Request]:
        """The requests that got something of the script."""
        return [one for one in self.requests if one.conversation == conversation and one.steps]

    def left(self, conversation: str) -> list[Step]:
        """What of the script nobody has asked for yet."""
        with self._lock:
            return list(self._left[conversation])

    def extend(self, conversation: str, *steps: Step) -> None:
        with self._lock:
            self._left.setdefault(conversation, []).extend(steps)

    def has(self, conversation: str) -> bool:
        with self._lock:
            return conversation in self._left

    def take(self, conversation: str, *, whole: bool) -> tuple[Step, ...]:
        """The next step; or the turns up to the one that calls no tool, for a client that cannot come back."""
        with self._lock:
            left = self._left[conversation]
            count = 1
            while whole and _goes_on(left[count - 1 : count + 1]):
                count += 1
            taken = tuple(left[:count])
            del left[:count]
            return taken

    def remember(self, request: Request) -> None:
        with self._lock:
            self._requests.append(request)
            if self._log:
                with self._log.open("a") as file:
                    file.write(json.dumps(_plain(request)) + "\n")


def _goes_on(two: list[Step]) -> bool:
    """The first calls tools, and a second one has what is said then."""
    match two:
        case [Turn(calls=[_, *_]), Turn()]:
            return True
    return False


def _plain(request: Request) -> Json:
    whole = request._asdict()
    del whole["asked"]  # it is in the body
    return {**whole, "steps": msgspec.to_builtins(request.steps)}
