"""Keeping what an agent was told and did, so that it can be played again: `--mode logged`."""

import contextlib
from binascii import b2a_base64
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from untilproven.agents.spending import USAGE_KEYS
from untilproven.contract import Delta, Turn, Worked
from untilproven.core import naming
from untilproven.core.sameness import comparable
from untilproven.core.text import cut
from untilproven.errors import RalphError
from untilproven.model.iteration import Continue, Failed, FileChange
from untilproven.model.wire import UNREADABLE
from untilproven.store import files
from untilproven.store.layout import LoopDirectory

if TYPE_CHECKING:
    from untilproven.runtime.driver import Driver

_LARGEST = 16 * files.MIB
_LARGEST_RECORD = 64 * files.MIB
_LONGEST_WORDS = 90_000


def keep(driver: "Driver", turn: Turn, worked: Worked, delta: Delta) -> None:
    """A cassette of one iteration, with every attempt at it in its order. What was printed on the way is kept under
    outputs/ anyway."""
    project, loop = driver.cast.project, driver.writer.loop
    steps = [*_changes(driver, delta), *_words(driver, worked)]
    expect = {
        "prompt": comparable(_told_first(loop, turn), str(project.root), loop.loop_id),
        "before": turn.tree,
        "tree": delta.tree,
    }
    files.make_directory(loop.recording)
    path = loop.recording / f"{naming.iteration_name(turn.iteration)}.json"
    scenes = {"version": 1, "iteration": [*_before(path), {"steps": steps, "expect": expect}]}
    files.replace(path, msgspec.json.format(msgspec.json.encode(scenes)) + b"\n", durable=False)


def _told_first(loop: LoopDirectory, turn: Turn) -> str:
    """In the first attempt at this iteration: whoever plays it makes only one."""
    with contextlib.suppress(FileNotFoundError, RalphError):
        return files.read(loop.attempt(loop.prompt(turn.iteration), 1), _LARGEST).decode("utf-8", "replace")
    return turn.prompt


def _before(path: Path) -> list[Any]:
    """The attempts that were recorded already."""
    with contextlib.suppress(FileNotFoundError, RalphError, *UNREADABLE):
        kept = msgspec.json.decode(files.read(path, _LARGEST_RECORD))
        if isinstance(kept, dict) and isinstance(attempts := kept.get("iteration"), list):
            return attempts
    return []


def _changes(driver: "Driver", delta: Delta) -> Iterator[dict[str, Any]]:
    """What takes a name away comes first: a file may have come in place of a directory."""
    for change in delta.changes:
        if change.change == "deleted":
            yield {"delete": change.path}
        elif change.change == "renamed" and change.previous_path:
            yield {"delete": change.previous_path}
    for change in delta.changes:
        if change.change != "deleted" and (written := _written(driver, change)):
            yield written


def _written(driver: "Driver", change: FileChange) -> dict[str, Any] | None:
    """Nothing for what is no regular file, or too large; and no secret: whoever plays it is told that the tree
    differs."""
    content = driver.cast.workspace.read(change.path, "now", _LARGEST)
    if content is None:
        return None
    content = driver.redaction.data(content)
    mode = {} if change.mode is UNSET else {"mode": f"{change.mode & 0o7777:03o}"}
    try:
        return {"write": change.path, "content": content.decode(), **mode}
    except UnicodeDecodeError:
        return {"write": change.path, "base64": b2a_base64(content, newline=False).decode(), **mode}


def _words(driver: "Driver", worked: Worked) -> Iterator[dict[str, Any]]:
    if worked.said:
        yield {"say": cut(driver.redaction.text(worked.said), _LONGEST_WORDS)}
    used = {name: value for name, value in msgspec.to_builtins(worked.usage).items() if name in USAGE_KEYS}
    if used:
        yield {"usage": used}
    if worked.session:
        yield {"session": worked.session}
    result = worked.result
    if worked.usage_limit and isinstance(result, Failed):  # which does not make what it did a failure
        result = Continue(reason="the usage limit is reached")
    yield {"result": msgspec.to_builtins(driver.redaction.record(result))}
    if worked.ending.exit_code and not worked.usage_limit:
        yield {"exit": worked.ending.exit_code}
