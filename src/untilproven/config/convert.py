"""Source 002's JSON settings as a `ralph.toml`. Its times are numbers of seconds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from untilproven.config import durations, values
from untilproven.config.nearest import nearest
from untilproven.core.naming import quoted
from untilproven.errors import ConfigError, RalphError
from untilproven.model.settings import BY_KEY, Kind
from untilproven.model.wire import UNREADABLE
from untilproven.store import files

_KEYS = {
    "maxIterationsPerTask": "task.max_iterations",
    "maxTimePerTask": "task.timeout",
    "maxCostPerTask": "task.max_cost",
    "maxTasksPerRun": "queue.max_tasks",
    "maxTimePerRun": "queue.timeout",
    "maxCostPerRun": "queue.max_cost",
    "onFailure": "queue.on_failure",
    "parallelism": "queue.parallelism",
}


def convert(path: Path) -> str:
    """The text of a `ralph.toml` that says the same."""
    lines = [f"# Converted from {quoted(path.name)[1:-1]} by `ralph init --from`."]
    lines += [f"{key} = {values.to_toml(value)}  # {name}" for name, key, value in _settings(path)]
    return "\n".join(lines) + "\n"


def _settings(path: Path) -> Iterator[tuple[str, str, Any]]:
    whole = _object(path, "the file", _decoded(path))
    _refuse_unknown(path, whole, ("loop",))
    loop = _object(path, "loop", whole.get("loop", {}))
    _refuse_unknown(path, loop, tuple(_KEYS))
    for name, raw in loop.items():
        key = _KEYS[name]
        try:
            yield name, key, _seconds(raw) if BY_KEY[key].kind is Kind.DURATION else values.from_toml(BY_KEY[key], raw)
        except ValueError as error:
            raise ConfigError(
                f"{_place(path, name)}: loop.{name}: {error}", hint=f"it becomes {key}: {BY_KEY[key].help}"
            ) from error


def _decoded(path: Path) -> Any:
    try:
        return msgspec.json.decode(files.read(path.resolve(), files.MIB))
    except (OSError, RuntimeError, *UNREADABLE, RalphError) as error:
        raise ConfigError(f"{path} cannot be read as JSON: {error}") from error


def _object(path: Path, what: str, raw: Any) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise ConfigError(
            f"{path}: {what} is not a JSON object", hint='it looks like {"loop": {"maxTimePerTask": 1800}}'
        )
    return raw


def _refuse_unknown(path: Path, raw: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in raw:
        if name not in names:
            near = nearest(name, names)
            hint = f"did you mean {near}?" if near else f"it can have {', '.join(names)}"
            raise ConfigError(f"{_place(path, name)}: there is no setting {quoted(name)}", hint=hint)


def _place(path: Path, name: str) -> str:
    """The file, and the line where a key is first written as JSON would write it; without the line if it is not."""
    before, found, _ = files.read(path.resolve(), files.MIB).partition(msgspec.json.encode(name))
    line = before.count(b"\n") + 1
    return f"{path}:{line}" if found else str(path)


def _seconds(raw: Any) -> Any:
    if not isinstance(raw, int | float) or isinstance(raw, bool) or raw != raw // 1:
        raise ValueError("it is not a whole number of seconds")
    return durations.parse(f"{int(raw)}s")
