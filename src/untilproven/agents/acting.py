"""What agents do, in the five words of source 002."""

import re
from typing import Any, Literal

Kind = Literal["read", "write", "bash", "git", "eval"]

_GIT = re.compile(r"(?:cd\s+\S+\s*&&\s*)?(?:\w+=\S+\s+)*git(?:\s|$)")
_EVAL = re.compile(r"(?:python[\d.]*|node|deno|bun|ruby|perl)\s+-[ce]\b")
_READING = frozenset({"read", "glob", "grep", "ls", "list", "search", "find", "view", "cat", "fetch", "web"})
_WRITING = frozenset({"write", "edit", "multiedit", "create", "replace", "patch", "apply", "update", "delete", "move"})
_TARGETS = ("file_path", "filePath", "absolute_path", "path", "notebook_path", "dir_path", "pattern", "query", "url")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_ITS_OWN = frozenset({"todo", "todos", "task", "plan", "goal", "cron", "memory"})
"""What an agent keeps for itself: writing there is no writing of a file."""
_LONGEST = 500


def action(tool: str, given: Any) -> dict[str, str]:
    """A call of a tool, by the tool's name and what it was given."""
    asked = given if isinstance(given, dict) else {}
    command = asked.get("command") or asked.get("cmd") or asked.get("code")
    if isinstance(command, list):
        command = " ".join(map(str, command))
    if isinstance(command, str):
        return ran(command)
    words = {word.lower() for word in _WORD.findall(tool)}
    target = next((str(asked[name]) for name in _TARGETS if asked.get(name)), "")
    kind: Kind = "write" if words & _WRITING else "read"
    if words & (_WRITING | _READING) and not words & _ITS_OWN:
        return {"kind": kind, "target": target[:_LONGEST]}
    return {"kind": "eval", "target": tool[:_LONGEST]}


def ran(command: str) -> dict[str, str]:
    """A command that was run by a shell."""
    plain = command.strip()
    kind: Kind = "git" if _GIT.match(plain) else "eval" if _EVAL.match(plain) else "bash"
    return {"kind": kind, "target": plain[:_LONGEST]}
