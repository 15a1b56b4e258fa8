"""`ralph`, counting all it does that the file system or another process can see, and dying at one of these steps.

The first argument says when, and where to write down what was counted; the others are `ralph`'s own.
"""

import atexit
import importlib
import json
import os
import pickle
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from untilproven.cli import main

EVENTS = {
    *("open", "os.rename", "os.remove", "os.mkdir", "os.link", "os.symlink", "os.fork", "os.truncate", "os.rmdir"),
    *("os.chmod", "os.chown", "os.utime", "os.setxattr", "os.kill", "fcntl.flock", "shutil.rmtree"),
    *("socket.bind", "socket.sendmsg"),
}
NOTICED = ("write", "fsync", "fdatasync")
SPANS = {
    "check": ("untilproven.runtime.checking:run",),
    "deliver": ("untilproven.runtime.closing:deliver",),
    "finish": ("untilproven.runtime.closing:finish",),
}
OF_COMMITS = {"commit": ("untilproven.runtime.committing:commit_work",)}
OF_ROOMS = {
    name: tuple(f"untilproven.workspace.{kind}.workspace:{kind.title()}Workspace.{name}" for kind in kinds)
    for name, kinds in {
        **dict.fromkeys(("keep", "discard", "recover", "forget", "open"), ("overlay", "shadow")),
        "restore": ("overlay",),
    }.items()
}
"""What a kill can be aimed into: the functions in which it happens."""


class Mortal:
    def __init__(self, fate: dict[str, Any]) -> None:
        self._fate = fate
        self._me = os.getpid()
        self._steps = 0
        self._calls: dict[str, list[int]] = {}
        """How many steps each call took."""
        self._within: list[str] = []

    def look(self) -> None:
        """See every step from now on."""
        spans = SPANS | (OF_ROOMS if self._fate["sandbox"] != "none" else {})
        for name, places in (spans | (OF_COMMITS if self._fate["commits"] else {})).items():
            for place in places:
                self._span(name, place)
        for name in NOTICED:
            setattr(os, name, self._noticed(getattr(os, name)))
        sys.addaudithook(self._audit)
        if self._fate["count"]:
            atexit.register(self._write_down)

    def _span(self, name: str, place: str) -> None:
        module, _, path = place.partition(":")
        owner: Any = importlib.import_module(module)
        *above, last = path.split(".")
        for part in above:
            owner = getattr(owner, part)
        call = getattr(owner, last)

        def spanned(*args: Any, **more: Any) -> Any:
            self._enter(name)
            try:
                result = call(*args, **more)
            finally:
                self._within.pop()
            if self._fate["trees"] and name in {"keep", "discard"}:
                self._picture(str(args[1]))
            return result

        setattr(owner, last, spanned)

    def _enter(self, name: str) -> None:
        self._within.append(name)
        calls = self._calls.setdefault(name, [])
        calls.append(0)
        if (name, len(calls), self._fate["inner"]) == (self._fate["span"], self._fate["call"], 0):
            os.write(self._fate["tell"], b"!")

    def _picture(self, iteration: str) -> None:
        from chaos.picture import picture  # noqa: PLC0415  not needed to die

        target = Path(self._fate["trees"]) / iteration
        target.write_bytes(pickle.dumps(picture(Path.cwd())))

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event in EVENTS and not (event == "open" and str(args[0]).endswith((".py", ".pyc", ".so"))):
            self._step()

    def _noticed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any) -> Any:
            self._step()
            result = call(*args)
            self._step()
            return result

        return wrapped

    def _step(self) -> None:
        if os.getpid() != self._me:
            return
        self._steps += 1
        fatal = self._steps == self._fate["step"]
        for name in set(self._within):
            calls = self._calls[name]
            calls[-1] += 1
            aimed_at = (self._fate["span"], self._fate["call"], self._fate["inner"])
            fatal = fatal or (name, len(calls), calls[-1]) == aimed_at
        if fatal:
            self._die()

    def _die(self) -> None:
        if self._fate["keeper"]:
            for child in Path(f"/proc/{self._me}/task/{self._me}/children").read_text().split():
                os.kill(int(child), signal.SIGKILL)
        os.kill(self._me, signal.SIGKILL)

    def _write_down(self) -> None:
        counted = json.dumps({"steps": self._steps, "calls": self._calls})
        Path(self._fate["count"]).write_text(counted)


if __name__ == "__main__":
    Mortal(json.loads(sys.argv[1])).look()
    sys.argv = ["ralph", *sys.argv[2:]]
    sys.exit(main.run(sys.argv[1:]))
