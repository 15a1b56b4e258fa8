"""Python: pytest, unittest, doctest, and what is built on them."""

from untilproven.guard.languages.python.files import facts
from untilproven.guard.languages.python.functions import function
from untilproven.guard.languages.python.tests import test

__all__ = ["facts", "function", "test"]
