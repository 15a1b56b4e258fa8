"""Annotations and modifiers before a declaration."""

import msgspec
from ast_grep_py import SgNode

from untilproven.guard.languages.java.syntax import code_in, flat, values_of


class Annotation(msgspec.Struct, frozen=True, eq=False):
    name: str
    """The last part of it."""
    node: SgNode
    arguments: tuple[SgNode, ...] = ()
    named: tuple[tuple[str, SgNode], ...] = ()

    @property
    def text(self) -> str:
        return flat(self.node)

    def option(self, *names: str) -> SgNode | None:
        """Of several names for one thing; `value` may go without its name."""
        found = next((value for key, value in self.named if key in names), None)
        return found or (self.arguments[0] if "value" in names and self.arguments else None)


def annotations(declaration: SgNode) -> list[Annotation]:
    return [read for child in _before(declaration) if (read := annotation_of(child))]


def _before(declaration: SgNode) -> list[SgNode]:
    """What stands before the declaration proper."""
    found = next((child for child in declaration.children() if child.kind() == "modifiers"), None)
    return found.children() if found else []


def annotation_of(node: SgNode) -> Annotation | None:
    kind = node.kind()
    if kind == "marker_annotation" or (kind == "annotation" and node.field("name")):
        name = node.field("name")
        if name is None:
            return None
        arguments = node.field("arguments")
        plain, named = _java_values(arguments) if arguments else ([], [])
    elif kind == "annotation":
        invoked = next((one for one in code_in(node) if one.kind() in {"constructor_invocation", "user_type"}), None)
        if invoked is None:
            return None
        name, arguments = invoked, None
        if invoked.kind() == "constructor_invocation":
            parts = code_in(invoked)
            name = parts[0] if parts else invoked
            arguments = next((one for one in parts if one.kind() == "value_arguments"), None)
        plain, named = values_of(arguments) if arguments else ([], [])
    else:
        return None
    return Annotation(flat(name).split("<")[0].rpartition(".")[2].strip(), node, tuple(plain), tuple(named))


def _java_values(arguments: SgNode) -> tuple[list[SgNode], list[tuple[str, SgNode]]]:
    plain: list[SgNode] = []
    named: list[tuple[str, SgNode]] = []
    for one in code_in(arguments):
        parts = code_in(one)
        if one.kind() == "element_value_pair" and len(parts) == 2:
            named.append((parts[0].text(), parts[1]))
        else:
            plain.append(one)
    return plain, named


def modifiers(declaration: SgNode) -> set[str]:
    """Modifiers: private, static, abstract, override."""
    return {flat(child) for child in _before(declaration) if "annotation" not in child.kind()}
