"""Kotlin: kotlin.test, JUnit and TestNG as in Java, and kotest's specifications."""

import msgspec
from ast_grep_py import SgNode

from untilproven.guard.facts import Declaration, Facts, Running, Test
from untilproven.guard.languages.java.comments import Said
from untilproven.guard.languages.java.files import asked_outside, exits, flags, hooks
from untilproven.guard.languages.java.functions import function
from untilproven.guard.languages.java.members import in_order, members, scopes
from untilproven.guard.languages.java.syntax import body_of, code_in
from untilproven.guard.languages.java.tests import inside
from untilproven.guard.languages.java.tests import test as test_in_class
from untilproven.guard.languages.kotlin.specs import Example, examples, retries, timeout

__all__ = ["facts", "function", "test"]


def facts(root: SgNode, path: str) -> Facts:  # noqa: ARG001 - what every language is asked
    every = scopes(root)
    said = Said(root)
    imports = "\n".join(
        one.text() for child in root.children() if child.kind() == "import_list" for one in code_in(child)
    )
    declared = [*members(every, imports), *(one for scope in every for one in examples(scope))]
    return Facts(
        declarations=in_order(declared),
        suppressions=said.suppressions(),
        todos=said.todos(),
        commented=said.commented(),
        hooks=hooks(every),
        exits=exits(root),
        flags=flags(every),
        asks_if_tested=asked_outside(every),
    )


def test(declaration: Declaration) -> Test:
    if not isinstance(declaration, Example) or declaration.told is None:
        return test_in_class(declaration)
    told = declaration.told
    body = body_of(told.block)
    found = inside(body, [], declaration.scope, told.name) if body else Test(Running.ALWAYS, ())
    found = msgspec.structs.replace(found, retries=retries(told), timeout=timeout(told) or found.timeout)
    if declaration.running < found.running:
        found = msgspec.structs.replace(found, running=declaration.running, reason=declaration.reason)
    return found
