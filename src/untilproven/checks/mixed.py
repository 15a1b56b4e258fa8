"""Files that say many things, how tests are run among them: what of them is about tests."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

_WHOLE = (
    r"(?:GNU)?[mM]akefile|.*\.mk|Rakefile|[jJ]ustfile|Taskfile\.ya?ml|CMakeLists\.txt|meson\.build|BUILD(?:\.bazel)?"
    r"|WORKSPACE|vite\.config\..*|babel\.config\..*|\.babelrc|bunfig\.toml|deno\.jsonc?|mix\.exs|pom\.xml"
    r"|(?:build|settings)\.gradle(?:\.kts)?|gradle\.properties|.*\.(?:cs|fs|vb)proj|Directory\..*\.props|setup\.(?:py|cfg)"
)
"""Programs rather than lists: any line can be about tests."""
_READ = frozenset({"package.json", "composer.json", "pyproject.toml", "Cargo.toml", "go.mod", "go.work"})
_OF_PACKAGES = ("scripts", "jest", "vitest", "mocha", "ava", "tap", "nyc", "c8", "babel", "ts-jest", "type", "imports")
_OF_PYTHON = (
    *("pytest", "coverage", "tox", "hatch", "pdm", "poe", "taskipy", "unittest", "nose"),
    *("mypy", "pyright", "ruff", "pylint", "flake8", "black", "isort"),
)
_OF_CARGO = ("test", "bench", "lib", "bin", "example", "profile", "lints", "patch", "replace")
_REPLACED = r"(?m)^\s*replace\b.*(?:\n(?!\)).*)*"


def can_be_about_tests(path: str) -> bool:
    """Whether a file of this name says anything about tests at all."""
    name = PurePosixPath(path).name
    return name in _READ or re.fullmatch(_WHOLE, name) is not None


def about_tests(path: str, data: bytes | None) -> object:
    """What such a file says about tests, to be compared; None if it says nothing, or is not there."""
    if data is None:
        return None
    name = PurePosixPath(path).name
    text = data.decode("utf-8", "replace")
    try:
        return _read(name, text)
    except (ValueError, RecursionError):
        return text


def _read(name: str, text: str) -> object:
    if re.fullmatch(_WHOLE, name):
        return text
    match name:
        case "package.json" | "composer.json":
            return _some(json.loads(text), _OF_PACKAGES)
        case "pyproject.toml":
            return _some(tomllib.loads(text).get("tool"), _OF_PYTHON)
        case "Cargo.toml":
            return _some(tomllib.loads(text), _OF_CARGO)
        case "go.mod" | "go.work":
            return re.findall(_REPLACED, text) or None
    return None


def _some(found: Any, names: tuple[str, ...]) -> object:
    if not isinstance(found, Mapping):
        return None
    return {name: found[name] for name in names if name in found} or None
