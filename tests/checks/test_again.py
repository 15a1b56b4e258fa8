"""Tests that failed are run again, alone where they can be named."""

import pytest

from checks.conftest import Place
from untilproven.checks.again import Again, again
from untilproven.checks.tests import TestsCheck

PYTEST = "pytest -q -p no:randomly"
FLAKY = """
import pathlib, pytest
def once():
    seen = pathlib.Path("seen")
    seen.touch()
    with seen.open("a") as file: file.write("x")
    return seen.stat().st_size
def test_flaky(): assert once() > 1
def test_red(): assert 0
def test_green(): pathlib.Path("green").open("a").write("x")
@pytest.mark.parametrize("v", ["a b", "-x", "c::d"])
def test_odd(v): assert once() > 9
"""


@pytest.mark.parametrize(
    ("line", "tests"),
    [
        (PYTEST, "test_a.py"),
        (f"{PYTEST} tests", "tests/test_a.py"),
        (f"{PYTEST} --tb short tests/test_a.py", "tests/test_a.py"),
        (f"cd sub && {PYTEST} .", "sub/test_a.py"),
    ],
)
def test_pytest_runs_only_those_that_are_named(place: Place, line: str, tests: str) -> None:
    place.user({tests: FLAKY})
    check = TestsCheck(line)
    room = place.room()
    names = [test.name for test in check.run(room, timeout=60).tests or () if test.outcome == "failed"]
    assert len(names) == 5
    green = room.run("wc -c < $(find . -name green)", timeout=20).output.strip()
    found = again(check, room, names, timeout=60)
    assert found.alone
    assert found.passed == {name for name in names if name.endswith("::test_flaky")}
    assert room.run("wc -c < $(find . -name green)", timeout=20).output.strip() == green == "1"


UNIT = """
import pathlib, unittest
class T(unittest.TestCase):
    def test_flaky(self):
        seen = pathlib.Path("seen")
        try:
            self.assertTrue(seen.exists())
        finally:
            seen.touch()
    def test_red(self): self.fail()
    def test_green(self): pathlib.Path("green").open("a").write("x")
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("line", "alone"),
    [("python3 -W ignore -m unittest -v", True), ("python3 -W ignore -m unittest discover -s tests", False)],
)
def test_unittest_by_dotted_names_where_they_can_be_found(place: Place, line: str, *, alone: bool) -> None:
    place.user({"tests/__init__.py": "", "tests/test_a.py": UNIT})
    room = place.room()
    check = TestsCheck(line)
    names = [test.name for test in check.run(room, timeout=60).tests or () if test.outcome == "failed"]
    found = again(check, room, names, timeout=60)
    assert found.alone is alone
    assert {name.rpartition(".")[2] for name in found.passed} == {"test_flaky"}
    assert room.run("cat green", timeout=20).output == ("x" if alone else "xx")


def test_a_name_that_is_no_node_id_means_the_whole_line(place: Place) -> None:
    """Below a configuration further up, pytest names tests from there, and the line looks from where it runs."""
    place.user({"pytest.ini": "[pytest]\n", "sub/test_a.py": FLAKY})
    room = place.room()
    check = TestsCheck(f"cd sub && {PYTEST}")
    names = [test.name for test in check.run(room, timeout=60).tests or () if test.outcome == "failed"]
    assert "sub/test_a.py::test_flaky" in names
    found = again(check, room, names, timeout=60)
    assert found == Again(frozenset({"sub/test_a.py::test_flaky"}), alone=False)


def test_a_name_that_was_cut_means_the_whole_line(place: Place) -> None:
    place.user({"test_a.py": FLAKY.replace("test_red", f"test_{'x' * 1500}")})
    room = place.room()
    check = TestsCheck(PYTEST)
    names = [test.name for test in check.run(room, timeout=60).tests or () if test.outcome == "failed"]
    found = again(check, room, names, timeout=60)
    assert found == Again(frozenset({"test_a.py::test_flaky"}), alone=False)


def test_one_that_is_gone_or_not_reported_has_not_passed(place: Place) -> None:
    place.user({"test_a.py": "def test_a(): pass\n"})
    found = again(TestsCheck(PYTEST), place.room(), ["test_a.py::test_gone", "test_a.py::test_a"], timeout=60)
    assert found.passed == {"test_a.py::test_a"}
    assert not again(TestsCheck("npm test"), place.room(), ["x"], timeout=60).passed
