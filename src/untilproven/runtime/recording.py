"""Keeping what an agent was told and did, so that it can be played again: `--mode logged`."""

from binascii import b2a_base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from untilproven.agents.spending import USAGE_KEYS
from untilproven.contract import Delta, Turn, Worked
from untilproven.core import naming
from untilproven.core.sameness import comparable
from untilproven.core.text import cut
from untilproven.model.iteration import FileChange
from untilproven.store import files

if TYPE_CHECKING:
    from untilproven.runtime.driver import Driver

_LARGEST = 16 * files.MIB
_LONGEST_WORDS = 90_000


def keep(driver: "Driver", turn: Turn, worked: Worked, delta: Delta) -> None:
    """A cassette of one iteration. What was printed on the way is kept under outputs/ anyway."""
    project, loop = driver.cast.project, driver.writer.loop
    steps = [*_changes(driver, delta), *_words(driver, worked)]
    expect = {
        "prompt": comparable(turn.prompt, str(project.root), loop.loop_id),
        "before": turn.tree,
        "tree": delta.tree,
    }
    scene = {"version": 1, "iteration": [{"steps": steps, "expect": expect}]}
    files.make_directory(loop.recording)
    path = loop.recording / f"{naming.iteration_name(turn.iteration)}.json"
    files.replace(path, msgspec.json.format(msgspec.json.encode(scene)) + b"\n", durable=False)


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
    """Nothing for what is no regular file, or too large: whoever plays it is told that the tree differs."""
    content = driver.cast.workspace.read(change.path, "now", _LARGEST)
    if content is None:
        return None
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
    yield {"result": msgspec.to_builtins(driver.redaction.record(worked.result))}
    if worked.ending.exit_code:
        yield {"exit": worked.ending.exit_code}
