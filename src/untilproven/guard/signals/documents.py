"""Configuration as values: dictionaries, lists and words, whatever it is written in."""

import configparser
import json
import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from untilproven.guard.comparison import Comparison
from untilproven.guard.signals.trees import DEEPEST, Value, of_script, of_yaml
from untilproven.guard.written import Unreadable, as_text

_SCRIPTS = {
    **dict.fromkeys((".js", ".cjs", ".mjs"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
}
_INI = frozenset({".ini", ".cfg", ".coveragerc", ".flake8", ".pylintrc", "pylintrc", ".bandit", ".pydocstyle"})
_WRITTEN = frozenset({".toml", ".json", ".jsonc", ".yml", ".yaml", ".ini", ".cfg"})
_LOCKS = frozenset({"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "packages.lock.json"})
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])')

_TABLE_IN_LINE = re.compile(r"(?<==)\s*\{(?:[^{}\"'#]|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*')*\}")


class NotUnderstood(Exception):  # it carries the reason, and is no error of ours
    """Why a file could not be read as configuration."""


@lru_cache(maxsize=128)
def values_in(path: str, content: bytes) -> Value:
    """Raises `NotUnderstood`. What comes back is shared: look, but do not change."""
    name = name_of(path)
    suffix = PurePosixPath(name).suffix
    try:
        text = as_text(content, though_made=True)
        if suffix in _SCRIPTS:
            return of_script(text, _SCRIPTS[suffix])
        if suffix == ".toml" or name == "Pipfile":
            return _plain(_of_toml(text))
        if suffix in _INI or name in _INI:
            return _of_ini(text)
        if suffix == ".properties":
            return dict(re.findall(r"(?m)^[ \t]*([\w.-]+)[ \t]*[=:][ \t]*(.*?)[ \t]*$", text))
        if suffix in {".yml", ".yaml"}:
            return of_yaml(text)
        is_json = suffix in {".json", ".jsonc", ".json5"} or text.lstrip().startswith(("{", "//", "/*"))
        return _of_json(text) if is_json else of_yaml(text)
    except (Unreadable, ValueError, configparser.Error, RecursionError) as reason:
        raise NotUnderstood(str(reason).splitlines()[0] if str(reason) else "does not parse") from reason


def _of_toml(text: str) -> dict[str, object]:
    """Tables in a line may go over several, and end with a comma, since version 1.1."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return tomllib.loads(
            _TABLE_IN_LINE.sub(lambda found: _LAST_COMMA.sub(r"\1", " ".join(found[0].split("\n"))), text)
        )


def unread(comparison: Comparison) -> None:
    """Say once which configuration cannot be read, for all that look into it; nobody looks for values in a lock."""
    for pair in comparison.pairs:
        if pair.kind not in {"mixed", "configuration", "ci"} and not pair.path.startswith("."):
            continue
        for side in (pair.before, pair.after):
            if side and PurePosixPath(side.path).suffix in _WRITTEN:
                try:
                    as_text(side.content, though_made=True) if name_of(side.path) in _LOCKS else values_in(
                        side.path, side.content
                    )
                except (NotUnderstood, Unreadable) as reason:
                    comparison.leave_out(side.path, str(reason))


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


def is_lock(path: str) -> bool:
    """Whether a tool wrote down there what is needed, and nobody looks for values."""
    return name_of(path) in _LOCKS or path.endswith(".lock")


def line_of(text: str, *needles: str) -> int:
    """Where the first of them that is there stands first."""
    at = next((at for needle in needles if (at := text.find(needle)) >= 0), 0)
    return text.count("\n", 0, at) + 1


def mapping(value: Value | None) -> dict[str, Value]:
    """The value if it is a table, else an empty one."""
    return value if isinstance(value, dict) else {}


def below(value: Value | None, *keys: str) -> Value | None:
    for key in keys:
        value = mapping(value).get(key)
    return value


def words(value: Value | None) -> list[str]:
    """A word, or a list of them, as a list."""
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _of_json(text: str) -> Value:
    """If need be with comments and a comma too many, as editors and compilers take it."""
    try:
        return _plain(json.loads(text))
    except ValueError:
        plain = _LAST_COMMA.sub(r"\1", _COMMENT.sub(r"\1", text))
        return _plain(json.loads(plain)) if plain.strip() else {}


def _plain(value: object, depth: int = 0) -> Value:
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(value, Mapping):
        return {str(key): _plain(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, depth + 1) for one in value]
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _of_ini(text: str) -> Value:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, inline_comment_prefixes=("#",))
    parser.read_string(text)
    return {section: {key: value or "" for key, value in parser.items(section)} for section in parser.sections()}
