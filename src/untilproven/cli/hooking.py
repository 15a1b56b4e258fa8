"""`ralph hook` without the parser: an agent waits for it. It exits with 0 and in time, whatever happens."""

import contextlib
import os
import signal
import sys
from functools import partial
from typing import Any

import msgspec

from untilproven.errors import RalphError, UsageError

_LARGEST = 256 * 1024 * 1024
_SAID: list[dict[str, Any]] = []
"""The answer, once it was given."""
_AGENT, _SESSION = "--agent", "--session"
_TOO_LONG = "this took too long, so the agent is let go"
EVENTS = ("stop", "prompt", "start", "cancel", "status", "idle", "error", "deleted")
_LAST_SECONDS = {"prompt": 110, "start": 110}
_LONGEST_SECONDS = 3540
"""Less than what agents are told to wait for us, more than what checks may take."""
_GRACE_SECONDS = 8
"""For what was under way to be left in order."""


class _Enough(BaseException):
    """Nobody waits for us any longer."""


def run(words: list[str]) -> int:
    """Carry out one event. What goes wrong is told, and never keeps the agent from stopping."""
    event, agent = words[0] if words else "", "claude"
    with contextlib.suppress(ValueError, OSError):  # only a main thread has alarms
        signal.signal(signal.SIGALRM, partial(_give_up, event))
        signal.signal(signal.SIGTERM, partial(_give_up, event))
        signal.alarm(_LAST_SECONDS.get(event, _LONGEST_SECONDS))
    try:
        agent, session, rest = _read(words[1:])
        return _act(event, agent, session, rest)
    except RalphError as error:
        return _tell(event, "; ".join(part for part in (error.message, error.hint) if part))
    except _Enough:
        return _tell(event, _TOO_LONG)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001  a mistake of ours must not hold the user up
        return _tell(event, f"internal error, so the agent is let go: {type(error).__name__}: {error}")


def _act(event: str, agent: str, session: str, rest: list[str] | None) -> int:
    if event not in EVENTS:
        raise UsageError(f"there is no event {event!r}", hint="one of " + ", ".join(EVENTS))
    if event in {"start", "cancel", "status"}:
        return _command(event, agent, session, rest)
    said = sys.stdin.buffer.read(_LARGEST)
    if event == "stop":
        from untilproven.session import quick  # noqa: PLC0415  as little as the event needs

        if quick.stop(agent, said, _say) or _SAID:
            os._exit(0)  # all is said; taking the interpreter down would cost as much again
    from untilproven.session.serving import serve  # noqa: PLC0415  the same

    serve(event, agent, said, _say)
    return 0


def _command(event: str, agent: str, session: str, rest: list[str] | None) -> int:
    from untilproven.core.text import printable  # noqa: PLC0415  events do without
    from untilproven.session import commands  # noqa: PLC0415
    from untilproven.session.arguments import parse_ralph_args, parse_words  # noqa: PLC0415

    if event == "start":
        if rest is None:
            rest = [sys.stdin.read(1024 * 1024)]
        begun = commands.begin(agent, session, parse_ralph_args(rest[0]) if len(rest) == 1 else parse_words(rest))
        sys.stderr.write(f"{printable(commands.told(begun))}\n")
        sys.stdout.write(f"{begun.prompt}\n")
    else:
        said = commands.stop(session) if event == "cancel" else commands.status(session)
        sys.stdout.write(f"{printable(said)}\n")
    sys.stdout.flush()
    return 0


def _read(words: list[str]) -> tuple[str, str, list[str] | None]:
    """The agent, the session, and what stands behind `--`; None if nothing does."""
    found = {_AGENT: "claude", _SESSION: ""}
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            return found[_AGENT], found[_SESSION], waiting
        name, equals, value = word.partition("=")
        if name not in found or not (equals or waiting):
            raise UsageError(
                f"`ralph hook` does not know {word!r}", hint="ralph hook EVENT --agent NAME [--session ID]"
            )
        found[name] = value if equals else waiting.pop(0)
    return found[_AGENT], found[_SESSION], None


def _say(answer: dict[str, Any]) -> None:
    _SAID.append(answer)
    sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
    sys.stdout.flush()


def _tell(event: str, why: str) -> int:
    """Where the agent shows it to its user, and on stderr."""
    from untilproven.core.text import printable  # noqa: PLC0415  nothing is wrong as a rule

    text = printable(f"ralph: {why}")
    sys.stderr.write(f"{text}\n")
    if _SAID:  # a second answer would spoil the first
        return 0
    with contextlib.suppress(OSError):
        if event in {"stop", "prompt"}:
            _say({"systemMessage": text})
        elif event in {"idle", "error", "deleted"}:
            _say({"action": "none", "note": text})
        else:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()
    return 0


def _give_up(event: str, _signal: int, _frame: object) -> None:
    """Nothing holds the agent longer than it waits for us: what is under way ends, and if that takes long, at once."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, partial(_leave, event))
    signal.alarm(_GRACE_SECONDS)
    raise _Enough


def _leave(event: str, _signal: int, _frame: object) -> None:
    _tell(event, _TOO_LONG)
    os._exit(0)
