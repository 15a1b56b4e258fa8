"""Plays one iteration of a cassette. A program of its own, so that it can be watched, confined and killed.

It is started without the rest of the package, by the same Python: the steps come on stdin, marshalled, each with its
name first; events go to stdout, one JSON object a line; what tools print goes to stderr. It runs once per iteration,
and imports only what is in memory already when Python starts: `json`, `signal` and `typing` would cost more than all
the rest.
"""
# ruff: noqa: PTH101, PTH103, PTH104, PTH106, PTH108, PTH112, PTH114, PTH116, PTH118, PTH120, PTH208, PTH211

from __future__ import annotations

import marshal
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Step = dict[str, Any]

_OUT, _ERR = 1, 2
_BLOCK = 65536
_SIGINT, _SIGPIPE, _SIGXFSZ = 2, 13, 25
_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(32), ord('"'), ord("\\"))}


def main() -> None:
    for number, step in enumerate(marshal.loads(sys.stdin.buffer.read()), 1):  # noqa: S302  from our own parent
        name = next(iter(step))
        try:
            _STEPS[name](step)
        except OSError as problem:
            tell("error", f"step {number} of the cassette, {name}: {problem.strerror}")
            sys.exit(1)


def tell(kind: str, text: str = "", /, **data: Any) -> None:
    _put(_OUT, f"{_json({'kind': kind, 'text': text, 'data': data})}\n".encode())


def _json(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{','.join(f'{_json(key)}:{_json(item)}' for key, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_json, value))}]"
    return f'"{value.translate(_ESCAPES)}"' if isinstance(value, str) else str(value)


def _put(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _say(step: Step) -> None:
    tell("text", step["say"], **({"role": "tool"} if "role" in step else {}))


def _write(step: Step) -> None:
    path, mode = _placed(step["write"]), 0o644
    if os.path.lexists(path):
        if not os.path.islink(path):
            mode = os.stat(path).st_mode & 0o7777
        os.unlink(path)
    _fill(path, os.O_CREAT | os.O_EXCL, _content(step))
    os.chmod(path, int(step["mode"], 8) if "mode" in step else mode)
    _did("write", path)


def _append(step: Step) -> None:
    _fill(_placed(step["append"]), os.O_CREAT | os.O_APPEND, step["content"].encode())
    _did("write", step["append"], "appended")


def _delete(step: Step) -> None:
    _clear(_inside(step["delete"]))
    _did("write", step["delete"], "deleted")


def _rename(step: Step) -> None:
    old, new = _inside(step["rename"]), _placed(step["to"])
    if os.path.lexists(old):
        _clear(new)
    if os.path.lexists(old) or not os.path.lexists(new):
        os.rename(old, new)
    _did("write", old, f"renamed to {new}")


def _mkdir(step: Step) -> None:
    os.makedirs(_placed(step["mkdir"]), exist_ok=True)
    _did("write", step["mkdir"], "a directory")


def _link(step: Step) -> None:
    path = _placed(step["link"])
    _clear(path)
    os.symlink(step["to"], path)
    _did("write", path, f"a link to {step['to']}")


def _inside(path: str) -> str:
    """A path whose directory is really in the tree: a link may lead out of it."""
    root = os.path.realpath(".")
    if os.path.commonpath([root, os.path.realpath(os.path.dirname(path))]) != root:
        raise OSError(0, "a link leads out of the project")
    return path


def _placed(path: str) -> str:
    """The same, with its directory made."""
    os.makedirs(os.path.dirname(_inside(path)) or ".", exist_ok=True)
    return path


def _content(step: Step) -> bytes:
    if "base64" not in step:
        return str(step.get("content", "")).encode()
    import binascii  # noqa: PLC0415  few files are no text

    return binascii.a2b_base64(step["base64"])


def _fill(path: str, how: int, content: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | how, 0o644)
    _put(fd, content)
    os.close(fd)


def _clear(path: str) -> None:
    """Nothing is there any more."""
    if os.path.isdir(path) and not os.path.islink(path):
        for name in os.listdir(path):
            _clear(os.path.join(path, name))
        os.rmdir(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _run(step: Step) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    pid = os.posix_spawn(
        "/bin/sh",
        ["sh", "-c", step["run"]],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, nothing, 0), (os.POSIX_SPAWN_DUP2, _ERR, _OUT)],
        setsigdef=(_SIGPIPE, _SIGXFSZ),
    )
    os.close(nothing)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    _did("bash", step["run"], f"exited with {code}" if code >= 0 else f"ended by signal {-code}")


def _action(step: Step) -> None:
    _did(step["action"], step["target"], step.get("outcome", ""))


def _did(kind: str, target: str, outcome: str = "") -> None:
    tell("action", kind=kind, target=target, **({"outcome": outcome} if outcome else {}))


def _usage(step: Step) -> None:
    tell("usage", **step["usage"])


def _wait(step: Step) -> None:
    time.sleep(step["wait"])


def _error(step: Step) -> None:
    tell("error", step["error"])


def _usage_limit(step: Step) -> None:
    moment = {key: step[key] for key in ("resume_at",) if key in step}
    if "resume_in" in step:
        over = time.gmtime(time.time() + step["resume_in"] + 1)
        moment["resume_at"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", over)
    tell("limit", step["usage_limit"], **moment)


def _session(step: Step) -> None:
    tell("session", step["session"])


def _result(step: Step) -> None:
    tell("result", **step["result"])


def _exit(step: Step) -> None:
    sys.exit(step["exit"])


def _crash(step: Step) -> None:
    """By the very signal, and without leaving a core file in the tree."""
    import resource  # noqa: PLC0415

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _end_by(step["crash"])


def _end_by(number: int) -> None:
    """Python may have caught or ignored it."""
    import signal  # noqa: PLC0415

    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _hang(step: Step) -> None:
    if step["hang"] == "until-killed":
        _be_deaf()
    while True:
        time.sleep(3600)


def _leave(step: Step) -> None:
    heard, says = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        _be_deaf()
        os.write(says, b".")
        time.sleep(step["leave"])
        os._exit(0)
    os.read(heard, 1)
    _did("bash", "leave", f"left process {pid} running")


def _be_deaf() -> None:
    import signal  # noqa: PLC0415

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _flood(step: Step) -> None:
    left, line = step["flood"], b"~" * 79 + b"\n"
    block = line * (_BLOCK // len(line)) if step.get("lines", True) else b"~" * _BLOCK
    while left > 0:
        _put(_ERR, block[:left])
        left -= len(block)


_STEPS: dict[str, Callable[[Step], None]] = {
    "say": _say,
    "write": _write,
    "append": _append,
    "delete": _delete,
    "rename": _rename,
    "mkdir": _mkdir,
    "link": _link,
    "run": _run,
    "action": _action,
    "usage": _usage,
    "wait": _wait,
    "error": _error,
    "usage_limit": _usage_limit,
    "session": _session,
    "result": _result,
    "exit": _exit,
    "crash": _crash,
    "hang": _hang,
    "leave": _leave,
    "flood": _flood,
}

if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        _end_by(_SIGINT)
