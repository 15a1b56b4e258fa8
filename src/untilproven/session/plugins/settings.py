"""Our hooks in an agent's settings: put in, found again, taken out. Claude, Codex, Gemini and Qwen have one form."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from untilproven.session.plugins.jsonc import Node, parse
from untilproven.session.plugins.splice import added, removed

_OURS = r"""(?:^|[\s/"'])(?:ralph|untilproven)["']?\s+hook\s+[a-z]+\s+--agent\s"""


class Hook(NamedTuple):
    event: str
    command: str
    timeout: int
    """In the agent's own unit."""

    def entry(self) -> dict[str, Any]:
        return {"hooks": [{"type": "command", "command": self.command, "timeout": self.timeout}]}


def with_hooks(text: str, hooks: Iterable[Hook]) -> str:
    """The settings with these hooks after those that are there."""
    for hook in hooks:
        text = added(text, ("hooks", hook.event), hook.entry())
    return text


def without_hooks(text: str) -> str:
    """The settings without any hook of ours, and without the lists that are empty for it."""
    while (shorter := _without_one(text)) is not None:
        text = shorter
    return text


def is_ours(command: object) -> bool:
    return isinstance(command, str) and re.search(_OURS, command) is not None


def _without_one(text: str) -> str | None:
    root = parse(text)
    hooks = root.get("hooks")
    for at, event in enumerate(hooks.members or () if hooks else ()):
        for group_at, group in enumerate(event.node.items or ()):
            handlers = group.get("hooks")
            for handler_at, handler in enumerate(handlers.items or () if handlers else ()):
                command = handler.get("command")
                if command and is_ours(command.value):
                    way = ((root, _place(root, "hooks")), (hooks, at), (event.node, group_at))
                    return _emptied(text, way, (handlers, handler_at))
    return None


def _emptied(text: str, way: tuple[tuple[Node | None, int], ...], last: tuple[Node | None, int]) -> str:
    """Take out the handler, or the outermost thing around it that holds nothing else."""
    target = last
    for container, at in reversed(way):
        holder = target[0]
        if holder is None or len(holder.inside) > 1 or _hides_another(container, at):
            break
        target = (container, at)
    container, at = target
    return text if container is None else removed(text, container, at)


def _hides_another(container: Node | None, at: int) -> bool:
    """Whether a member stands before another of the same name, which would come into force without it."""
    keys = [member.key for member in (container.members if container else None) or ()]
    return bool(keys) and keys.count(keys[at]) > 1


def _place(container: Node, key: str) -> int:
    return max(at for at, member in enumerate(container.members or ()) if member.key == key)
