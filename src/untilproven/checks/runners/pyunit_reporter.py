"""Run by the project's own Python in place of `-m unittest`: the same main, and a row in the report for each test.

It imports nothing of this package and keeps to what Python 3.8 has.
"""

import json
import sys
import unittest
from pathlib import Path
from typing import Any, List  # noqa: UP035 - 3.8 has no list[str]


class _Result(unittest.TextTestResult):
    passed: List[str] = []  # noqa: RUF012, UP006 - one result in one process

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's name
        super().addSuccess(test)
        self.passed.append(test.id())


class _Runner(unittest.TextTestRunner):
    resultclass = _Result  # type: ignore[assignment]  # typeshed knows it only as a function

    def run(self, test: Any) -> Any:
        result = super().run(test)
        rows = [(name, "passed", "") for name in _Result.passed]
        rows += [(one.id(), "failed", text) for one, text in result.failures]
        rows += [(one.id(), "error", text) for one, text in result.errors]
        rows += [(one.id(), "skipped", text) for one, text in result.skipped]
        rows += [(one.id(), "skipped", "expected to fail") for one, _ in result.expectedFailures]
        rows += [(one.id(), "failed", "expected to fail") for one in result.unexpectedSuccesses]
        Path(REPORT).write_text(json.dumps(rows), encoding="utf-8")
        return result


if __name__ == "__main__":
    REPORT = sys.argv.pop(1)
    sys.path[0] = str(Path.cwd())
    sys.argv[0] = "python -m unittest"
    unittest.main(module=None, testRunner=_Runner)
