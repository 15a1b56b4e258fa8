"""A TOML file as it was found: what it says, and on which line. It may be hostile, and reading it must still end."""

import re
from pathlib import Path
from typing import Any

import msgspec

from untilproven.config.lines import KeyPath, TooDeep, key_lines
from untilproven.errors import ConfigError, Damaged, Foreign
from untilproven.store import files

_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


class Document(msgspec.Struct, frozen=True):
    path: Path
    content: dict[str, Any]
    lines: dict[KeyPath, int]

    def line(self, key: KeyPath) -> int:
        """The line of a key, or of the nearest thing around it."""
        return self.lines.get(key) or (self.line(key[:-1]) if key else 1)

    def error(self, key: KeyPath, message: str, hint: str) -> ConfigError:
        return _error(self.path, self.line(key), message, hint)


def read(path: Path, mentions: bytes = b"") -> Document | None:
    """None if there is no such file, or if it does not mention what it would be read for."""
    data = _bytes(path)
    if data is None or mentions not in data:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _error(path, line, "this is not text in UTF-8", "save the file as UTF-8, or look at it") from error
    return Document(path, *_parse(path, text))


def _bytes(path: Path) -> bytes | None:
    try:
        return files.read(path, files.MIB)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (Damaged, Foreign) as error:
        raise ConfigError(f"the settings cannot be read: {error.message}", hint=_look(path)) from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", hint=_look(path)) from error


def _look(path: Path) -> str:
    return f"look at it: ls -l {path}"


def _parse(path: Path, text: str) -> tuple[dict[str, Any], dict[KeyPath, int]]:
    import tomllib  # noqa: PLC0415  most commands find no file to read

    try:
        lines = key_lines(text)
        return tomllib.loads(text), lines
    except TooDeep as error:
        raise _error(path, error.line, str(error), "settings need no more than two levels") from error
    except ValueError as error:  # also what `int` says about too many digits
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        message = _PLACE.sub("", str(error))
        raise _error(path, line, f"this is not TOML: {message}", "see https://toml.io for how to write it") from error


def _error(path: Path, line: int, message: str, hint: str) -> ConfigError:
    return ConfigError(f"{path}:{line}: {message}", hint=hint, details={"file": str(path), "line": line})
