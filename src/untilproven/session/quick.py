"""The commonest answers to a Stop event, with next to nothing loaded: nobody's loop, or a turn without a claim.

An agent waits for them after every turn. What was left sealed by the last event is believed only if nobody has written
to the loop since; anything else is left to `serving`, which looks at everything.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable
from typing import Any

import msgspec

try:
    # hashlib would load all of OpenSSL.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

_LONGEST = 4 * 1024 * 1024
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_TAG = "<promise>"
_LONGEST_NAME = 96
_RECOVERY = 5.0
_PASSING_ON = frozenset(b"sh bash dash zsh ksh fish busybox env timeout ralph uv uvx".split())
_HIGHEST = 16


class Pointer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a session's loop is, and how the last event left it. It lies in the user's own state, out of the tree."""

    root: str
    state: str = ""
    """The session's record."""
    record: str = ""
    """A digest of it."""
    journal: str = ""
    seen: tuple[int, int, int] = (0, 0, 0)
    """Inode, size and time of the journal."""
    told: str = ""
    """A digest of all that it said by then."""
    rest: str = ""
    """What an agent without a claim is told, behind the number of the iteration."""


class _Event(msgspec.Struct):
    session_id: str = ""
    last_assistant_message: str | None = None
    transcript_path: str | None = None
    background_tasks: Any = None


class _Link(msgspec.Struct):
    handled_at: float = 0.0
    error_at: float = 0.0


def stop(agent: str, data: bytes, say: Callable[[dict[str, Any]], None]) -> bool:
    """Whether the event was dealt with."""
    if agent == "gemini":  # whose words of earlier turns come again
        return False
    try:
        event = msgspec.json.decode(data, type=_Event)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    if not is_plain(event.session_id):
        return False
    try:
        pointer = _pointer(event.session_id)
        if pointer is None:
            return True
        return bool(pointer.journal) and not event.background_tasks and _answered(event, pointer, say)
    except (OSError, msgspec.MsgspecError, KeyError, TypeError, ValueError):
        return False


def is_plain(session_id: str) -> bool:
    """Whether an id is the name of its directory, too."""
    return bool(session_id) and len(session_id) <= _LONGEST_NAME and _PLAIN.issuperset(session_id)


def state_home() -> str:
    """The user's own state, as `store.vouch.user_state` has it; empty if there is none."""
    base = os.environ.get("XDG_STATE_HOME", "")
    home = os.environ.get("HOME", "")
    if base.startswith("/"):
        return f"{base}/untilproven"
    return f"{home}/.local/state/untilproven" if home.startswith("/") else ""


def _pointer(session_id: str) -> Pointer | None:
    if not (home := state_home()):
        raise OSError("no place for the user's own state")
    try:
        return msgspec.json.decode(_read(f"{home}/sessions/{session_id}"), type=Pointer)
    except FileNotFoundError:
        return None


def _answered(event: _Event, pointer: Pointer, say: Callable[[dict[str, Any]], None]) -> bool:
    directory = pointer.state.rpartition("/")[0]
    lock = os.open(f"{directory}/session.lock", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        before = _read(pointer.state)
        if digest(before) != pointer.record or seen(pointer.journal) != pointer.seen or not _is_free(directory):
            return False
        record: dict[str, Any] = msgspec.json.decode(before)
        words = _words(event, record)
        if _TAG in words.lower() or not words or record["iteration"] >= record["maxIterations"]:
            return False
        record["iteration"] += 1
        now = time.time()
        record["lastIterationAt"] = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1e6):06d}Z"
        prompt = f"[RALPH LOOP - ITERATION {record['iteration']}{pointer.rest}"
        after = msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"
        told = f"Iteration {record['iteration']}/{record['maxIterations']}"
        with _prepared(pointer.state, after):
            say({"decision": "block", "reason": prompt, "systemMessage": told})
        _leave_the_rest(event.session_id, pointer.root, before, prompt, words, now)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def _is_free(directory: str) -> bool:
    """Whether nothing that happened lately stands in the way: an error, or another handler of the same event."""
    link, now = msgspec.json.decode(_read(f"{directory}/link.json"), type=_Link), time.time()
    return now - link.handled_at > _age() and now - link.error_at > _RECOVERY


def _age() -> float:
    """How long this process has been running, at least: what was dealt with since is the same event. Its start is known
    to a tick, and the next event can come within the tick in which the last one ended."""
    line = _read("/proc/self/stat", special=True)
    ticks = int(line[line.rindex(b")") + 2 :].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - (ticks + 1) / os.sysconf("SC_CLK_TCK")


def _words(event: _Event, record: dict[str, Any]) -> str:
    if event.last_assistant_message is not None:
        return event.last_assistant_message
    if not event.transcript_path:
        return ""
    from untilproven.session.transcripts import last_words  # noqa: PLC0415  most events bring the words along

    return last_words(event.transcript_path, record["startedAt"])


class _prepared:  # noqa: N801  used like a function
    """A file that is written before the answer is given, and put in place once it was taken: a full disk lets the
    agent go, and an answer that nobody took is not counted."""

    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        self._temporary = f"{path}.next"
        fd = os.open(self._temporary, _NEW, 0o644)
        try:
            while data:
                data = data[os.write(fd, data) :]
        finally:
            os.close(fd)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            os.replace(self._temporary, self._path)  # noqa: PTH105  pathlib is slow to load
        else:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)  # noqa: PTH108  the same


def _leave_the_rest(session_id: str, root: str, before: bytes, prompt: str, words: str, at: float) -> None:
    """The journal is written by a child that nobody waits for; it holds the session's lock until it is done. The event
    was dealt with `at` that time: by the end of the child the agent may want to stop again."""
    agent = pid_above()  # now: whoever passed the words on is gone with us
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)  # whoever waits for the end of our output does not wait for the child
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            try:
                os.setsid()
                from untilproven.session.serving import write_down  # noqa: PLC0415  slow to load

                write_down(session_id, root, before, prompt, words, agent, at)
            finally:
                os._exit(0)


def pid_above() -> int:
    """The agent: the first process above us that does more than pass words on."""
    pid = os.getppid()
    for _ in range(_HIGHEST):
        try:
            line = _read(f"/proc/{pid}/stat", special=True)
        except OSError:
            break
        name, _, rest = line.partition(b"(")[2].rpartition(b")")
        parent = int(rest.split()[1])
        if name not in _PASSING_ON or parent <= 1:
            break
        pid = parent
    return pid


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def seen(journal: str) -> tuple[int, int, int]:
    found = os.stat(journal, follow_symlinks=False)  # noqa: PTH116  the same
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read(path: str, *, special: bool = False) -> bytes:
    fd = os.open(path, _READ)
    try:
        if not special and os.fstat(fd).st_size > _LONGEST:
            raise OSError(f"{path} is too large")
        return os.read(fd, _LONGEST)
    finally:
        os.close(fd)
