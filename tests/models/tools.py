"""How each client takes what the script has in neutral words: by its own tools, or as text that it acts upon."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from models.script import Bash, Call, Read, Tool, Turn, Write
from models.wire import Answer, Asked, Called, Json

_NAMES: dict[type[Call], tuple[str, ...]] = {
    Write: ("Write", "write", "write_file"),
    Read: ("Read", "read", "read_file"),
    Bash: ("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell"),
}
_PATHS = ("file_path", "filePath", "absolute_path", "path")
_COMMANDS = ("cmd", "command")
_DIRECTORY = re.compile(r"working (?:in the )?directory: (/\S+)", re.IGNORECASE)


class NoTool(Exception):
    """The client has no tool for what the script wants."""


def edits_text(asked: Asked) -> bool:
    """The client has no tools, and looks for edits in what the model says, as aider does."""
    return not asked.tools and ("SEARCH/REPLACE" in asked.system or "*file listing*" in asked.system)


def wants_work(asked: Asked) -> bool:
    """Or it wants something on the side: a title, a summary, a commit message."""
    return edits_text(asked) or any(name in asked.tools for names in _NAMES.values() for name in names)


def answer(asked: Asked, turns: Sequence[Turn]) -> Answer:
    """What the script has, in terms of this client. Several turns become one answer where there are no tools."""
    last = turns[-1]
    if not edits_text(asked):
        calls = tuple(_called(asked, call) for turn in turns for call in turn.calls)
        return Answer(last.say, calls, last.refused, last.usage)
    words = [part for turn in turns for part in (*(_edit(asked, call) for call in turn.calls), turn.say) if part]
    return Answer("\n\n".join(words), (), last.refused, last.usage)


def _called(asked: Asked, call: Call) -> Called:
    if isinstance(call, Tool):
        if call.tool not in asked.tools:
            raise NoTool(f"the client has no tool {call.tool}; it has {', '.join(asked.tools)}")
        return Called(call.tool, dict(call.arguments))
    name = next((name for name in _NAMES[type(call)] if name in asked.tools), None)
    if name is None:
        if isinstance(call, Bash):
            raise NoTool(f"the client has no tool to run a command; it has {', '.join(asked.tools)}")
        return _called(asked, Bash(bash=_in_a_shell(call)))
    schema = asked.tools[name]
    return Called(name, {**example(schema), **dict(_arguments(asked, call, schema.get("properties", {})))})


def _arguments(asked: Asked, call: Write | Read | Bash, properties: Json) -> Iterator[tuple[str, Any]]:
    match call:
        case Bash(bash=command):
            name = next(name for name in _COMMANDS if name in properties)
            many = str(properties[name].get("type")).lower() == "array"
            yield name, ["bash", "-c", command] if many else command
        case Write(write=path, content=content):
            yield _path(asked, path, properties)
            yield "content", content
        case Read(read=path):
            yield _path(asked, path, properties)


def _path(asked: Asked, path: str, properties: Json) -> tuple[str, str]:
    name = next(name for name in _PATHS if name in properties)
    if "absolute" not in properties[name].get("description", "") or path.startswith("/"):
        return name, path
    found = _DIRECTORY.search(f"{asked.system}\n{asked.words()}")
    if not found:
        raise NoTool(f"the client wants the whole path of {path}, and does not say where it works")
    return name, f"{found[1]}/{path}"


def _in_a_shell(call: Write | Read) -> str:
    if isinstance(call, Read):
        return f"cat {shlex.quote(call.read)}"
    path = shlex.quote(call.write)
    return f'mkdir -p "$(dirname {path})" && printf %s {shlex.quote(call.content)} > {path}'


def _edit(asked: Asked, call: Call) -> str:
    if not isinstance(call, Write):
        raise NoTool(f"a client without tools can only write, not {call}")
    content = call.content.removesuffix("\n")  # every line of a block ends with one
    if "SEARCH/REPLACE" in asked.system:
        return f"{call.write}\n```\n<<<<<<< SEARCH\n=======\n{content}\n>>>>>>> REPLACE\n```"
    return f"{call.write}\n```\n{content}\n```"


def example(schema: Json) -> Any:
    """The smallest value that has this JSON Schema, as far as clients use it."""
    if options := schema.get("enum"):
        return options[0]
    match str(schema.get("type", "object")).lower():
        case "object":
            properties = schema.get("properties", {})
            return {name: example(properties[name]) for name in schema.get("required", []) if name in properties}
        case "array":
            return []
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
    return "scripted"
