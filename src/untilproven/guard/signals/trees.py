"""Values out of syntax trees: YAML, and the objects that configuration in JavaScript is made of."""

import json
import re
import textwrap
from collections.abc import Iterator

from ast_grep_py import Config, Rule, SgNode, SgRoot

Value = str | list["Value"] | dict[str, "Value"]
"""Numbers, truth and nothing are the words they would be in JSON."""

DEEPEST = 60
_LAYERS = 4
"""Nodes of YAML's syntax for each level of its values."""
_OUTERMOST = Rule(kind="object")
_OUTERMOST["not"] = Rule(inside={"kind": "object", "stopBy": "end"})


def of_script(text: str, grammar: str) -> Value:
    """All outermost objects as one: a configuration is one object, or some of them in a list."""
    merged: dict[str, Value] = {}
    for node in SgRoot(text, grammar).root().find_all(Config(rule=_OUTERMOST)):
        value = _of_expression(node, 0)
        if isinstance(value, dict):
            _merge(merged, value)
    return merged


def _merge(into: dict[str, Value], other: dict[str, Value]) -> None:
    for key, value in other.items():
        there = into.get(key)
        if isinstance(there, dict) and isinstance(value, dict):
            _merge(there, value)
        elif there is not None and not isinstance(value, dict):
            into[key] = [*_listed(there), *_listed(value)]
        else:
            into[key] = value


def _listed(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [value]


def _of_expression(node: SgNode, depth: int) -> Value:
    if depth > DEEPEST:
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
            return [_of_expression(one, depth + 1) for one in _named(node)]
        case "string" | "template_string":
            return _unquoted(node.text())
    return node.text()


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`" else text


def of_yaml(text: str) -> Value:
    """Of its first document."""
    root = SgRoot(text, "yaml").root()
    if root.find(kind="ERROR"):
        raise ValueError("does not parse")
    document = root.find(kind="document")
    return _of_node(document, {}, 0) if document else {}


def _of_node(node: SgNode, anchors: dict[str, Value], depth: int) -> Value:
    if depth > DEEPEST * _LAYERS:
        raise ValueError("nested too deeply")
    match node.kind():
        case "document" | "block_node" | "flow_node" | "block_sequence_item":
            return _of_wrapper(node, anchors, depth)
        case "block_mapping" | "flow_mapping":
            return _of_mapping(node, anchors, depth)
        case "block_sequence" | "flow_sequence":
            return [_of_node(one, anchors, depth + 1) for one in _named(node)]
        case "alias":
            return anchors.get(node.text()[1:], "")
    return _of_scalar(node)


def _named(node: SgNode) -> Iterator[SgNode]:
    return (one for one in node.children() if one.is_named() and one.kind() != "comment")


def _of_wrapper(node: SgNode, anchors: dict[str, Value], depth: int) -> Value:
    """What a node holds, remembered if it has a name."""
    name = None
    value: Value = ""
    for one in _named(node):
        if one.kind() == "anchor":
            name = one.text()[1:]
        elif one.kind() != "tag":
            value = _of_node(one, anchors, depth + 1)
    if name:
        anchors[name] = value
    return value


def _of_mapping(node: SgNode, anchors: dict[str, Value], depth: int) -> Value:
    found: dict[str, Value] = {}
    for pair in node.children():
        key, value = pair.field("key"), pair.field("value")
        if key is None:
            continue
        name = _of_node(key, anchors, depth + 1)
        inside = _of_node(value, anchors, depth + 1) if value else ""
        if name == "<<":
            for one in _listed(inside):
                found = (one if isinstance(one, dict) else {}) | found
        else:
            found[str(name)] = inside
    return found


def _of_scalar(node: SgNode) -> str:
    text = node.text()
    if node.kind() == "block_scalar":
        head, _, body = text.partition("\n")
        body = textwrap.dedent(body)
        return re.sub(r"(?<!\n)\n(?![\n ])", " ", body) if head.startswith(">") else body
    text = re.sub(r"[ \t]*\n\s*", " ", text)
    match node.kind():
        case "double_quote_scalar":
            try:
                return str(json.loads(text))
            except ValueError:
                return text[1:-1]
        case "single_quote_scalar":
            return text[1:-1].replace("''", "'")
    return text
