"""How somebody is told who does not look on: by a command, at the desktop, or by way of Apprise."""

import html
import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from untilproven.core.redaction import Redaction
from untilproven.core.text import cut, printable
from untilproven.errors import UsageError
from untilproven.model.hooks import HookOutcome
from untilproven.runtime.hooks.commands import run_command

SECONDS = 5.0
"""How long telling may take; then it is ended."""
SECONDS_FAR = 20.0
"""The same where somebody else's server is asked."""

DESKTOP = "desktop"
_SENDER = "notify-send"
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_MESSAGE_BYTES = 1024


class Notice(NamedTuple):
    """What somebody is told of."""

    about: str
    """A loop, or the queue."""
    occasion: str
    message: str

    @property
    def words(self) -> str:
        return cut(" ".join(printable(self.message).split()), _MESSAGE_BYTES)


def reachable(channels: Sequence[str]) -> tuple[str, ...]:
    """Refuse what could tell nobody, before anything is begun."""
    for channel in channels:
        if channel == DESKTOP and not shutil.which(_SENDER):
            raise UsageError(
                f"--notify {DESKTOP} needs {_SENDER}, which is not installed",
                hint="install it (Debian and Ubuntu: libnotify-bin), or give a command",
            )
        if (name := _variable(channel)) and not os.environ.get(name):
            raise UsageError(f"--notify {channel}: the variable {name} is not set", hint=f"export {name}=...")
        if _ADDRESS.fullmatch(_spelled(channel)) and find_spec("apprise") is None:
            raise UsageError(
                "--notify with an address needs Apprise, which is not installed",
                hint="pip install 'untilproven[notify]', or give a command",
            )
    return tuple(channels)


def tell(channel: str, notice: Notice, root: Path) -> HookOutcome:
    """Whatever comes of it is returned, and nothing is raised."""
    where = _spelled(channel)
    if _ADDRESS.fullmatch(where):
        return _by_apprise(where, notice, root)
    if channel == DESKTOP:
        line = f'exec {_SENDER} --app-name=ralph -- "$RALPH_LOOP" "$RALPH_MESSAGE"'
        return _run(line, notice, root, words=html.escape(notice.words, quote=False))
    if _variable(channel):
        return HookOutcome(ok=False, seconds=0.0, error=f"{channel} holds no address")
    return _run(channel, notice, root, words=notice.words)


def _run(line: str, notice: Notice, root: Path, *, words: str) -> HookOutcome:
    env = {"RALPH_LOOP": notice.about, "RALPH_EVENT": notice.occasion, "RALPH_MESSAGE": words}
    return run_command(line, root=root, stdin=b"", env=env, marker=notice.about, timeout=SECONDS)


def _by_apprise(address: str, notice: Notice, root: Path) -> HookOutcome:
    """In a process of its own: it is slow to load, and its services may hang. The address is a secret."""
    said = {"address": address, "title": f"ralph: {notice.about}", "body": notice.words}
    told = run_command(
        shlex.join([sys.executable, "-P", "-m", "untilproven.runtime.apprised"]),
        root=root,
        stdin=msgspec.json.encode(said),
        env={},
        marker=notice.about,
        timeout=SECONDS_FAR,
    )
    told = Redaction({"address": address}).record(told)
    if told.output and not told.ok:
        return msgspec.structs.replace(told, error=told.output, output=UNSET)
    return told


def _variable(channel: str) -> str:
    found = _VARIABLE.fullmatch(channel)
    return (found[1] or found[2]) if found else ""


def _spelled(channel: str) -> str:
    name = _variable(channel)
    return os.environ.get(name, "") if name else channel
