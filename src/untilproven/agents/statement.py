"""What an agent states about its iteration, in a file or in its last words. All of it is a claim."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from untilproven.agents.spending import usage_of
from untilproven.contract import UsageLimit
from untilproven.core import text
from untilproven.errors import Damaged, Foreign
from untilproven.model.fields import Timestamp
from untilproven.model.iteration import Blocked, Complete, Continue, Failed, IterationResult, Usage
from untilproven.model.wire import UNREADABLE
from untilproven.store import files

_OPEN, _CLOSE = "<result>", "</result>"
_FENCES = ("```", "~~~")
_LONGEST = 4096
_MOST_ARTIFACTS = 200
_KINDS: dict[str, tuple[type[IterationResult], str]] = {
    "continue": (Continue, "reason"),
    "complete": (Complete, "artifacts"),
    "blocked": (Blocked, "blocker"),
    "failed": (Failed, "error"),
}


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """What could be read of it; `problems` says in sentences what could not."""

    result: IterationResult | None = None
    usage: Usage = Usage()
    usage_limit: UsageLimit | None = None
    session: str = ""
    problems: tuple[str, ...] = ()


def in_file(path: Path) -> Statement | None:
    """What the result file says; None if none was written."""
    try:
        data = files.read(path, files.MIB)
    except FileNotFoundError:
        return None
    except (Damaged, Foreign) as error:
        return _unreadable(f"the result file cannot be read: {error.message}")
    except OSError as error:
        return _unreadable(f"the result file cannot be read: {error.strerror}")
    return _read(data, "the result file")


def in_words(said: str, prompt: str) -> Statement | None:
    """What a final `<result>{...}</result>` says; one that is quoted, or repeats the prompt, is none."""
    said = said.rstrip()
    at = said.rfind(_OPEN)
    if at < 0 or not said.endswith(_CLOSE) or _shown(said[:at]) or _echoed(said[:at], said[at:], prompt):
        return None
    return _read(said[at + len(_OPEN) : -len(_CLOSE)].encode("utf-8", "replace"), f"the final {_OPEN}")


def _shown(before: str) -> bool:
    """In a quotation, or in a block of code that is still open."""
    *above, line = before.split("\n")
    fences = sum(one.lstrip("> ").startswith(_FENCES) for one in above)
    return fences % 2 == 1 or line.lstrip().startswith(">")


def _echoed(before: str, tag: str, prompt: str) -> bool:
    """The prompt may spell out the answer it asks for; together with the words above it, it is an echo."""
    above = before.rstrip().rpartition("\n")[2]
    return bool(above) and _squeezed(f"{above} {tag}") in _squeezed(prompt)


def _squeezed(words: str) -> str:
    return " ".join(words.split())


def _read(data: bytes, where: str) -> Statement:
    try:
        raw = msgspec.json.decode(data)
    except UNREADABLE as error:
        return _unreadable(f"{where} is not JSON: {error}")
    if not isinstance(raw, dict) or not raw.keys() & {"status", *_BESIDE}:
        return _unreadable(f'{where} has no "status": continue, complete, blocked or failed')
    read: dict[str, Any] = {}
    problems: list[str] = []
    wanted = {name: (raw[name], reader) for name, reader in _BESIDE.items() if raw.get(name) is not None}
    if "status" in raw:
        wanted["result"] = (raw, result_of)
    for name, (value, reader) in wanted.items():
        try:
            read[name] = reader(value)
        except ValueError as error:
            problems.append(f"{where}: {name} is not understood: {error}")
    return Statement(**read, problems=tuple(problems))


def _unreadable(problem: str) -> Statement:
    return Statement(problems=(problem,))


def result_of(raw: dict[str, Any]) -> IterationResult:
    """One of source 002's union, of what is essential in it; or a ValueError that says what is wrong."""
    status = raw.get("status")
    if not isinstance(status, str) or status not in _KINDS:
        raise ValueError("its status is none of continue, complete, blocked and failed")
    kind, field = _KINDS[status]
    result = msgspec.convert({field: raw[field]} if raw.get(field) is not None else {}, kind)
    if isinstance(result, Complete):
        return Complete(artifacts=tuple(text.cut(name, _LONGEST) for name in result.artifacts[:_MOST_ARTIFACTS]))
    return msgspec.structs.replace(result, **{field: text.cut(getattr(result, field), _LONGEST)})


class _Limit(msgspec.Struct):
    resume_at: Timestamp | None = None


def limit_of(raw: Any) -> UsageLimit:
    return UsageLimit(msgspec.convert(raw, _Limit).resume_at)


def session_of(raw: Any) -> str:
    if not isinstance(raw, str) or not raw.isprintable() or len(raw) > _LONGEST:
        raise ValueError("it is no name")
    return raw


_BESIDE: dict[str, Callable[[Any], Any]] = {"usage": usage_of, "usage_limit": limit_of, "session": session_of}
