"""What a runner gives to a test, or to its whole class, without that it is written which values."""

import re
from collections.abc import Iterable

from ast_grep_py import SgNode

from untilproven.guard.languages.java.annotated import Annotation, annotations
from untilproven.guard.languages.java.members import Scope, parameter_types

_GIVES = re.compile(r"@Burst\b|ParameterInjector|\bTheor(?:y|ies)\b")
"""Runners that try every value of a type. Those of others are given by functions, which can be read."""
_VALUES = "burstValues("


def is_given(node: SgNode, marks: Iterable[Annotation], around: Iterable[Scope]) -> bool:
    """A runner that fills in parameters runs it, and there is one to fill in: nobody else could run it."""
    scopes = list(around)
    said = [*marks, *(mark for each in scopes for mark in annotations(each.node))]
    if not any(_GIVES.search(mark.text) for mark in said):
        return False
    return bool(parameter_types(node)) or any(_is_filled(each) for each in scopes)


def _is_filled(scope: Scope) -> bool:
    """It is made with what has no value of its own, or has fields for it."""
    made = next((one for one in scope.node.children() if one.kind() == "primary_constructor"), None)
    parameters = [one.text() for one in made.find_all(kind="class_parameter")] if made else []
    if any("=" not in one or _VALUES in one for one in parameters):
        return True
    if any("constructor" in one.node.kind() and parameter_types(one.node) for one in scope.functions):
        return True
    return any(mark.name == "TestParameter" for field in scope.fields for mark in annotations(field))
