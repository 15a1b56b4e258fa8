"""Tests read one by one, with the real pytest and the real unittest."""

import pytest

from untilproven.checks.tests import TestsCheck
from untilproven.contract import Evidence, Room

PYTEST = "pytest -q -p no:randomly"


def write(room: Room, name: str, text: str) -> None:
    path = room.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def run(room: Room, line: str, grep: str = "", timeout: float = 60) -> Evidence:
    return TestsCheck(line, grep).run(room, timeout=timeout)


def outcomes(evidence: Evidence) -> dict[str, str]:
    return {test.name: test.outcome for test in evidence.tests or ()}


ALL_SORTS = """
import pytest
class TestX:
    @pytest.mark.parametrize("v", [1, 2])
    def test_y(self, v): assert v == 1
def test_ok(): pass
@pytest.mark.skip
def test_skip(): pass
@pytest.mark.xfail
def test_xfail(): assert 0
@pytest.fixture
def bad(): raise RuntimeError("set-up")
def test_error(bad): pass
"""


def test_pytest_names_each_test_by_its_node_id(room: Room) -> None:
    write(room, "tests/test_a.py", ALL_SORTS)
    evidence = run(room, PYTEST)
    assert not evidence.passed
    assert outcomes(evidence) == {
        "tests/test_a.py::TestX::test_y[1]": "passed",
        "tests/test_a.py::TestX::test_y[2]": "failed",
        "tests/test_a.py::test_ok": "passed",
        "tests/test_a.py::test_skip": "skipped",
        "tests/test_a.py::test_xfail": "skipped",
        "tests/test_a.py::test_error": "error",
    }
    assert evidence.output.startswith("exited with 1; 2 of 6 tests fail: tests/test_a.py::TestX::test_y[2], ")


def test_green_tests_pass_and_leave_no_cache_and_no_report_in_the_tree(room: Room) -> None:
    write(room, "test_a.py", "def test_ok(): pass\n")
    evidence = run(room, PYTEST)
    assert evidence.passed
    assert outcomes(evidence) == {"test_a.py::test_ok": "passed"}
    assert {path.name for path in room.root.iterdir()} <= {"test_a.py", "__pycache__"}


def test_a_strict_project_that_configures_the_cache_still_runs(room: Room) -> None:
    write(room, "pytest.ini", "[pytest]\naddopts = --strict-config --ff\ncache_dir = .c\nfilterwarnings = error\n")
    write(room, "test_a.py", "def test_ok(): pass\n")
    assert run(room, PYTEST).passed


def test_a_report_the_user_asks_for_elsewhere_does_not_take_ours_away(room: Room) -> None:
    write(room, "test_a.py", "def test_ok(): pass\n")
    assert run(room, f"{PYTEST} --junit-xml=mine.xml -- test_a.py").passed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("test_a.py", "def test_broken(:\n"),
        ("test_a.py", "import no_such_module_here\ndef test_a(): pass\n"),
        ("test_a.py", ""),
        ("other.py", "def test_a(): pass\n"),
        ("test_a.py", "import os\ndef test_a(): os._exit(0)\n"),
        ("test_a.py", "import pytest\n@pytest.mark.skip\ndef test_a(): pass\n"),
        ("conftest.py", "def pytest_sessionfinish(session): session.exitstatus = 0\n"),
    ],
    ids=["syntax", "import", "empty", "none", "exit-0-at-once", "all-skipped", "exit-code-forged"],
)
def test_half_written_code_and_no_test_seen_are_not_yet(room: Room, name: str, text: str) -> None:
    write(room, name, text)
    evidence = run(room, PYTEST)
    assert (evidence.passed, evidence.broken) == (False, False)


def test_exit_0_does_not_outweigh_a_test_that_failed(room: Room) -> None:
    write(room, "conftest.py", "def pytest_sessionfinish(session): session.exitstatus = 0\n")
    write(room, "test_a.py", "def test_a(): assert 0\ndef test_b(): pass\n")
    evidence = run(room, PYTEST)
    assert not evidence.passed
    assert evidence.output.startswith("1 of 2 tests fail: test_a.py::test_a\n")


def test_green_tests_do_not_outweigh_an_exit_code(room: Room) -> None:
    write(room, "conftest.py", "def pytest_sessionfinish(session): session.exitstatus = 9\n")
    write(room, "test_a.py", "def test_a(): pass\n")
    assert run(room, PYTEST).output.startswith("exited with 9\n")


def test_a_time_out_is_not_yet(room: Room) -> None:
    write(room, "test_a.py", "import time\ndef test_a(): time.sleep(60)\n")
    evidence = run(room, PYTEST, timeout=2)
    assert (evidence.passed, evidence.broken) == (False, False)
    assert evidence.output.startswith("stopped after 2 s")


def test_a_missing_runner_is_broken(room: Room) -> None:
    assert run(room, ".venv/bin/pytest").broken


UNITTEST = """
import unittest
class T(unittest.TestCase):
    def test_ok(self): pass
    def test_bad(self): self.fail("no")
    def test_error(self): raise RuntimeError
    @unittest.skip("later")
    def test_skip(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): pass
    def test_parts(self):
        with self.subTest(i=1): self.fail()
"""


def test_unittest_is_read_test_by_test(room: Room) -> None:
    write(room, "tests/__init__.py", "")
    write(room, "tests/test_a.py", UNITTEST)
    evidence = run(room, "python3 -m unittest -v")
    assert not evidence.passed
    assert {name.removeprefix("tests.test_a.T."): outcome for name, outcome in outcomes(evidence).items()} == {
        "test_ok": "passed",
        "test_bad": "failed",
        "test_error": "error",
        "test_skip": "skipped",
        "test_expected": "skipped",
        "test_unexpected": "failed",
        "test_parts (i=1)": "failed",
    }


def test_green_unittests_pass_and_arguments_are_kept(room: Room) -> None:
    write(room, "sub/test_a.py", UNITTEST)
    evidence = run(room, "cd sub && python3 -m unittest test_a.T.test_ok")
    assert evidence.passed
    assert outcomes(evidence) == {"test_a.T.test_ok": "passed"}


def test_unittests_that_find_nothing_are_not_yet(room: Room) -> None:
    evidence = run(room, "python3 -m unittest")
    assert (evidence.passed, evidence.broken) == (False, False)
    assert "no test was seen to run" in evidence.output


def test_only_the_tests_named_for_the_task_count(room: Room) -> None:
    write(room, "test_a.py", "def test_ralph_001_adds(): pass\ndef test_ralph_0012(): assert 0\n")
    evidence = run(room, PYTEST, "RALPH-001")
    assert evidence.passed
    assert outcomes(evidence) == {"test_a.py::test_ralph_001_adds": "passed"}
    assert not run(room, PYTEST, "RALPH-002").passed
    assert "no test named for RALPH-002" in run(room, PYTEST, "RALPH-002").output


def test_a_script_that_ends_in_an_unknown_program_counts_by_its_exit_code(room: Room) -> None:
    write(room, "package.json", '{"scripts": {"test": "true"}}')
    write(room, "npm", '#!/bin/sh\necho "$@"\nexit ${CODE-0}\n')
    (room.root / "npm").chmod(0o755)
    assert run(room, "./npm test").passed
    assert run(room, "./npm test").tests is None
    assert run(room, "CODE=4 ./npm test").output.startswith("exited with 4\n")
    assert run(room, "./npm test", "RALPH-001").output == "test -- --grep RALPH-001\n"
