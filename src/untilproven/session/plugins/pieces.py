"""What an installation is made of: hooks in a file of settings that others use too, and files that are ours alone."""

from pathlib import Path
from typing import NamedTuple

from untilproven.errors import ConfigError, UsageError
from untilproven.session.plugins.jsonc import NotJson
from untilproven.session.plugins.settings import Hook, with_hooks, without_hooks

_EMPTY = "{}\n"


class Settings(NamedTuple):
    path: Path
    hooks: tuple[Hook, ...]

    def applied(self, base: bytes | None) -> bytes:
        """What the file says once it is installed, from what it says without us."""
        text = _text(self.path, base if base is not None else b"")
        try:
            return with_hooks(text if text.strip("\ufeff \t\r\n") else text + _EMPTY, self.hooks).encode()
        except NotJson as error:
            raise _refused(self.path, error) from None

    def stripped(self, current: bytes) -> bytes | None:
        """What the file says without us; nothing if there would be nothing in it."""
        try:
            left = without_hooks(_text(self.path, current))
        except NotJson as error:
            raise _refused(self.path, error) from None
        return left.encode()


class Own(NamedTuple):
    path: Path
    data: bytes

    def applied(self, base: bytes | None) -> bytes:
        if base is not None and base != self.data:
            raise UsageError(
                f"{self.path} is there already, and is not what ralph has written",
                hint=f"nothing was changed; keep yours under another name: mv {self.path} {self.path}.mine",
            )
        return self.data

    def stripped(self, current: bytes) -> bytes | None:
        return None if current == self.data else current


Piece = Settings | Own


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8", hint="nothing was changed") from None


def _refused(path: Path, error: NotJson) -> ConfigError:
    return ConfigError(f"{path}, {error.message}", hint="nothing was changed; put it right, then try again")
