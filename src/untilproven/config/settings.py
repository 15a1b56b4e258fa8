"""The settings in force: each value with where it comes from."""

from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from untilproven.model.settings import BY_KEY, SECTIONS


class Layer(StrEnum):
    """Who may set something; each wins over those before it."""

    DEFAULT = "default"
    USER = "user file"
    PROJECT = "project file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


class Origin(msgspec.Struct, frozen=True):
    layer: Layer
    where: str = ""

    def __str__(self) -> str:
        return f"{self.layer} {self.where}".rstrip()


class Setting(msgspec.Struct, frozen=True):
    key: str
    value: Any
    origin: Origin


Found = dict[str, Setting]


class Ask(msgspec.Struct, frozen=True):
    """What a project's file asks the user to trust it with."""

    file: Path
    settings: tuple[Setting, ...]


class Settings(msgspec.Struct, frozen=True):
    """`settings.timeout`, `settings.task.timeout`, or `settings.value("task.timeout")`; not set is None."""

    found: Found
    ask: Ask | None = None
    withheld: tuple[Setting, ...] = ()
    warnings: tuple[str, ...] = ()

    def value(self, key: str) -> Any:
        return self.found[key].value

    def origin(self, key: str) -> Origin:
        return self.found[key].origin

    def __getattr__(self, name: str) -> Any:
        return _attribute(self, name)


class Section(msgspec.Struct, frozen=True):
    whole: Settings
    name: str

    def __getattr__(self, name: str) -> Any:
        return _attribute(self.whole, f"{self.name}.{name}")


def _attribute(settings: Settings, key: str) -> Any:
    if key in BY_KEY:
        return settings.value(key)
    if key in SECTIONS:
        return Section(settings, key)
    raise AttributeError(f"there is no setting {key}")
