"""Settings that are written down: in the user's file, and in the project's."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from untilproven.config import document, values
from untilproven.config.document import Document
from untilproven.config.lines import KeyPath
from untilproven.config.nearest import nearest
from untilproven.config.settings import Found, Layer, Origin, Setting
from untilproven.core.naming import quoted
from untilproven.errors import ConfigError
from untilproven.model.settings import BY_KEY, SECTIONS

PROJECT_FILE = "ralph.toml"
PYPROJECT = "pyproject.toml"
_TABLE = ("tool", "untilproven")


class ProjectFile(msgspec.Struct, frozen=True):
    path: Path
    found: Found


def user_file() -> Path | None:
    """The user's settings file, which need not exist; None where a user has no home of their own."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        root = Path(base) if base.startswith("/") else Path.home() / ".config"
    except RuntimeError:
        return None
    # A relative home would lead into whatever project we stand in.
    return root / "untilproven/config.toml" if root.is_absolute() else None


def from_user() -> Found:
    path = user_file()
    # The user's own link is followed: dotfiles are often kept elsewhere.
    found = document.read(Path(os.path.realpath(path))) if path else None
    return _from_document(found, (), Layer.USER) if found else {}


def from_project(root: Path) -> ProjectFile | None:
    """`ralph.toml`, or the table in `pyproject.toml`; settings in both are a mistake that nobody should guess about."""
    own = _project_file(document.read(root / PROJECT_FILE), ())
    shared = from_pyproject(root)
    if own and own.found and shared and shared.found:
        raise ConfigError(
            f"there are settings in {own.path} and also in {shared.path} [{'.'.join(_TABLE)}]",
            hint="move them all into one of the two",
        )
    return own if own and own.found else shared


def from_pyproject(root: Path) -> ProjectFile | None:
    return _project_file(document.read(root / PYPROJECT, mentions=b"untilproven"), _TABLE)


def _project_file(found: Document | None, table: KeyPath) -> ProjectFile | None:
    return ProjectFile(found.path, _from_document(found, table, Layer.PROJECT)) if found else None


def _from_document(found: Document, table: KeyPath, layer: Layer) -> Found:
    content: Any = found.content
    for name in table:
        content = content.get(name, {}) if isinstance(content, dict) else {}
    if not isinstance(content, dict):
        raise found.error(table, f"{'.'.join(table)} is not a table", f"write [{'.'.join(table)}]")
    settings: Found = {}
    for path, raw in _leaves(found, table, content):
        key = ".".join(path)
        place = found.line((*table, *path))
        try:
            value = values.from_toml(BY_KEY[key], raw)
        except ValueError as error:
            raise found.error((*table, *path), f"{key}: {error}", f"`{key}` is: {BY_KEY[key].help}") from error
        settings[key] = Setting(key, value, Origin(layer, f"{found.path}:{place}"))
    return settings


def _leaves(found: Document, table: KeyPath, content: dict[str, Any]) -> Iterator[tuple[KeyPath, Any]]:
    for name, raw in content.items():
        if name in BY_KEY and "." not in name:
            yield (name,), raw
        elif name in SECTIONS and isinstance(raw, dict):
            for inner, leaf in raw.items():
                if f"{name}.{inner}" not in BY_KEY:
                    raise _unknown(found, table, (name, inner))
                yield (name, inner), leaf
        elif name in SECTIONS:
            raise found.error((*table, name), f"{name} is a section, not a setting", f"write [{name}] on its own line")
        else:
            raise _unknown(found, table, (name,))


def _unknown(found: Document, table: KeyPath, path: KeyPath) -> ConfigError:
    return found.error((*table, *path), *unknown_key(".".join(path)))


def unknown_key(key: str) -> tuple[str, str]:
    """What to say about a key that does not exist: the message and the hint."""
    in_another_section = [known for known in BY_KEY if known.rpartition(".")[2] == key.rpartition(".")[2]]
    near = nearest(key, in_another_section) or nearest(key, [*BY_KEY, *SECTIONS])
    hint = f"did you mean {near}?" if near else "`ralph config` lists the settings"
    return f"there is no setting {quoted(key)}", hint
