"""What a function is called, by itself or by where it stands."""

from ast_grep_py import SgNode

from untilproven.guard.languages.javascript.nodes import arguments, string_of, written

_ANONYMOUS = "default"
_AROUND = frozenset(
    {"parenthesized_expression", "as_expression", "satisfies_expression", "binary_expression", "ternary_expression"}
)


def name_of(function: SgNode, *, in_function: bool = True) -> str | None:
    """What a function is known by; None for a callback, which belongs to what it stands in."""
    name = function.field("name")
    kind = function.kind()
    if kind in {"function_declaration", "generator_function_declaration"}:
        return name.text() if name else _ANONYMOUS
    if kind == "method_definition":
        owner = _owner(function)
        own = written(name) if name else _ANONYMOUS
        return f"{owner}.{own}" if owner else own
    return _by_place(function, in_function=in_function) or (name.text() if name else None)


def _by_place(function: SgNode, *, in_function: bool) -> str | None:
    node, parent = function, function.parent()
    while parent is not None and parent.kind() in _AROUND:
        node, parent = parent, parent.parent()
    if parent is None:
        return None
    kind = parent.kind()
    if kind == "variable_declarator":
        name = parent.field("name")
        return name.text() if name and name.kind() == "identifier" else None
    if kind == "assignment_expression":
        left = parent.field("left")
        return written(left) if left and node == parent.field("right") else None
    if kind == "pair":
        key, owner = parent.field("key"), _owner(parent)
        own = key.text().strip("'\"") if key else None
        return f"{owner}.{own}" if owner and own else own
    if kind in {"public_field_definition", "field_definition"}:
        name, owner = parent.field("name") or parent.field("property"), _owner(parent)
        own = name.text() if name else None
        return f"{owner}.{own}" if owner and own else own
    if kind == "export_statement":
        return _ANONYMOUS
    if kind == "arguments":
        return _by_call(parent, in_function=in_function)
    return None


def _by_call(arguments_: SgNode, *, in_function: bool) -> str | None:
    """`const save = guarded(async () => ...)` is `save`; `app.get("/", (req, res) => ...)` is a function of its own."""
    call = arguments_.parent()
    above = call.parent() if call is not None else None
    if call is None or above is None or call.kind() != "call_expression":
        return None
    if above.kind() == "variable_declarator" and (name := above.field("name")) and name.kind() == "identifier":
        return name.text()
    callee = call.field("function")
    if in_function or above.kind() != "expression_statement" or callee is None or callee.kind() != "member_expression":
        return None
    first = next(iter(arguments(call)), None)
    title = string_of(first) if first is not None else None
    return f"{written(callee)}({title})" if title is not None else None


def _owner(member: SgNode) -> str | None:
    """The class, or the name of the object, that it is a member of."""
    body = member.parent()
    holder = body.parent() if body is not None else None
    if body is None or holder is None:
        return None
    if body.kind() == "class_body" and (name := holder.field("name")):
        return name.text()
    place = holder.parent() if body.kind() == "class_body" else holder
    if place is None:
        return None
    if place.kind() == "variable_declarator":
        name = place.field("name")
        return name.text() if name else None
    if place.kind() == "assignment_expression":
        left = place.field("left")
        return written(left) if left else None
    if place.kind() == "pair":
        key = place.field("key")
        return key.text().strip("'\"") if key else None
    return _ANONYMOUS if place.kind() == "export_statement" else None
