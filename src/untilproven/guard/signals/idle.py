"""Tests that do nothing."""

from untilproven.guard.claims import strong
from untilproven.guard.names import names_in
from untilproven.guard.pairing import Placed

_OF_DECLARATIONS = frozenset(
    {"it", "test", "specify", "function", "async", "t", "def", "self", "func", "testing", "T", "fn", "void", "public"}
    | {"fun", "Test", "class", "return", "await"}
)


def does_nothing(one: Placed) -> bool:
    """It names nothing but what it asserts, which always holds."""
    if strong(one.test.assertions):
        return False
    said = " ".join(assertion.text for assertion in one.test.assertions)
    return names_in(one.declaration.node.text()) <= {*names_in(said), one.short, *_OF_DECLARATIONS}
