"""Configuration as values: dictionaries, lists and words, whatever it is written in."""

import configparser
import json
import re
import textwrap
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from ast_grep_py import SgNode, SgRoot

from untilproven.guard.reading import Unreadable, as_text

Value = str | list["Value"] | dict[str, "Value"]
"""Numbers, truth and nothing are the words they would be in JSON."""

_DEEPEST = 60
_SCRIPTS = {".js": "javascript", ".cjs": "javascript", ".mjs": "javascript"} | dict.fromkeys(
    (".ts", ".mts", ".cts"), "typescript"
)
_INI = frozenset({".ini", ".cfg", ".coveragerc", ".flake8", ".pylintrc", "pylintrc", ".bandit", ".pydocstyle"})
_LOOSE = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
_OUTERMOST = {"rule": {"kind": "object", "not": {"inside": {"kind": "object", "stopBy": "end"}}}}


class NotUnderstood(Exception):  # it carries the reason, and is no error of ours
    """Why a file could not be read as configuration."""


@lru_cache(maxsize=128)
def values_in(path: str, content: bytes) -> Value:
    """Raises `NotUnderstood`. What comes back is shared: look, but do not change."""
    name = name_of(path)
    suffix = PurePosixPath(name).suffix
    try:
        text = as_text(content)
        if suffix in _SCRIPTS:
            return _of_script(SgRoot(text, _SCRIPTS[suffix]).root())
        if suffix == ".toml" or name == "Pipfile":
            return _plain(tomllib.loads(text))
        if suffix in _INI or name in _INI:
            return _of_ini(text)
        if suffix == ".properties":
            return dict(re.findall(r"(?m)^\s*([\w.-]+)\s*[=:]\s*(.*?)\s*$", text))
        if suffix in {".json", ".jsonc", ".json5"} or text.lstrip().startswith(("{", "//", "/*")):
            return _plain(json.loads(_LOOSE.sub(r"\1", text) if text.strip() else "{}"))
        return _of_yaml(text)
    except (Unreadable, ValueError, configparser.Error, RecursionError) as reason:
        raise NotUnderstood(str(reason).splitlines()[0] if str(reason) else "does not parse") from reason


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


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


def _plain(value: object, depth: int = 0) -> Value:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(value, Mapping):
        return {str(key): _plain(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, depth + 1) for one in value]
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _of_ini(text: str) -> Value:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, inline_comment_prefixes=(" #", " ;"))
    parser.read_string(text)
    return {section: {key: value or "" for key, value in parser.items(section)} for section in parser.sections()}


def _of_script(root: SgNode) -> Value:
    """All outermost objects of a JavaScript file as one: a configuration is one object, or some of them in a list."""
    merged: dict[str, Value] = {}
    for node in root.find_all(_OUTERMOST):  # type: ignore[call-overload]  # a plain dictionary is what it takes
        _merge(merged, mapping(_of_expression(node, 0)))
    return merged


def _merge(into: dict[str, Value], other: dict[str, Value]) -> None:
    for key, value in other.items():
        there = into.get(key)
        if isinstance(there, dict) and isinstance(value, dict):
            _merge(there, value)
        elif there is not None and not isinstance(value, dict):
            into[key] = [
                *(there if isinstance(there, list) else [there]),
                *(value if isinstance(value, list) else [value]),
            ]
        else:
            into[key] = value


def _of_expression(node: SgNode, depth: int) -> Value:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    match node.kind():
        case "object":
            pairs = (one for one in node.children() if one.kind() == "pair")
            return {
                _unquoted(key.text()): _of_expression(value, depth + 1)
                for one in pairs
                if (key := one.field("key")) and (value := one.field("value"))
            }
        case "array":
            return [
                _of_expression(one, depth + 1) for one in node.children() if one.is_named() and one.kind() != "comment"
            ]
        case "string":
            return _unquoted(node.text())
    return node.text()


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`" else text


def _of_yaml(text: str) -> Value:
    root = SgRoot(text, "yaml").root()
    if root.find(kind="ERROR"):
        raise ValueError("does not parse")
    document = root.find(kind="document")
    return _of_node(document, {}, 0) if document else {}


def _of_node(node: SgNode, anchors: dict[str, Value], depth: int) -> Value:
    if depth > _DEEPEST * 3:
        raise ValueError("nested too deeply")
    match node.kind():
        case "document" | "block_node" | "flow_node":
            name = None
            value: Value = ""
            for one in node.children():
                if one.kind() == "anchor":
                    name = one.text()[1:]
                elif one.kind() not in {"tag", "comment", "---", "..."} and one.is_named():
                    value = _of_node(one, anchors, depth + 1)
            if name:
                anchors[name] = value
            return value
        case "block_mapping" | "flow_mapping":
            return _of_mapping(node, anchors, depth)
        case "block_sequence" | "flow_sequence":
            items = (one for one in node.children() if one.is_named() and one.kind() != "comment")
            return [_of_node(one, anchors, depth + 1) for one in items]
        case "block_sequence_item":
            found = [one for one in node.children() if one.is_named() and one.kind() != "comment"]
            return _of_node(found[0], anchors, depth + 1) if found else ""
        case "alias":
            return anchors.get(node.text()[1:], "")
        case "block_scalar":
            return _of_block(node.text())
        case "double_quote_scalar":
            return _of_double(node.text())
        case "single_quote_scalar":
            return node.text()[1:-1].replace("''", "'")
    return node.text()


def _of_mapping(node: SgNode, anchors: dict[str, Value], depth: int) -> Value:
    found: dict[str, Value] = {}
    for pair in node.children():
        key = pair.field("key")
        if key is None:
            continue
        value = pair.field("value")
        name = _of_node(key, anchors, depth + 1)
        inside = _of_node(value, anchors, depth + 1) if value else ""
        if name == "<<":
            for one in inside if isinstance(inside, list) else [inside]:
                found = mapping(one) | found
        else:
            found[str(name)] = inside
    return found


def _of_block(text: str) -> str:
    head, _, body = text.partition("\n")
    body = textwrap.dedent(body)
    return re.sub(r"(?<!\n)\n(?![\n ])", " ", body) if head.startswith(">") else body


def _of_double(text: str) -> str:
    try:
        return str(json.loads(re.sub(r"\s*\n\s*", " ", text)))
    except ValueError:
        return text[1:-1]
