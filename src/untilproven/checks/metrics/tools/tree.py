"""The files by which a project says which tools it uses."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import msgspec

from untilproven.checks.runners.reporting import text_in
from untilproven.contract import Room

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Tree:
    """The top of a tree, each file of it read once."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._texts: dict[str, str | None] = {}
        self._python: frozenset[str] | None = None

    def text(self, name: str) -> str | None:
        if name not in self._texts:
            self._texts[name] = text_in(self._room, PurePosixPath(name))
        return self._texts[name]

    def has(self, *names: str) -> bool:
        return any(self._room.look(PurePosixPath(name)) for name in names)

    def matches(self, pattern: str) -> bool:
        return bool(self._room.find(pattern))

    def toml(self, name: str) -> dict[str, Any]:
        text = self.text(name)
        if not text:
            return {}
        import tomllib  # noqa: PLC0415  slow to load, and most projects have no such file

        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError):
            return {}

    def json(self, name: str) -> dict[str, Any]:
        try:
            return msgspec.json.decode(self.text(name) or "{}", type=dict[str, Any])
        except (ValueError, RecursionError):
            return {}

    def setting(self, *keys: str) -> bool:
        """Whether pyproject.toml has such a table."""
        found: Any = self.toml("pyproject.toml")
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found is not None

    def needs_python(self, package: str) -> bool:
        """Whether the project asks for a package from PyPI, for itself or for those who work on it."""
        if self._python is None:
            self._python = frozenset(self._required())
        return package in self._python

    def _required(self) -> Iterator[str]:
        yield from _requirements(self.toml("pyproject.toml"))
        yield from _requirements(self.toml("Pipfile"), named=True)
        for pattern in ("*requirements*.txt", "requirements/*.txt"):
            for path in self._room.find(pattern):
                yield from (_name(line) for line in (text_in(self._room, path) or "").splitlines())

    def needs_node(self, package: str) -> bool:
        """The same for a package from npm."""
        document = self.json("package.json")
        tables = (document.get(key) for key in ("dependencies", "devDependencies", "optionalDependencies"))
        return any(isinstance(table, dict) and package in table for table in tables)


def _requirements(document: Any, *, named: bool = False) -> Iterator[str]:
    """Every name below a key that is about dependencies: PEP 621 and 735, poetry, uv, pdm, hatch and pipenv."""
    if isinstance(document, dict):
        for key, value in document.items():
            if named:
                yield _name(str(key))
            is_about = re.search(r"dependenc|(?:dev-)?packages|requires", str(key)) is not None
            yield from _requirements(value, named=named or is_about)
    elif isinstance(document, list) and named:
        yield from (_name(item) for item in document if isinstance(item, str))


def _name(requirement: str) -> str:
    found = _NAME.match(requirement.strip())
    return re.sub(r"[._-]+", "-", found[0]).lower() if found else ""
