"""A script of the project that says whether a task is done."""

import shlex
import stat
from pathlib import PurePosixPath

import msgspec

from untilproven.checks import ending, inside
from untilproven.contract import Evidence, Room

_INTERPRETERS: dict[str, tuple[str, ...]] = {
    ".py": ("python3", "python"),
    ".sh": ("sh",),
    ".js": ("node", "bun"),
    ".mjs": ("node", "bun"),
    ".ts": ("tsx", "bun", "deno run --allow-all", "node_modules/.bin/tsx", "node_modules/.bin/ts-node", "ts-node"),
}


class ValidateCheck(msgspec.Struct, frozen=True):
    """Run with the task's id in RALPH_TASK_ID; exit 0 is done."""

    script: str
    task_id: str = ""

    @property
    def name(self) -> str:
        return self.script

    @property
    def kind(self) -> str:
        return "validate"

    def run(self, room: Room, *, timeout: float) -> Evidence:
        try:
            path = inside.relative(room.root, self.script)
        except inside.Outside as outside:
            return ending.broken(outside.message)
        found = room.look(path)
        if found is None:
            return ending.broken(f"{self.script} is not a regular file of the project", missing=str(path))
        if found.st_mode & stat.S_IXUSR:
            command = shlex.quote(f"./{path}")
        else:
            interpreter, why = _interpreter(room, path)
            if why:
                return ending.broken(why)
            command = f"{interpreter} {shlex.quote(f'./{path}')}"
        command = f"RALPH_TASK_ID={shlex.quote(self.task_id)} {command}"
        ran = room.run(command, timeout=timeout)
        if broken := ending.could_not_run(room, command, ran):
            return broken
        if why := ending.why_not(ran, timeout):
            return ending.failed(ran, why)
        return Evidence(passed=True, output=ran.output, seconds=ran.seconds)


def _interpreter(room: Room, path: PurePosixPath) -> tuple[str, str]:
    """What runs a script that is not executable, or why nothing does."""
    known = _INTERPRETERS.get(path.suffix)
    if known is None:
        return "", f"{path} is not executable and its suffix names no interpreter: chmod +x {path}"
    for interpreter in known:
        if ending.present(room, interpreter.split()[0]):
            return interpreter, ""
    return "", f"{path} needs one of {', '.join(word.split()[0] for word in known)}, and none is installed"
