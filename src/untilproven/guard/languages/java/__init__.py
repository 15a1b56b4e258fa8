"""Java: JUnit 3, 4 and 5, TestNG, with the assertions and mocks that go with them."""

from ast_grep_py import SgNode

from untilproven.guard.facts import Facts
from untilproven.guard.languages.java.comments import Said
from untilproven.guard.languages.java.files import asked_outside, exits, flags, hooks
from untilproven.guard.languages.java.functions import function
from untilproven.guard.languages.java.members import in_order, members, scopes
from untilproven.guard.languages.java.tests import test

__all__ = ["facts", "function", "test"]


def facts(root: SgNode, path: str) -> Facts:  # noqa: ARG001 - what every language is asked
    every = scopes(root)
    said = Said(root)
    imports = "\n".join(child.text() for child in root.children() if child.kind() == "import_declaration")
    return Facts(
        declarations=in_order(members(every, imports)),
        suppressions=said.suppressions(),
        todos=said.todos(),
        commented=said.commented(),
        hooks=hooks(every),
        exits=exits(root),
        flags=flags(every),
        asks_if_tested=asked_outside(every),
    )
