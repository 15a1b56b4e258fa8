"""The five actions of source 002, as tools for a model. What is out of bounds is refused with a reason."""

import os
import shutil
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import msgspec
from msgspec import Meta

from untilproven.agents.worker.running import LONGEST_OUTPUT, run
from untilproven.process.spool import Excerpt

_LARGEST = 8 * 1024 * 1024
_LONGEST_TARGET = 500
_ALONE = {"GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "PAGER": "cat"}
"""Nobody is there to be asked, or to turn pages."""

_Path = Annotated[str, Meta(description="a file of the project, from its root on")]
_Line = Annotated[int, Meta(ge=1)]


class Refused(Exception):
    """Out of bounds; its words are for the model and for the record."""


class Place(NamedTuple):
    """Where actions run, with what around them, and for how long."""

    root: Path
    env: Mapping[str, str]
    seconds: float


class Done(NamedTuple):
    """What an action came to: a word for the record, and what the model is told."""

    outcome: str
    text: str
    refused: bool = False


class _Tool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    about: ClassVar[str]

    @property
    def target(self) -> str:
        raise NotImplementedError

    def act(self, place: Place) -> Done:
        raise NotImplementedError


class Read(_Tool, frozen=True, kw_only=True):
    about = "Read lines of a text file."
    path: _Path
    offset: Annotated[_Line, Meta(description="the first line")] = 1
    limit: Annotated[_Line, Meta(description="how many lines")] = 1000

    @property
    def target(self) -> str:
        return self.path

    def act(self, place: Place) -> Done:
        lines = _text(_inside(place.root, self.path)).splitlines(keepends=True)
        last = min(self.offset - 1 + self.limit, len(lines))
        words = "".join(lines[self.offset - 1 : last]).encode()
        excerpt = Excerpt(LONGEST_OUTPUT)
        excerpt.write(words)
        cut = f", {len(words)} bytes cut" if len(words) > LONGEST_OUTPUT else ""
        whole = self.offset == 1 and last == len(lines)
        note = "" if whole else f"\n[lines {self.offset} to {last} of {len(lines)}]"
        return Done(f"{max(last - self.offset + 1, 0)} lines{cut}", excerpt.text() + note)


class Write(_Tool, frozen=True, kw_only=True):
    about = "Write a whole text file, over what was there."
    path: _Path
    content: str

    @property
    def target(self) -> str:
        return self.path

    def act(self, place: Place) -> Done:
        path = _inside(place.root, self.path)
        try:
            data = self.content.encode()
        except UnicodeEncodeError:
            raise Refused("the content is no text that can be written as UTF-8") from None
        if len(data) > _LARGEST:
            raise Refused(f"the content has {len(data)} bytes, more than {_LARGEST}")
        if path.exists() and not path.is_file():
            raise Refused(f"{self.path} is no file")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        words = f"{len(data)} bytes"
        return Done(words, f"{words} written")


class Bash(_Tool, frozen=True, kw_only=True):
    about = "Run a line of shell. All that it starts ends with it."
    command: str

    @property
    def target(self) -> str:
        return self.command

    def act(self, place: Place) -> Done:
        return _ran(place, [shutil.which("bash", path=place.env.get("PATH")) or "/bin/sh", "-c", self.command])


class Git(_Tool, frozen=True, kw_only=True):
    about = "Run git."
    arguments: Annotated[tuple[str, ...], Meta(description='what follows `git`, such as ["diff", "--stat"]')]

    @property
    def target(self) -> str:
        return " ".join(("git", *self.arguments))

    def act(self, place: Place) -> Done:
        return _ran(place, [_program(place, "git"), *self.arguments])


class Eval(_Tool, frozen=True, kw_only=True):
    about = "Run a piece of code, and see what it prints. TypeScript needs node 22.7 or newer."
    code: str
    language: Literal["python", "typescript"] = "python"

    @property
    def target(self) -> str:
        return f"{self.language}: {self.code}"

    def act(self, place: Place) -> Done:
        if self.language == "python":
            return _ran(place, [shutil.which("python3", path=place.env.get("PATH")) or sys.executable, "-"], self.code)
        quiet = ["--no-warnings", "--experimental-strip-types", "--input-type=module-typescript"]
        return _ran(place, [_program(place, "node"), *quiet, "-"], self.code)


TOOLS: Mapping[str, type[_Tool]] = {"read": Read, "write": Write, "bash": Bash, "git": Git, "eval": Eval}


def schema(tool: type[_Tool]) -> dict[str, Any]:
    """The JSON Schema of its arguments."""
    _, components = msgspec.json.schema_components([tool])
    described: dict[str, Any] = components[tool.__name__]
    return {name: value for name, value in described.items() if name not in {"title", "description"}}


def understood(name: str, arguments: str | dict[str, Any] | None) -> _Tool:
    """The call of a tool, as a model makes it: its arguments may be JSON that is not read yet, or broken off."""
    tool = TOOLS.get(name)
    if tool is None:
        raise Refused(f"there is no tool {name[:_LONGEST_TARGET]!r}; there are {', '.join(TOOLS)}")
    try:
        if isinstance(arguments, str):
            return msgspec.json.decode(arguments or "{}", type=tool)
        return msgspec.convert(arguments or {}, tool)
    except msgspec.DecodeError as error:
        raise Refused(f"the arguments are not right: {error}") from None


def act(tool: _Tool, place: Place) -> Done:
    """Whatever is refused, by us or by the system, is told and not raised."""
    try:
        return tool.act(place)
    except Refused as refusal:
        return refused(refusal)
    except (OSError, ValueError) as error:  # a null byte in a path is a ValueError
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return Done(f"failed: {why}", f"failed: {why}", refused=True)


def refused(refusal: Refused) -> Done:
    return Done(f"refused: {refusal}", f"refused: {refusal}", refused=True)


def target_of(tool: _Tool) -> str:
    return tool.target[:_LONGEST_TARGET]


def _inside(root: Path, path: str) -> Path:
    """Where it is, links followed: nowhere but in the project."""
    whole = Path(os.path.realpath(root / path))
    if not whole.is_relative_to(root) or whole == root:
        raise Refused(f"{path} is outside of the project")
    return whole


def _text(path: Path) -> str:
    look = path.stat()
    if not stat.S_ISREG(look.st_mode):
        raise Refused(f"{path.name} is no file; `ls` with bash shows a directory")
    if look.st_size > _LARGEST:
        raise Refused(f"{path.name} has {look.st_size} bytes, more than {_LARGEST}; look at a part of it with bash")
    data = path.read_bytes()
    try:
        if b"\0" not in data:
            return data.decode()
    except UnicodeDecodeError:
        pass
    raise Refused(f"{path.name} is binary")


def _program(place: Place, name: str) -> str:
    found = shutil.which(name, path=place.env.get("PATH"))
    if not found:
        raise Refused(f"{name} is not on PATH")
    return found


def _ran(place: Place, command: list[str], stdin: str = "") -> Done:
    ran = run(command, cwd=place.root, env={**place.env, **_ALONE}, seconds=place.seconds, stdin=stdin)
    return Done(ran.outcome, f"{ran.outcome}\n{ran.output}", refused=not ran.in_time)
