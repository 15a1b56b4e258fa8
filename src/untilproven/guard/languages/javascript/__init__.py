"""JavaScript and TypeScript: jest, vitest, mocha, node:test, playwright, ava, tap, jasmine, cypress and their kin."""

from untilproven.guard.languages.javascript.files import facts
from untilproven.guard.languages.javascript.functions import function
from untilproven.guard.languages.javascript.tests import test

__all__ = ["facts", "function", "test"]
