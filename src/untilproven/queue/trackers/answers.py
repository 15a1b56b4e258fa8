"""What an answer of GitHub's that is no success means for the user."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from untilproven.model import wire
from untilproven.queue.trackers.contract import Off, Refused, TrackerFailed, Unclear
from untilproven.queue.trackers.web import Answer
from untilproven.queue.trackers.words import title_of

_SUCCESS = range(200, 300)
_MOVED = range(300, 400)
_LIMITED = frozenset({403, 429})
_FARTHEST = 366 * 24 * 3600


class _Message(msgspec.Struct):
    message: str = ""


def judged(answer: Answer, clean: Callable[[str], str], name: str) -> Answer:
    """The answer, if it is a success."""
    if answer.status in _SUCCESS:
        return answer
    raise _failure(answer, title_of(clean(_said(answer))), name)


def _failure(answer: Answer, said: str, name: str) -> TrackerFailed:
    status = answer.status
    if status == 401:
        return Off(
            f"{name}: GitHub does not accept the login: {said}",
            hint="make a new token and set RALPH_GITHUB_TOKEN, or `gh auth login`",
        )
    if status in _LIMITED and (wait := _limited(answer, said)):
        return Off(f"{name}: GitHub's rate limit is reached; {wait}", hint="sync again then; nothing is lost")
    if status == 403:
        return Refused(f"{name}: not allowed: {said}", hint="the token needs read and write access to issues")
    if status in {404, 410}:
        return Refused(
            f"{name} is not there, or this login may not see it: {said}",
            hint="check OWNER/REPO and that issues are switched on; the token needs access to issues",
        )
    if status in _MOVED:
        return Refused(f"{name} was moved", hint="name the repository as it is called now")
    if status >= 500:
        return Unclear(f"{name}: GitHub has a problem ({status}): {said}", hint="sync again")
    return Refused(f"{name}: GitHub refused ({status}): {said}")


def _limited(answer: Answer, said: str) -> str:
    """When it may be asked again, in words; empty if it is another kind of no."""
    after, reset = answer.headers.get("retry-after", ""), answer.headers.get("x-ratelimit-reset", "")
    used_up = answer.headers.get("x-ratelimit-remaining") == "0"
    if after.isascii() and after.isdigit():
        return f"it asks to wait {min(int(after), _FARTHEST)} s"
    if used_up and reset.isascii() and reset.isdigit() and int(reset) < time.time() + _FARTHEST:
        return f"it ends at {datetime.fromtimestamp(int(reset), UTC):%H:%M:%S} UTC"
    if used_up or answer.status == 429 or "rate limit" in said.lower():
        return "it does not say until when"
    return ""


def _said(answer: Answer) -> str:
    try:
        return msgspec.json.decode(answer.data, type=_Message).message or "it did not say why"
    except wire.UNREADABLE:
        return "it did not say why"
