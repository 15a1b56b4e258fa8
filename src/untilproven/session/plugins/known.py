"""Which agents have a plugin, where its parts go, and what is left for the user to do."""

import os
import shlex
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import msgspec

from untilproven.session.constants import HOOK_TIMEOUT_SECONDS
from untilproven.session.plugins.pieces import Own, Piece, Settings
from untilproven.session.plugins.settings import Hook

PROMPT_SECONDS = 130
"""`/ralph` runs the checks once, before the work."""
_GUARDED = "! command -v ralph >/dev/null || ralph"
"""In a project others work too, and some of them may not have ralph: their agents are not to stumble over it."""


class Target(NamedTuple):
    """Where a plugin goes, and whom it calls."""

    root: Path
    """The project, or the user's home."""
    project: bool
    ralph: tuple[str, ...]
    """The words that start this program; by its name alone in a project."""

    def command(self, event: str, agent: str, *more: str) -> str:
        """A line for the shell that every agent runs its hooks with."""
        start = _GUARDED if self.project else shlex.join(self.ralph)
        return " ".join((start, "hook", event, "--agent", agent, *more))


class Kind(NamedTuple):
    """An agent with hooks in a file of settings, and commands in a directory."""

    name: str
    directory: str
    """In a project."""
    settings: str
    stop: str
    prompt: str
    end: str = ""
    """The event of a session's end, where it is worth a call."""
    unit: int = 1
    """How many of its units of time are a second."""
    next: str = ""

    def pieces(self, target: Target) -> tuple[Piece, ...]:
        base = target.root / self.directory if target.project else home(self.name)
        commands = shipped(self.name, "commands")
        own = tuple(Own(base / name, data) for name, data in commands.items())
        return (Settings(base / self.settings, self.hooks(target)), *own)

    def hooks(self, target: Target) -> tuple[Hook, ...]:
        found = [
            Hook(self.prompt, target.command("prompt", self.name), PROMPT_SECONDS * self.unit),
            Hook(self.stop, target.command("stop", self.name), HOOK_TIMEOUT_SECONDS * self.unit),
        ]
        if self.end:
            leave = target.command("deleted", self.name, ">/dev/null")  # the answer is for plugins
            found.append(Hook(self.end, leave, PROMPT_SECONDS * self.unit))
        return tuple(found)


class OpenCode(NamedTuple):
    """It has no hooks that are commands: a plugin in JavaScript calls us."""

    name: str = "opencode"
    next: str = (
        "it works in opencode itself and in `opencode serve`; "
        "`opencode run` ends with the first answer, so no loop can go on in it"
    )

    def pieces(self, target: Target) -> tuple[Piece, ...]:
        base = target.root / ".opencode" if target.project else home(self.name)
        words = msgspec.json.encode(("ralph",) if target.project else target.ralph)
        found = shipped(self.name)
        script = found["plugin/ralph.js"].replace(b'["ralph"]', words, 1)
        return tuple(Own(base / name, data) for name, data in {**found, "plugin/ralph.js": script}.items())


KINDS: Mapping[str, Kind | OpenCode] = {
    kind.name: kind
    for kind in (
        Kind(
            "claude", ".claude", "settings.json", "Stop", "UserPromptSubmit", "SessionEnd",
            next="sessions that are open now see it after a restart",
        ),
        Kind(
            "codex", ".codex", "hooks.json", "Stop", "UserPromptSubmit",
            next=(
                "Codex calls no hook that you have not looked at: start `codex` and accept the two of ralph (/hooks); "
                "where it keeps words with a slash to itself, say `ralph: ...`, `ralph-status:`, `cancel-ralph:`; "
                "`codex exec` calls them after that too, or with --dangerously-bypass-hook-trust"
            ),
        ),
        Kind(
            "gemini", ".gemini", "settings.json", "AfterAgent", "BeforeAgent", unit=1000,
            next="sessions that are open now see it after a restart",
        ),
        # Qwen takes less than 1000 for seconds and more for milliseconds, as older versions take everything.
        Kind(
            "qwen", ".qwen", "settings.json", "Stop", "UserPromptSubmit", unit=1000,
            next="sessions that are open now see it after a restart",
        ),
        OpenCode(),
    )
}  # fmt: skip


def home(agent: str) -> Path:
    """Where an agent looks for the settings of this user."""
    users = Path.home()
    match agent:
        case "claude":
            return _named("CLAUDE_CONFIG_DIR") or users / ".claude"
        case "codex":
            return _named("CODEX_HOME") or users / ".codex"
        case "gemini":
            return (_named("GEMINI_CLI_HOME") or users) / ".gemini"
        case "qwen":
            return _named("QWEN_HOME") or users / ".qwen"
    return (_named("XDG_CONFIG_HOME") or users / ".config") / agent


def _named(variable: str) -> Path | None:
    value = os.environ.get(variable, "")
    return Path(value) if value.startswith("/") else None


def shipped(agent: str, below: str = "") -> dict[str, bytes]:
    """The files of a plugin that come with this program, by their paths in it."""
    top = directory(agent)
    paths = sorted(path for path in (top / below).rglob("*") if path.is_file())
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in paths}


def directory(agent: str) -> Path:
    """Where the files of a plugin are: the whole of Claude's can be given to its --plugin-dir."""
    return Path(str(resources.files("untilproven.session.plugins") / agent))
